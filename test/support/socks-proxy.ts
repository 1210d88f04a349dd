/** A SOCKS5 proxy (RFC 1928) that asks for no password; wherever one wants to go, it goes to a port of this machine. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface SocksProxy extends AsyncDisposable {
  readonly url: string;
  /** Open connections of clients. */
  readonly connections: number;
  /** Tunnels that were asked for. */
  readonly tunnels: number;
  /** `mute`: says that the tunnel is there, and takes what comes then in silence. */
  mode: 'forward' | 'mute';
}

const NO_PASSWORD = Buffer.from([5, 0]);
const ESTABLISHED = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);

export async function startSocksProxy(target: number): Promise<SocksProxy> {
  const sockets = new Set<Socket>();
  const proxy = {
    mode: 'forward' as SocksProxy['mode'],
    tunnels: 0,
    get connections() {
      return sockets.size;
    },
  };
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {}).on('close', () => sockets.delete(client));
    client.once('data', (greeting: Buffer) => {
      // Whoever says anything else, such as the first bytes of TLS, is at the wrong door.
      if (greeting[0] !== 5) return void client.destroy();
      client.write(NO_PASSWORD);
      client.once('data', () => {
        proxy.tunnels += 1;
        client.write(ESTABLISHED);
        if (proxy.mode === 'mute') return void client.resume();
        const upstream = connect(target, '127.0.0.1');
        upstream.on('error', () => client.destroy());
        client.on('close', () => upstream.destroy());
        client.pipe(upstream).pipe(client);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(proxy, {
    url: `socks5://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  });
}

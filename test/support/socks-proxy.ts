/** A SOCKS5 proxy (RFC 1928) that asks for no password; wherever one wants to go, it goes to a port of this machine. */
import { connect, createServer } from 'node:net';
import { listening } from './listening.ts';

export interface SocksProxy extends AsyncDisposable {
  readonly url: string;
  readonly connections: number;
  readonly tunnels: number;
  /** `mute`: says that the tunnel is there, and takes what comes then in silence. */
  mode: 'forward' | 'mute';
}

const NO_PASSWORD = Buffer.from([5, 0]);
const ESTABLISHED = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);

export async function startSocksProxy(target: number): Promise<SocksProxy> {
  const server = createServer();
  const { port, sockets, [Symbol.asyncDispose]: dispose } = await listening(server);
  const proxy: SocksProxy & { tunnels: number } = {
    url: `socks5://127.0.0.1:${port}`,
    mode: 'forward',
    tunnels: 0,
    get connections() {
      return sockets.size;
    },
    [Symbol.asyncDispose]: dispose,
  };
  server.on('connection', (client) => {
    client.on('error', () => {});
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
  return proxy;
}

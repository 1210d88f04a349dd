/** A TCP server in front of another, which can stop saying anything. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface SilentGate extends AsyncDisposable {
  readonly port: number;
  /** Connections are taken, and what comes on them too; nothing is answered, also on those that were open before. */
  silent: boolean;
}

/** In front of `target`, a port of this machine. A connection that met silence stays silent, as behind a firewall. */
export async function startSilentGate(target: number): Promise<SilentGate> {
  const clients = new Set<Socket>();
  const gate = { silent: false };
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    let muted = false;
    const passes = (): boolean => !(muted ||= gate.silent);
    clients.add(client);
    client.on('data', (bytes) => void (passes() && upstream.write(bytes)));
    upstream.on('data', (bytes) => void (passes() && client.write(bytes)));
    upstream.on('error', () => {}).on('close', () => void (passes() && client.destroy()));
    client
      .on('error', () => {})
      .on('close', () => {
        clients.delete(client);
        upstream.destroy();
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(gate, {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const client of clients) client.destroy();
      await closed;
    },
  });
}

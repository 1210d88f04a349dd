/** A server of a test, on a free port of this machine: its connections end with it. */
import type { AddressInfo, Server, Socket } from 'node:net';

export interface Listening extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
}

/** Also for servers of HTTP; one of TLS has a `secureConnection`. */
export async function listening(
  server: Server,
  connected: 'connection' | 'secureConnection' = 'connection',
  { port: wanted = 0, host = '127.0.0.1' } = {},
): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on(connected, (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(wanted, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    sockets,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

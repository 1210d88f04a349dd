import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers as a test says, on a free port or a socket file of this machine. */
export async function serve(answer: (...given: Parameters<RequestListener>) => unknown, path?: string) {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) =>
    path === undefined ? server.listen(0, '127.0.0.1', resolve) : server.listen(path, resolve),
  );
  const url =
    path === undefined ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : `unix:${path}`;
  function close(): Promise<void> {
    server.closeAllConnections();
    return new Promise((resolve) => void server.close(() => resolve()));
  }
  return { url, close, [Symbol.asyncDispose]: close };
}

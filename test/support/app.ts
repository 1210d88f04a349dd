/** An app beside the heart, over real sockets, that does what the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

export const WELL: Answer = (response) => void response.end('ok');
export const FAILS: Answer = (response) => void response.writeHead(503).end();
export const HANGS: Answer = () => {};

export interface TestApp extends AsyncDisposable {
  readonly port: number;
  /** `http://…/health` */
  readonly url: string;
  readonly asked: number;
  readonly open: number;
  answer: Answer;
  /** Nothing listens any more, until `rise`. */
  die(): Promise<void>;
  rise(): Promise<void>;
}

export async function startTestApp(first: Answer = WELL): Promise<TestApp> {
  const sockets = new Set<Socket>();
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    app.answer(response, request);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => void server.listen(port, '127.0.0.1', resolve));
  const die = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const app: TestApp = {
    port,
    url: `http://127.0.0.1:${port}/health`,
    get asked() {
      return asked;
    },
    get open() {
      return sockets.size;
    },
    answer: first,
    die,
    rise: () => listen(port),
    [Symbol.asyncDispose]: die,
  };
  return app;
}

/** An app beside the heart, over real sockets, that does what the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening } from './listening.ts';

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
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    app.answer(response, request);
  });
  let listener = await listening(server);
  const { port } = listener;
  const die = async (): Promise<void> => listener[Symbol.asyncDispose]();
  const app: TestApp = {
    port,
    url: `http://127.0.0.1:${port}/health`,
    get asked() {
      return asked;
    },
    get open() {
      return listener.sockets.size;
    },
    answer: first,
    die,
    async rise() {
      listener = await listening(server, 'connection', { port });
    },
    [Symbol.asyncDispose]: die,
  };
  return app;
}

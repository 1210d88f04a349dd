/**
 * A service that does what the emulator does not: its log may have bytes that are no UTF-8, which strings cannot hold,
 * and all that a log service does wrong.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { TailAnswer } from '../../src/logs/answer.ts';
import { listening, type Listening } from './listening.ts';
import { LogService, type LogServiceOptions } from './log-service.ts';

/** Stands in a line for the bytes FF FE, which occur nowhere in UTF-8. */
export const INVALID = '\uE000';

/** Twice: each byte is one error of its own. */
export const REPLACED = '\uFFFD\uFFFD';

export interface RawLogServer extends Listening {
  readonly log: LogService;
  polls(): number;
}

export async function startRawLogServer(options: LogServiceOptions = {}): Promise<RawLogServer> {
  const log = new LogService(options);
  let polls = 0;
  const server = await serveLog((tail) => {
    polls += 1;
    return log.answer(tail);
  });
  return { ...server, log, polls: () => polls };
}

/** @param answerTo Of the worker group, which has the id. What is an error, but none of size, is a connection that ends. */
export async function serveLog(answerTo: (tail: number, id: number) => TailAnswer): Promise<Listening> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('content-type', 'application/json');
    if (request.url !== '/get_workergroup_logs') {
      response.writeHead(404).end('{"error":"not_found","msg":"logs only"}');
      return;
    }
    const { tail, id } = (await json(request)) as { tail: number; id: number };
    const given = answerTo(tail, id);
    if (given.kind !== 'text') {
      if (given.kind === 'error' && given.tooLarge !== 'surely') request.socket.destroy();
      else response.writeHead(413).end('{"error_msg":"the answer is too large"}');
      return;
    }
    const text = Buffer.from(JSON.stringify({ logs: given.text })).toString('latin1');
    response.end(text.replaceAll(Buffer.from(INVALID).toString('latin1'), '\u00FF\u00FE'), 'latin1');
  }
  return listening(createServer((request, response) => void answer(request, response)));
}

/** Requests with the headers that a test wants, and no others; over TCP or a socket file. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

/** `url` as a listener has it: `http://host:port`, or `unix:/path`. */
export function ask(
  url: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Promise<RawAnswer> {
  const place = url.startsWith('unix:')
    ? { socketPath: url.slice('unix:'.length) }
    : { host: new URL(url).hostname, port: new URL(url).port };
  return new Promise((resolve, reject) => {
    const sent = request({ ...place, method, path, headers, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: text }));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

export interface RawConnection {
  readonly socket: Socket;
  readonly closed: Promise<void>;
}

/** Connections to a listener, with this much of a request on each. Resolves when all of them are open. */
export async function holdOpen(url: string, count: number, words = ''): Promise<RawConnection[]> {
  const { hostname, port } = new URL(url);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname);
      const closed = new Promise<void>((end) => socket.once('close', () => end()));
      await once(socket, 'connect');
      // Reset by the listener, which is what is asked for.
      socket.on('error', () => {});
      // What is not read keeps a socket from closing.
      socket.resume();
      if (words !== '') socket.write(words);
      return { socket, closed };
    }),
  );
}

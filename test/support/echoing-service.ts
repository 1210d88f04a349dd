/** A service that refuses everything, and tells the caller all that it was sent: headers, path and body. */
import { createServer } from 'node:http';
import { listening, type Listening } from './listening.ts';
import { WRITINGS } from './secret-writings.ts';

export interface EchoingService extends Listening {
  /** How many requests it has answered. */
  count(): number;
}

/** Few are 429: each of them slows its caller down. */
const STATUSES = [400, 401, 403, 404, 429, 500, 502, 200, 400, 401, 403, 404, 503, 500, 502, 200];

/** Each answer in another way: by status, by form, and by how what was sent is written. */
export async function startEchoingService(): Promise<EchoingService> {
  let count = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.once('end', () => {
      const write = WRITINGS[count % WRITINGS.length] ?? String;
      const status = STATUSES[Math.floor(count / 2) % STATUSES.length] ?? 500;
      const isJson = count % 3 !== 0;
      count += 1;
      const credentials = Object.values(request.headers)
        .flat()
        .map((value) => (value ?? '').replace(/^Bearer /, ''));
      const said = [...credentials, body].map((value) => write(value)).join(' ');
      const text = isJson
        ? JSON.stringify({
            success: false,
            error: `invalid ${said}`.slice(0, 300),
            msg: `no: ${said}`,
            detail: said,
          })
        : `<title>no</title> ${said}`;
      response.writeHead(status, { 'content-type': isJson ? 'application/json' : 'text/html' }).end(text);
    });
  });
  return { ...(await listening(server)), count: () => count };
}

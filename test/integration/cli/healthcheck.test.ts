/** A container's health check must say no where the daemon is there and not well, not only where it is gone. */
import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { serve } from '../../support/local-server.ts';
import { pilotlight } from '../../support/console.ts';

test.concurrent.each<[string, number, string, RequestListener]>([
  ['is live', 0, '', (_, response) => response.end('ok')],
  ['answers 503', 3, 'answered 503: stuck', (_, response) => response.writeHead(503).end('stuck')],
  ['takes the request and hangs', 3, 'does not answer', () => {}],
  ['hangs in the body', 3, 'does not answer', (_, response) => response.writeHead(503).write('s')],
])(
  'one that %s: exit code %i',
  async (_name, code, said, answer) => {
    const asked: string[] = [];
    await using server = await serve((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      answer(request, response);
    });
    const ran = await pilotlight(['healthcheck', '--url', server.url]);
    expect([ran.code, ran.stdout, asked]).toEqual([code, '', ['GET /livez']]);
    expect(ran.stderr).toContain(said);
  },
  20_000,
);

import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { serve } from '../../../support/local-server.ts';
import { pilotlight } from '../../../support/console.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** A daemon's admin routes that answer as a test says, at a port or a socket file, and what they were asked. */
async function adminOf(words: string, answer: RequestListener, path?: string) {
  const asked: { readonly call: string; readonly body: string }[] = [];
  await using server = await serve(async (request, response) => {
    asked.push({ call: `${request.method} ${request.url}`, body: await text(request) });
    answer(request, response);
  }, path);
  const address = server.url.replace('http://', '');
  const ran = await pilotlight(['admin', ...words.split(' ')], { env: { ADMIN_LISTEN: address } });
  return { ran, asked, address };
}

test.each([
  ['reload', 'POST /-/reload', ''],
  ['quit', 'POST /-/quit', ''],
  ['log-level debug', 'PUT /-/log-level', 'debug'],
  ['config', 'GET /-/config', ''],
])('admin %s asks %s', async (words, call, body) => {
  const { ran, asked } = await adminOf(words, (_, response) => response.end('done: ü\n\n'));
  expect(asked).toEqual([{ call, body }]);
  expect(ran).toEqual({ code: 0, stdout: 'done: ü\n', stderr: '' });
});

test('a socket file is asked as well as a port', async () => {
  using folder = temporaryFolder();
  const { ran, asked } = await adminOf(
    'reload',
    (_, response) => response.end('reloaded'),
    join(folder.path, 'admin.sock'),
  );
  expect([ran.stdout, asked.length]).toEqual(['reloaded\n', 1]);
});

test.each([299, 300, 409, 500])('an answer of status %i', async (status) => {
  const { ran } = await adminOf('reload', (_, response) => response.writeHead(status).end('said'));
  expect(ran).toEqual(
    status < 300 ? { code: 0, stdout: 'said\n', stderr: '' } : { code: 1, stdout: '', stderr: 'said\n' },
  );
});

test('one that breaks off, or is not there, is exit code 3 with its address', async () => {
  const { ran, address } = await adminOf('reload', (_, response) => {
    response.writeHead(200, { 'content-length': '99' }).write('half');
    setImmediate(() => response.destroy());
  });
  expect([ran.code, ran.stdout]).toEqual([3, '']);
  expect(ran.stderr).toMatch(new RegExp(`^http://${address}: [^\n]+\n$`));
  const away = await pilotlight(['admin', 'reload'], { env: { ADMIN_LISTEN: address } });
  expect(away).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('ECONNREFUSED') });
});

test('an address that cannot be one is said, and nothing is asked', async () => {
  const { code, stdout, stderr } = await pilotlight(['admin', 'quit'], { env: { ADMIN_LISTEN: 'nowhere' } });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^error: PILOTLIGHT_ADMIN_LISTEN: got nowhere; allowed: host:port, /);
});

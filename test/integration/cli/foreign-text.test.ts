/** What a service says may hold commands for a terminal, or be without end: neither gets there. */
import { afterAll, expect, test } from 'vitest';
import { legible } from '../../../src/cli/text.ts';
import { serve } from '../../support/local-server.ts';
import { pilotlight, type Around } from '../../support/console.ts';

const EVIL = '\u001B]0;pwned\u0007\u001B[2J\u009B31m\u202E';
const answers: Readonly<Record<string, unknown>> = {
  '/api/v0/deployments': {
    deployments: [
      { id: 1, name: `ok${EVIL}`, [`key${EVIL}`]: 1 },
      { id: 2, name: 'twice', tag: 'a\nsecond line' },
      { id: 3, name: 'twice', tag: 'b' },
    ],
  },
  '/api/v0/tfa/status/': { methods: [{ id: 1, method: 'sms', label: `phone${EVIL}` }] },
  '/api/v0/endptjobs/': {
    results: [{ id: 1, endpoint_name: 'a', api_key: 'sekret' }],
    result: { api_key: 'sekret', sub: [{ api_key: 'sekret' }] },
  },
};
const server = await serve((request, response) => {
  request.resume();
  const [path = ''] = (request.url ?? '').split('?');
  const said = path === '/api/v0/users/current/' ? 'A'.repeat(3_000_000) : `no${EVIL}\nsecond line`;
  const body = answers[path];
  response.writeHead(body === undefined ? 400 : 200);
  response.end(JSON.stringify(body ?? { success: false, error: 'bad_request', msg: said }));
});
afterAll(() => server.close());

const run = (words: readonly string[], around: Around = {}) =>
  pilotlight(words, { columns: 80, env: { API_KEY: 'key', BASE_URL: server.url }, ...around });

test.each(['endpoint-group list', 'endpoint-group list --json', 'call endpointGroups.list'])(
  '%s hides keys where the contract expects none',
  async (words) => {
    const { code, stdout } = await run(words.split(' '));
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('sekret')]);
  },
);

test.each([
  ['deployment list', 0],
  ['deployment list --json', 0],
  ['template search', 1],
])('%s shows it without', async (words, code) => {
  const ran = await run(words.split(' '));
  expect(ran.code).toBe(code);
  expect(ran.stdout + ran.stderr).toMatch(/ok|second line/);
  expect(legible(ran.stdout + ran.stderr)).toBe(ran.stdout + ran.stderr);
});

test.each([
  ['template search', 1, 'error: template'],
  ['deployment stop twice', 2, 'error: twice fits 2 of them'],
  ['logs 7', 1, 'error: '],
])('%s: its second line begins none of ours', async (words, code, first) => {
  const ran = await run(words.split(' '));
  expect(ran.code).toBe(code);
  expect(ran.stderr).toMatch(new RegExp(`^${first}`));
  expect(ran.stderr).toContain('second line');
  expect(ran.stderr).not.toMatch(/^second line/m);
});

test('a message without end is cut', async () => {
  const ran = await run(['user', 'current']);
  expect(ran.code).toBe(1);
  expect(ran.stderr.length).toBeLessThan(10_000);
});

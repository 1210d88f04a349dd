import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConnection, loadEndpointGroups, localUrl } from '../../../src/config/command-settings.ts';
import { prefixed } from '../../support/settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test.each([
  ['listen', undefined, 'http://127.0.0.1:9847'],
  ['listen', '0.0.0.0:80', 'http://127.0.0.1:80'],
  ['listen', '[::]:80', 'http://127.0.0.1:80'],
  ['listen', '[::1]:80', 'http://[::1]:80'],
  ['listen', '10.0.0.1:80', 'http://10.0.0.1:80'],
  ['adminListen', 'unix:/run/a.sock', 'unix:/run/a.sock'],
  ['adminListen', 'localhost:81', 'http://localhost:81'],
] as const)('a daemon whose %s is %s is at %s', (option, value, address) => {
  const variable = option === 'listen' ? 'PILOTLIGHT_LISTEN' : 'PILOTLIGHT_ADMIN_LISTEN';
  expect(localUrl(option, value === undefined ? {} : { [variable]: value })).toEqual({ url: address });
});

test('the address of a daemon may be in a file', () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'listen');
  writeFileSync(file, '127.0.0.1:82\n');
  expect(localUrl('listen', { PILOTLIGHT_LISTEN_FILE: file })).toEqual({ url: 'http://127.0.0.1:82' });
  expect(localUrl('listen', { PILOTLIGHT_LISTEN: 'nonsense' })).toEqual({
    problem: expect.stringContaining('PILOTLIGHT_LISTEN: got nonsense; allowed: host:port'),
  });
});

test('commands read the environment file too', () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'environment');
  writeFileSync(
    file,
    'PILOTLIGHT_API_KEY=k\nPILOTLIGHT_BASE_URL=https://a\nPILOTLIGHT_LISTEN=0.0.0.0:81\nPILOTLIGHT_ENDPOINT_GROUPS=[{}]\n',
  );
  const env = { PILOTLIGHT_ENV_FILE: file };
  const connection = { apiKey: 'k', baseUrl: 'https://a' };
  expect(loadConnection(env)).toMatchObject({ connection, hasKey: true, problems: [] });
  expect(loadEndpointGroups(env).groups).toEqual([{}]);
  expect(localUrl('listen', env)).toEqual({ url: 'http://127.0.0.1:81' });
  const nowhere = { PILOTLIGHT_ENV_FILE: '/nowhere' };
  expect(localUrl('listen', nowhere)).toEqual({ url: 'http://127.0.0.1:9847' });
});

test('a stored key goes to its own address alone', () => {
  const login = { apiKey: 'stored', baseUrl: 'https://a' };
  const load = (env: Record<string, string>) => loadConnection(prefixed(env), { login });
  expect(load({ BASE_URL: 'https://a' }).connection).toEqual(login);
  expect(load({ API_KEY: 'own', BASE_URL: 'https://b' }).problems).toEqual([]);
  const [other] = load({ SERVERLESS_URL: 'https://b' }).problems;
  expect(other).toMatchObject({ variable: 'PILOTLIGHT_SERVERLESS_URL', allowed: 'https://a' });
  expect(other?.message).toContain('goes to no other address');
});

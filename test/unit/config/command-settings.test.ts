import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  loadConnection,
  loadEndpointGroups,
  localToken,
  localUrl,
} from '../../../src/config/command-settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test.each([
  [undefined, 'http://127.0.0.1:9847'],
  ['0.0.0.0:80', 'http://127.0.0.1:80'],
  ['[::]:80', 'http://127.0.0.1:80'],
  ['[::1]:80', 'http://[::1]:80'],
  ['10.0.0.1:80', 'http://10.0.0.1:80'],
])('a daemon that listens on %s is at %s', (listen, address) => {
  const environment = listen === undefined ? {} : { PILOTLIGHT_LISTEN: listen };
  expect(localUrl('listen', environment)).toEqual({ url: address });
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

test('admin routes have an address of their own', () => {
  expect(localUrl('adminListen', { PILOTLIGHT_ADMIN_LISTEN: 'unix:/run/a.sock' })).toEqual({
    url: 'unix:/run/a.sock',
  });
  expect(localUrl('adminListen', { PILOTLIGHT_ADMIN_LISTEN: 'localhost:81' })).toEqual({
    url: 'http://localhost:81',
  });
  expect(localUrl('adminListen', { PILOTLIGHT_ADMIN_LISTEN: 'nonsense' })).toEqual({
    problem: expect.stringMatching(/^PILOTLIGHT_ADMIN_LISTEN: got nonsense; allowed: host:port, /),
  });
});

test('the token of a daemon is that of the environment', () => {
  expect(localToken({ PILOTLIGHT_METRICS_TOKEN: 't' })).toBe('t');
  expect(localToken({})).toBeUndefined();
});

test('commands read the environment file too', () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'environment');
  writeFileSync(
    file,
    'PILOTLIGHT_API_KEY=k\nPILOTLIGHT_BASE_URL=https://a\nPILOTLIGHT_LISTEN=0.0.0.0:81\nPILOTLIGHT_ENDPOINT_GROUPS=[{}]\n',
  );
  const env = { PILOTLIGHT_ENV_FILE: file };
  expect(loadConnection(env).connection).toMatchObject({ apiKey: 'k', baseUrl: 'https://a' });
  expect(loadEndpointGroups(env).groups).toEqual([{}]);
  expect(localUrl('listen', env)).toEqual({ url: 'http://127.0.0.1:81' });
  const nowhere = { PILOTLIGHT_ENV_FILE: '/nowhere' };
  expect(localUrl('listen', nowhere)).toEqual({ url: 'http://127.0.0.1:9847' });
});

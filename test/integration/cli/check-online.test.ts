/** `check --online` asks the service about the configuration, and changes nothing. */
import { expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { pilotlight } from '../../support/console.ts';

const CHECK = ['check', '--online'];

function environmentOf({ url, apiKey }: Emulator, more: Readonly<Record<string, string>> = {}) {
  return { BASE_URL: url, API_KEY: apiKey, STATE_DIR: '/tmp', ...more };
}

test('all that is configured is looked for, with reads alone', async () => {
  await using emulator = await startEmulator({ dialect: 'public' });
  const env = environmentOf(emulator, {
    DEPLOYMENTS: '42,name:square/blue',
    WORKER_GROUPS: 'all',
    ENDPOINTS: 'chat',
    MACHINES: '11',
  });
  const { code, stdout, stderr } = await pilotlight(CHECK, { env });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.replace(/clock: [01] s (?:ahead of|behind)/, 'clock: 0 s ahead of').split('\n')).toEqual([
    'configuration valid, 0 warnings',
    `fine: key: accepted by ${emulator.url}`,
    'fine: clock: 0 s ahead of the service',
    'fine: PILOTLIGHT_WORKER_GROUPS: the key may read it',
    'fine: PILOTLIGHT_ENDPOINTS: the key may read it',
    'fine: PILOTLIGHT_MACHINES: the key may read it',
    'fine: PILOTLIGHT_INSTANCES_SCHEDULE: the key may read it',
    'fine: PILOTLIGHT_ACCOUNT_SCHEDULE: the key may read it',
    'fine: deployments: the key may list them',
    'fine: deployment 42: id 42',
    'fine: deployment name:square/blue: id 43',
    'fine: endpoint chat: id 31',
    '',
  ]);
  expect(emulator.journal.entries().map(({ method }) => method)).not.toContain('PUT');
  expect(emulator.deployments.list().map(({ beats }) => beats)).toEqual([0, 0]);
});

test('what is missing or forbidden is broken, and the exit code says which', async () => {
  await using emulator = await startEmulator({ dialect: 'public' });
  const env = environmentOf(emulator, {
    DEPLOYMENTS: 'name:circle,7,42',
    ENDPOINTS: 'all,chat,nosuch,77',
    ENDPOINT_LOGS: 'nosuch',
    WORKER_GROUPS: '7,99,endpoint:nosuch',
  });
  const missing = await pilotlight(CHECK, { env });
  expect(missing.code).toBe(1);
  expect(missing.stdout.split('\n').filter((line) => / (?:deployment|endpoint|group) /.test(line))).toEqual([
    'broken: deployment name:circle: not found',
    'broken: deployment 7: not found',
    'fine: deployment 42: id 42',
    'fine: endpoint chat: id 31',
    'broken: endpoint nosuch: not found',
    'broken: endpoint 77: not found',
    'fine: worker group 7: id 7',
    'broken: worker group 99: not found',
    'broken: worker group endpoint:nosuch: not found',
  ]);

  const refused = await pilotlight(CHECK, { env: { ...env, API_KEY: 'no-such-key' } });
  expect(refused).toMatchObject({ code: 4, stdout: expect.stringContaining('broken: key: ') });
  const unreachable = await pilotlight(CHECK, { env: { ...env, BASE_URL: 'http://127.0.0.1:1' } });
  expect(unreachable).toMatchObject({ code: 3, stdout: expect.stringContaining('broken: service: ') });
  expect(unreachable.stdout).not.toContain(': key: ');
  const invalid = await pilotlight(CHECK, { env: { ...env, DEPLOYMENTS: 'x', LISTEN: 'y' } });
  expect(invalid).toMatchObject({ code: 2, stderr: expect.stringContaining('The service was not asked') });
  const interrupted = await pilotlight(CHECK, { env, signal: AbortSignal.abort() });
  expect(interrupted).toMatchObject({ code: 130, stderr: '' });
  const files = await pilotlight([...CHECK, 'groups.json'], { env });
  expect(files).toMatchObject({ code: 2, stderr: expect.stringContaining('not about files') });
});

test('a service without a list of deployments leaves open whether there is one; JSON has it all', async () => {
  await using emulator = await startEmulator();
  const env = environmentOf(emulator, { DEPLOYMENTS: '42' });
  const { code, stdout } = await pilotlight([...CHECK, '--json'], { env });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    problems: [],
    findings: expect.arrayContaining([
      { verdict: 'fine', about: 'key', says: expect.any(String) },
      { verdict: 'unknown', about: 'deployments', says: expect.stringContaining('404') },
    ]),
  });
});

test('a clock that is far off is broken', async () => {
  await using emulator = await startEmulator({ clock: { offsetMs: 120_000 } });
  const { code, stdout } = await pilotlight(CHECK, { env: environmentOf(emulator, { DEPLOYMENTS: '42' }) });
  expect([code, stdout]).toEqual([1, expect.stringMatching(/broken: clock: 1[12]\d s behind the service/)]);
});

/** `pilotlight doctor` as a user runs it, and what a daemon learns by itself. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { pilotlight } from '../../support/console.ts';
import { startTestDaemon, until, type TestDaemon } from '../../support/daemon.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The fewest questions: the key, and logs. */
const FEW = { STATE_DIR: '/tmp', INSTANCES_SCHEDULE: 'off', ACCOUNT_SCHEDULE: 'off' };
const NOWHERE = ['--url', 'http://127.0.0.1:1'];

function environmentOf({ url, apiKey }: Emulator, more: Readonly<Record<string, string>> = {}) {
  return { BASE_URL: url, API_KEY: apiKey, ...FEW, ...more };
}

function doctor(env: Readonly<Record<string, string>>, ...words: readonly string[]) {
  return pilotlight(['doctor', ...(words.includes('--url') ? words : [...NOWHERE, ...words])], { env });
}

describe.concurrent('doctor', () => {
  test('ends with the exit codes of the command line', async () => {
    await using emulator = await startEmulator({ dialect: 'public', traits: { tfa_key: 'refused' } });
    const env = environmentOf(emulator);
    const refused = await doctor(env);
    expect(refused.code).toBe(4);
    expect(refused.stdout).toContain(
      'broken: tfa_key: This key was made outside a 2FA session: reads are refused. Create a key while logged in with 2FA.\n',
    );
    expect((await doctor({ ...env, API_KEY: 'no-such-key' })).code).toBe(4);
    expect((await doctor({ ...env, BASE_URL: 'http://127.0.0.1:1' })).code).toBe(3);
    const invalid = await doctor({ ...env, DEPLOYMENTS: 'x' });
    expect(invalid).toMatchObject({ code: 2, stderr: expect.stringContaining('was not asked') });
    expect((await doctor({ BASE_URL: emulator.url })).code).toBe(2);
  });

  test('works with a key that login has stored', async () => {
    await using emulator = await startEmulator({ dialect: 'public' });
    using folder = temporaryFolder();
    const around = { env: FEW, configFolder: folder.path, stdin: emulator.apiKey };
    expect((await pilotlight(['login', '--base-url', emulator.url], around)).code).toBe(0);
    const { code, stdout } = await pilotlight(['doctor', ...NOWHERE], around);
    expect(code).toBe(0);
    expect(stdout).toContain('works, but differs: tail_unit: tail counts bytes; the follower adapts.\n');
    expect(stdout).toContain('could not ask: put_endpoint: ');
  });

  test('asks nothing if the report could not be written', async () => {
    await using emulator = await startEmulator({ dialect: 'public' });
    using folder = temporaryFolder();
    const ran = await doctor(environmentOf(emulator), '--report', join(folder.path, 'none', 'report.json'));
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('--report ') });
    expect(emulator.journal.entries()).toEqual([]);
  });

  test('writes a report without a key, name, id, address or line of a log', async () => {
    const [key, name, tag] = ['SECRET-key-1', 'SECRET-name', 'SECRET-tag'];
    const [user, deployment, group, endpoint] = [615_243, 918_273, 817_263, 716_253];
    const lines = Array.from({ length: 90 }, (_, index) => `SECRET-line ${index}`);
    await using emulator = await startEmulator({
      dialect: 'public',
      seed: {
        users: [{ id: user, username: 'SECRET-user', api_keys: [{ name: 'SECRET-key-name', key }] }],
        deployments: [{ id: deployment, name, tag }],
        endpoint_groups: [{ id: endpoint, endpoint_name: 'SECRET-endpoint' }],
        workergroups: [{ id: group, endpoint_id: endpoint, lines_per_second: 0, replay: { lines } }],
      },
    });
    await emulator.faults.add({ kind: 'status', status: 500, operation: 'tfa.status' });
    using folder = temporaryFolder();
    const report = join(folder.path, 'report.json');
    const env = environmentOf(emulator, {
      ACCOUNT_SCHEDULE: '* * * * *',
      DEPLOYMENTS: `name:${name}/${tag},${deployment}`,
      WORKER_GROUPS: String(group),
      ENDPOINTS: 'SECRET-endpoint',
    });
    const ran = await doctor(env, '--report', report, '--deployment', String(deployment));
    expect(ran.stdout).toContain('SECRET');
    const text = readFileSync(report, 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      traits: expect.arrayContaining([]),
      exchanges: expect.any(Array),
    });
    expect(text).toContain('"deployments.heartbeat"');
    const { hostname, port } = new URL(emulator.url);
    for (const secret of ['SECRET', hostname, port, user, deployment, group, endpoint])
      expect(text).not.toContain(String(secret));
  });
});

describe.concurrent('a daemon', () => {
  const TRAITS = { log_file_bytes: 4_096, instances_v0: '410' } as const;

  function traitsOf({ daemon }: TestDaemon): Readonly<Record<string, string>> {
    return Object.fromEntries(daemon.status().service.traits.map(({ trait, value }) => [trait, value]));
  }

  test('learns from answers that come anyway, shows it, keeps it over a restart, and tells it to doctor', async () => {
    await using emulator = await startEmulator({
      dialect: 'public',
      traits: TRAITS,
      seed: {
        deployments: [{ id: 42, ttl: 300 }],
        workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 20, history_seconds: 60 }],
      },
    });
    using folder = temporaryFolder();
    const env = environmentOf(emulator, { STATE_DIR: folder.path, DEPLOYMENTS: '42', WORKER_GROUPS: 'all' });
    const known = {
      rate_limit: 'unseen',
      deployments_list: 'answers',
      tail_unit: 'bytes',
      log_shape: 'levels',
      log_file_bytes: 'begins_anew',
      tfa_key: 'taken',
    };
    {
      await using daemon = await startTestDaemon(env);
      await until(() => Object.keys(traitsOf(daemon)).length >= Object.keys(known).length);
      expect(traitsOf(daemon)).toEqual(known);
      expect(await daemon.metrics()).toContain(
        'pilotlight_service_trait{trait="tail_unit",value="bytes"} 1\n',
      );
      const { code, stdout, stderr } = await doctor(env, '--url', daemon.url);
      expect(code).toBe(0);
      expect(stderr).toContain('A daemon of this service runs here');
      expect(stdout).toContain('works, but differs: log_file_bytes: ');
      expect(stdout).toContain('works, but differs: tail_unit: ');
    }
    await emulator.faults.add({ kind: 'refused' });
    await using daemon = await startTestDaemon(env);
    await until(() => Object.keys(traitsOf(daemon)).length > 0);
    expect(traitsOf(daemon)).toEqual(known);
  });

  test.each(['as_unknown', 'own_words'] as const)('learns from an expired deployment: %s', async (trait) => {
    await using emulator = await startEmulator({
      dialect: 'public',
      traits: { expired_deployment: trait },
      seed: { deployments: [{ id: 42, ttl: 600 }] },
    });
    // The daemon files what it learned under the address. An earlier test may have had this port.
    using folder = temporaryFolder();
    const env = environmentOf(emulator, { STATE_DIR: folder.path, DEPLOYMENTS: '42@5s' });
    await using daemon = await startTestDaemon(env);
    await until(() => (daemon.daemon.status().deployments[0]?.last_success_at ?? null) !== null);
    expect(traitsOf(daemon)).not.toHaveProperty('expired_deployment');
    const away = await emulator.faults.add({ kind: 'refused' });
    await until(() => (daemon.daemon.status().deployments[0]?.lapses ?? 0) > 0);
    await emulator.clock.advance(700_000);
    await away.clear();
    await until(() => 'expired_deployment' in traitsOf(daemon));
    expect(traitsOf(daemon)).toMatchObject({ expired_deployment: trait });
  });
});

import { describe, expect, test } from 'vitest';
import { createApiKey } from '../../../../src/client/api-key.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import type { Settings } from '../../../../src/config/options.ts';
import {
  Reloading,
  type CurrentSettings,
  type ReloadingOptions,
} from '../../../../src/daemon/services/reloading.ts';
import { collectedLog } from '../../../support/collected-log.ts';

const MINIMAL = {
  PILOTLIGHT_API_KEY: 'first-key',
  PILOTLIGHT_BASE_URL: 'https://service.example',
  PILOTLIGHT_WORKER_GROUPS: '7',
};

function load(env: Readonly<Record<string, string>>) {
  return loadConfig({ ...MINIMAL, ...env }, () => '');
}

function reloading(changed: Readonly<Record<string, string>>, options: Partial<ReloadingOptions> = {}) {
  const first = load({});
  if (!first.settings) throw new Error('the first configuration is invalid');
  const current: CurrentSettings = { settings: first.settings, problems: [] };
  const apiKey = createApiKey(first.settings.apiKey, undefined);
  const applied: Settings[] = [];
  const told: [successful: boolean, atSeconds: number][] = [];
  const { logger, lines } = collectedLog();
  const files: unknown[] = [];
  let refused = 0;
  const subject = new Reloading({
    loadConfig: () => load(changed),
    current,
    apiKey,
    work: { apply: async (settings) => void applied.push(settings) },
    heartbeats: {
      reload: async () => ({ ok: true, problems: [] }),
      refuseReload: () => void (refused += 1),
    },
    onFiles: (of) => files.push(of),
    lifecycle: { isEnding: false },
    metrics: { reloaded: (...result) => void told.push(result) },
    logger,
    ...options,
  });
  const before = first.settings;
  const outcomes = () => told.map(([successful]) => successful);
  return {
    subject,
    before,
    current,
    apiKey,
    applied,
    told,
    outcomes,
    lines,
    files,
    logger,
    refused: () => refused,
  };
}

test('takes what changed, leaves what only a restart changes, and says so', async () => {
  const { subject, before, current, apiKey, applied, told, lines, files } = reloading({
    PILOTLIGHT_API_KEY: 'second-key',
    PILOTLIGHT_LISTEN: '127.0.0.1:1234',
    PILOTLIGHT_WORKER_GROUPS: '8',
  });
  const from = Date.now() / 1000;
  const problems = ['PILOTLIGHT_LISTEN changed; only a restart applies it'];
  expect(await subject.reload()).toEqual({ ok: true, problems });
  expect(current.settings).toMatchObject({ apiKey: 'second-key', listen: before.listen });
  expect(current.settings.workerGroups).not.toEqual(before.workerGroups);
  expect(applied).toEqual([current.settings]);
  expect(apiKey.current()).toBe('second-key');
  expect(told).toEqual([[true, expect.any(Number)]]);
  expect(told[0]?.[1]).toBeGreaterThanOrEqual(from);
  expect(told[0]?.[1]).toBeLessThanOrEqual(Date.now() / 1000);
  expect(lines).toMatchObject([{ msg: 'configuration reloaded', needRestart: ['PILOTLIGHT_LISTEN'] }]);
  expect(files).toEqual([new Map()]);
});

test('of an invalid configuration changes nothing, and is said', async () => {
  const bad = reloading({ PILOTLIGHT_LOG_LEVEL: 'loud', PILOTLIGHT_WORKER_GROUPS: '8' });
  expect(await bad.subject.reload()).toMatchObject({
    ok: false,
    problems: [expect.stringContaining('loud')],
  });
  expect([bad.applied, bad.current.settings, bad.refused(), bad.files]).toEqual([[], bad.before, 1, []]);
  expect(bad.lines).toMatchObject([
    { level: 50, msg: 'reload refused: the configuration is invalid; the old one stays in force' },
  ]);
});

test.each([
  [{ ok: false, problems: ['no'] }, 'reload refused by the heart; the old configuration stays in force'],
  [{ ok: false, isUnanswered: true, problems: ['?'] }, 'reload not answered by the heart'],
])('says of the heart’s answer %j what it means', async (answer, msg) => {
  const { subject, lines, told, applied, before, current } = reloading(
    { PILOTLIGHT_WORKER_GROUPS: '8' },
    { heartbeats: { reload: async () => answer, refuseReload() {} } },
  );
  expect(await subject.reload()).toEqual(answer);
  expect(current.settings).toBe(before);
  expect(lines).toMatchObject([{ level: 50, msg, problems: answer.problems }]);
  expect([told, applied]).toMatchObject([[[false, expect.any(Number)]], []]);
});

test('is refused while the daemon ends', async () => {
  const { subject, applied, told } = reloading(
    { PILOTLIGHT_API_KEY: 'second-key' },
    { lifecycle: { isEnding: true } },
  );
  expect(await subject.reload()).toEqual({
    ok: false,
    problems: ['the daemon is stopping; the next start reads everything again'],
  });
  await subject.refreshSecrets();
  expect([applied, told]).toEqual([[], []]);
});

test('what was wrong before keeps nothing else from being loaded, on whatever line it stands now', async () => {
  const { subject, current, applied } = reloading({
    PILOTLIGHT_ENDPOINT_GROUPS: 'nonsense',
    PILOTLIGHT_WORKER_GROUPS: '8',
  });
  const wrong = load({ PILOTLIGHT_ENDPOINT_GROUPS: 'nonsense' }).problems;
  current.problems = wrong.map((problem) => ({ ...problem, place: 'line 3 of a file' }));
  expect(await subject.reload()).toEqual({ ok: true, problems: [] });
  expect(applied).toHaveLength(1);
  expect(current.problems).toEqual(wrong);
});

test('a name that nothing reads is told each time, and refuses nothing', async () => {
  const { subject, current, applied, lines, outcomes } = reloading({
    PILOTLIGHT_WORKER_GROUPS: '8',
    PILOTLIGHT_LOG_LEVLE: 'debug',
  });
  for (const _ of ['first', 'again'])
    expect(await subject.reload()).toEqual({
      ok: true,
      problems: [
        expect.stringMatching(/^warning: PILOTLIGHT_LOG_LEVLE: .*did you mean PILOTLIGHT_LOG_LEVEL\?$/),
      ],
    });
  expect(applied).toHaveLength(2);
  expect(current.problems).toMatchObject([{ variable: 'PILOTLIGHT_LOG_LEVLE' }]);
  expect(outcomes()).toEqual([true, true]);
  expect(lines.filter(({ level }) => level === 40)).toMatchObject([
    { variable: 'PILOTLIGHT_LOG_LEVLE', msg: 'configuration problem' },
    { variable: 'PILOTLIGHT_LOG_LEVLE' },
  ]);
});

test('a level that was set at run time stays, unless it is the setting that changed', async () => {
  const same = reloading({ PILOTLIGHT_WORKER_GROUPS: '8' });
  same.logger.level = 'trace';
  await same.subject.reload();
  expect(same.logger.level).toBe('trace');
  const other = reloading({ PILOTLIGHT_LOG_LEVEL: 'error' });
  other.logger.level = 'trace';
  await other.subject.reload();
  expect(other.logger.level).toBe('error');
});

test('one follows another, also one that failed, and forty that wait are one', async () => {
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const { subject } = reloading(
    { PILOTLIGHT_WORKER_GROUPS: '8' },
    {
      heartbeats: {
        refuseReload() {},
        reload: async () => {
          order.push('begins');
          await promise;
          order.push('ends');
          if (order.length === 2) throw new Error('a bug');
          return { ok: true, problems: [] };
        },
      },
    },
  );
  const first = subject.reload();
  await expect.poll(() => order).toEqual(['begins']);
  const others = Array.from({ length: 40 }, () => subject.reload());
  resolve();
  await expect(first).rejects.toThrow('a bug');
  expect(await Promise.all(others)).toMatchObject(others.map(() => ({ ok: true })));
  expect(order).toEqual(['begins', 'ends', 'begins', 'ends']);
});

describe('secrets that are read again', () => {
  test('are taken, and nothing else is', async () => {
    const { subject, current, before, apiKey, applied, lines, told } = reloading({
      PILOTLIGHT_API_KEY: 'second-key',
      PILOTLIGHT_WORKER_GROUPS: '8',
    });
    await subject.refreshSecrets();
    expect(current.settings).toEqual({ ...before, apiKey: 'second-key' });
    expect(applied).toEqual([current.settings]);
    expect(apiKey.current()).toBe('second-key');
    expect(lines).toMatchObject([{ level: 30, msg: 'secret read again', variables: ['PILOTLIGHT_API_KEY'] }]);
    expect(told).toEqual([]);
  });

  test('and are the same, or missing for a moment, change nothing', async () => {
    const same = reloading({ PILOTLIGHT_WORKER_GROUPS: '8' });
    await same.subject.refreshSecrets();
    const missing = reloading({ PILOTLIGHT_API_KEY: '' });
    await missing.subject.refreshSecrets();
    expect([same.applied, same.lines, missing.applied, missing.apiKey.current()]).toEqual([
      [],
      [],
      [],
      'first-key',
    ]);
  });

  test('and that only a restart can change, stay', async () => {
    const { subject, applied } = reloading({ PILOTLIGHT_REDIS_URL: 'redis://user:other@127.0.0.1:9' });
    await subject.refreshSecrets();
    expect(applied).toEqual([]);
  });
});

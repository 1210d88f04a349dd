import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createApiKey } from '../../../../src/client/api-key.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import type { Settings } from '../../../../src/config/options/options.ts';
import { adminRoutes } from '../../../../src/daemon/http/admin.ts';
import { Reloading, type InForce, type ReloadingOptions } from '../../../../src/daemon/services/reloading.ts';

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
  const inForce: InForce = { settings: first.settings, problems: [] };
  const apiKey = createApiKey(first.settings.apiKey, undefined);
  const applied: Settings[] = [];
  const told: [successful: boolean, atSeconds: number][] = [];
  const logger = pino({ level: 'silent' });
  let refused = 0;
  const subject = new Reloading({
    loadConfig: () => load(changed),
    inForce,
    apiKey,
    work: { apply: async (settings) => void applied.push(settings) },
    heartbeats: {
      reload: async () => ({ ok: true, problems: [] }),
      refuseReload: () => void (refused += 1),
    },
    onFiles: () => {},
    lifecycle: { isEnding: false },
    metrics: { reloaded: (...result) => void told.push(result) },
    logger,
    ...options,
  });
  const outcomes = () => told.map(([successful]) => successful);
  return { subject, before: first.settings, inForce, apiKey, applied, outcomes, refused: () => refused };
}

test('takes what changed', async () => {
  const { subject, inForce, apiKey, applied, outcomes } = reloading({
    PILOTLIGHT_API_KEY: 'second-key',
    PILOTLIGHT_WORKER_GROUPS: '8',
  });
  expect(await subject.reload()).toEqual({ ok: true, problems: [] });
  expect(inForce.settings).toMatchObject({ apiKey: 'second-key' });
  expect(applied).toEqual([inForce.settings]);
  expect(apiKey.current()).toBe('second-key');
  expect(outcomes()).toEqual([true]);
});

test('leaves what only a restart changes, and names it', async () => {
  const { subject, before, inForce, applied } = reloading({
    PILOTLIGHT_LISTEN: '127.0.0.1:1234',
    PILOTLIGHT_WORKER_GROUPS: '8',
  });
  expect(await subject.reload()).toEqual({
    ok: true,
    problems: ['PILOTLIGHT_LISTEN changed; only a restart applies it'],
  });
  expect(inForce.settings.listen).toEqual(before.listen);
  expect(inForce.settings.workerGroups).not.toEqual(before.workerGroups);
  expect(applied).toEqual([inForce.settings]);
});

test('that the heart does not answer in time is not said to be refused', async () => {
  const heartbeats = {
    reload: async () => ({ ok: false, isUnanswered: true, problems: ['it may take it yet'] }),
    refuseReload() {},
  };
  const { subject, inForce, applied, outcomes } = reloading(
    { PILOTLIGHT_WORKER_GROUPS: '8' },
    { heartbeats },
  );
  const routes = adminRoutes({
    reloading: subject,
    heart: { send() {} },
    logger: pino({ level: 'silent' }),
    inForce,
  });
  expect(
    await routes['POST /-/reload']?.({ headers: {}, query: new URLSearchParams(), body: '' }),
  ).toMatchObject({ status: 504, body: '{"reloaded":false,"problems":["it may take it yet"]}\n' });
  expect([applied, outcomes()]).toEqual([[], [false]]);
});

test('that fails while it is applied puts all of it back', async () => {
  const applied: Settings[] = [];
  const { subject, before, inForce, apiKey, outcomes } = reloading(
    { PILOTLIGHT_API_KEY: 'second-key', PILOTLIGHT_WORKER_GROUPS: '8' },
    {
      work: {
        apply: async (settings) => {
          applied.push(settings);
          if (applied.length === 1) throw new Error('no room');
        },
      },
    },
  );
  expect(await subject.reload()).toEqual({ ok: false, problems: ['no room'] });
  expect(applied.map(({ apiKey: key }) => key)).toEqual(['second-key', 'first-key']);
  expect(inForce.settings).toBe(before);
  expect(apiKey.current()).toBe('first-key');
  expect(outcomes()).toEqual([false]);
});

test('that is refused, by either part, changes nothing', async () => {
  const bad = reloading({ PILOTLIGHT_LOG_LEVEL: 'loud', PILOTLIGHT_WORKER_GROUPS: '8' });
  expect(await bad.subject.reload()).toMatchObject({
    ok: false,
    problems: [expect.stringContaining('loud')],
  });
  expect([bad.applied, bad.inForce.settings, bad.refused()]).toEqual([[], bad.before, 1]);

  const byHeart = reloading(
    { PILOTLIGHT_WORKER_GROUPS: '8' },
    { heartbeats: { reload: async () => ({ ok: false, problems: ['no'] }), refuseReload: () => {} } },
  );
  expect(await byHeart.subject.reload()).toEqual({ ok: false, problems: ['no'] });
  expect([byHeart.applied, byHeart.inForce.settings]).toEqual([[], byHeart.before]);
});

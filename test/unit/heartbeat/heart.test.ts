/** The heart between its parts: virtual timers, real sockets. Time stands still while a request is under way. */
import { createServer } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createApiKey } from '../../../src/client/api-key.ts';
import { deploymentList } from '../../../src/config/value-types.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { Heart, type AppChoice, type AppNews } from '../../../src/heartbeat/heart.ts';
import { listening } from '../../support/listening.ts';
import { FAILS, startTestApp, type TestApp } from '../../support/app.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  // No pause is shortened by chance.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface SceneOptions {
  readonly url: string;
  readonly wanted: string;
  readonly apiKey?: string;
  readonly keyFile?: string;
  readonly app?: AppChoice;
  readonly attemptsAtOnce?: number;
}

class Scene implements AsyncDisposable {
  readonly heart: Heart;
  readonly news: AppNews[] = [];
  /** Operation and code of each request that has ended. */
  readonly ended: string[] = [];
  /** States that were told, and ids that were replaced. */
  readonly told: unknown[] = [];
  sent = 0;
  readonly wanted;
  readonly settings = { deploymentTtl: undefined, heartbeatInterval: 'auto' } as const;

  constructor({ url, wanted, apiKey = 'key', keyFile, app, attemptsAtOnce }: SceneOptions) {
    this.wanted = deploymentList.parse(wanted).value ?? [];
    this.heart = new Heart({
      baseUrl: url,
      apiKey: createApiKey(apiKey, keyFile),
      deployments: this.wanted,
      settings: this.settings,
      app,
      ...(attemptsAtOnce !== undefined && { attemptsAtOnce }),
      listener: {
        notice: (_, notice) => {
          if (notice.type === 'sent') this.sent += 1;
          if (notice.type === 'state') this.told.push(notice.to);
        },
        exchange: ({ operation, code }) => void this.ended.push(`${operation} ${code}`),
        removed: (id) => void this.told.push({ removed: id }),
        replaced: (id, by, name) => void this.told.push({ id, by, name }),
        discovery() {},
        keyUnreadable() {},
        app: (news) => void this.news.push(news),
      },
    });
  }

  /** Resolves when so many requests have ended so, however long that takes: no timer fires meanwhile. */
  async has(count: number, ended: string): Promise<void> {
    await expect
      .poll(() => this.ended.filter((one) => one === ended).length, { interval: 2, timeout: 10_000 })
      .toBe(count);
  }

  async [Symbol.asyncDispose]() {
    vi.useRealTimers();
    await this.heart.stop();
  }
}

const LISTED = 'deployments.list 200';
const soon = <T>(what: () => T) => expect.poll(what, { interval: 2 });

describe('deployments by name are looked up anew', () => {
  let emulator: Emulator;
  beforeEach(async () => {
    emulator = await startEmulator({
      dialect: 'public',
      seed: { deployments: [{ id: 42, name: 'square', ttl: 20 }] },
    });
  });
  afterEach(() => emulator.close());

  /** So many deployments of the name have had their first heartbeat. */
  async function beating(count: number): Promise<Scene> {
    const scene = new Scene({ url: emulator.url, apiKey: emulator.apiKey, wanted: 'name:square' });
    await vi.advanceTimersByTimeAsync(1);
    await scene.has(1, LISTED);
    await vi.advanceTimersByTimeAsync(1);
    await scene.has(count, 'deployments.heartbeat 200');
    return scene;
  }

  test('when one of them is gone: the name may have another id by now', async () => {
    await using scene = await beating(1);
    const successor = emulator.deployments.redeploy(42);
    await vi.advanceTimersByTimeAsync(4_000);
    await scene.has(2, 'deployments.heartbeat 404');
    await soon(() => [...scene.heart.deploymentIds()]).toContain(successor);
    // A redeployment is ordinary: nobody hears that 42 is gone.
    await soon(() => scene.heart.snapshotOf(42)?.state).toBe('replaced');
    expect(scene.heart.snapshotOf(42)).not.toHaveProperty('expiresAt');
    expect(scene.told).not.toContain('gone');
    expect(scene.told).toContainEqual({ id: 42, by: successor, name: 'square' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.told.at(-1)).toEqual({ removed: 42 });
    expect([...scene.heart.deploymentIds()]).toEqual([successor]);
  });

  test('when one of them is deleted: it is gone once a list could have told of another', async () => {
    await using scene = await beating(1);
    emulator.deployments.change(42, { ttl: 1 });
    await vi.advanceTimersByTimeAsync(4_000);
    await scene.has(1, 'deployments.heartbeat 404');
    await vi.advanceTimersByTimeAsync(1_200);
    await scene.has(2, 'deployments.heartbeat 404');
    expect(scene.heart.snapshotOf(42)?.state).toBe('suspect-gone');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(scene.told).toContain('gone');
    expect(scene.heart.snapshotOf(42)?.state).toBe('gone');
    await vi.advanceTimersByTimeAsync(12_000);
    const { sent } = scene;
    const reload = (): number => (scene.heart.reload(scene.wanted, scene.settings), scene.sent);
    await soon(reload).toBeGreaterThan(sent);
  });

  test('when one tag is deleted: another tag of the name does not replace it', async () => {
    emulator.deployments.add({ id: 43, name: 'square', tag: 'blue', ttl: 300 });
    await using scene = await beating(2);
    emulator.deployments.remove(42);
    // Lists miss it for a minute.
    for (let asked = 2; asked <= 6; asked += 1) {
      await vi.advanceTimersByTimeAsync(asked < 4 ? 4_000 : 30_000);
      await soon(() => scene.ended.filter((one) => one === LISTED).length).toBeGreaterThanOrEqual(asked);
    }
    await soon(() => [...scene.heart.deploymentIds()]).toEqual([43]);
    expect(scene.told).toContain('gone');
    expect(scene.told.at(-1)).toEqual({ removed: 42 });
    expect(scene.told).not.toContainEqual(expect.objectContaining({ by: 43 }));
  });

  test.each([
    ['name:square', 'square'],
    ['name:square/default', 'square/default'],
    ['42,name:square', 'square'],
    ['42', undefined],
  ])('%s is shown by the name %s', async (wanted, name) => {
    await using scene = new Scene({ url: emulator.url, apiKey: emulator.apiKey, wanted });
    await vi.advanceTimersByTimeAsync(200);
    await scene.has(1, LISTED);
    await vi.advanceTimersByTimeAsync(1);
    await soon(() => scene.heart.snapshotOf(42)).toMatchObject({ deploymentId: 42 });
    expect(scene.heart.snapshotOf(42)?.name).toBe(name);
    expect(scene.heart.snapshotOf(7)).toBeUndefined();
    await vi.advanceTimersByTimeAsync(4_000);
    await scene.has(2, 'deployments.heartbeat 200');
    expect(scene.ended.filter((one) => one === LISTED)).toHaveLength(1);
    scene.heart.reload(deploymentList.parse('42').value ?? [], scene.settings);
    expect(scene.heart.snapshotOf(42)?.name).toBeUndefined();
  });

  test('with a new key, however long the old one was refused', async () => {
    using folder = temporaryFolder();
    const keyFile = join(folder.path, 'key');
    writeFileSync(keyFile, emulator.apiKey);
    await using scene = new Scene({ url: emulator.url, apiKey: 'old', keyFile, wanted: 'name:square' });
    for (const [earlier, pauseMs] of [1, 3_000, 6_000, 12_000, 24_000].entries()) {
      await vi.advanceTimersByTimeAsync(pauseMs);
      await scene.has(earlier + 1, 'deployments.list 401');
    }
    await scene.heart.keyChanged();
    await vi.advanceTimersByTimeAsync(4_000);
    await scene.has(1, LISTED);
  });
});

test('half of the attempts that may be open are for those that are not overdue', async () => {
  await using silent = await listening(createServer());
  await using scene = new Scene({
    url: silent.url,
    wanted: '1@20s,2@20s,3@20s,4@20s,5@20s',
    attemptsAtOnce: 4,
  });
  await vi.advanceTimersByTimeAsync(900);
  expect(scene.sent).toBe(2);
  await vi.advanceTimersByTimeAsync(300);
  expect(scene.sent).toBe(4);
  expect(scene.heart.avoidedAddresses()).toEqual([]);
  scene.heart.reload(deploymentList.parse('6@20s').value ?? [], scene.settings);
  expect(scene.told.at(-1)).toEqual({ removed: 5 });
});

describe('an app', () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startTestApp(FAILS);
  });
  afterEach(() => app[Symbol.asyncDispose]());

  /** One question after the other, each answered before time goes on, until it leads to this. */
  async function askUntil(scene: Scene, news: AppNews['type']): Promise<void> {
    for (let answers = 1; scene.news.at(-1)?.type !== news; answers += 1) {
      await vi.advanceTimersByTimeAsync(answers === 1 ? 1 : 5_000);
      await soon(() => scene.news.length).toBe(answers);
    }
  }

  const UNHEALTHY = { url: 'http://127.0.0.1:9', wanted: '42@1h' };

  test.each([
    ['unknown', { address: 'http://127.0.0.1:9/other' }],
    ['unhealthy', { grace: 60_000 }],
  ])('that is still the same after a reload keeps the deployments withheld, not %s', async (state, other) => {
    const choice = { address: app.url, grace: 5_000 };
    await using scene = new Scene({ ...UNHEALTHY, app: choice });
    await askUntil(scene, 'withheld');
    scene.heart.reload(scene.wanted, scene.settings, choice);
    expect(scene.heart.app()).toMatchObject({ state: 'withheld' });
    expect(scene.heart.snapshotOf(42)?.state).toBe('withheld');
    scene.heart.reload(scene.wanted, scene.settings, { ...choice, ...other });
    expect(scene.heart.app()).toMatchObject({ state });
    expect(scene.heart.snapshotOf(42)?.state).not.toBe('withheld');
    expect(scene.news.at(-1)).toMatchObject({ type: 'resumed', because: 'reload' });
  });

  test('that another has taken the place of is asked no more', async () => {
    await using other = await startTestApp();
    await using scene = new Scene({ ...UNHEALTHY, app: { address: app.url, grace: 60_000 } });
    await askUntil(scene, 'unhealthy');
    expect(scene.news[0]).toMatchObject({ withheldInMs: expect.closeTo(60_000, -2) as number });
    const { asked } = app;
    scene.heart.reload(scene.wanted, scene.settings, { address: other.url, grace: 60_000 });
    await vi.advanceTimersByTimeAsync(1);
    await soon(() => scene.news.at(-1)?.type).toBe('healthy');
    await vi.advanceTimersByTimeAsync(5_000);
    await soon(() => other.asked).toBe(2);
    expect(app.asked).toBe(asked);
  });

  test('releases nothing any more once the last beats are sent', async () => {
    await using silent = await listening(createServer());
    await using scene = new Scene({
      url: silent.url,
      wanted: '42@1h',
      app: { address: app.url, grace: 5_000 },
    });
    await askUntil(scene, 'unhealthy');
    const last = scene.heart.lastBeats(60_000);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(scene.heart.snapshotOf(42)?.state).not.toBe('withheld');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await last).toEqual([42]);
    expect(scene.news).toHaveLength(1);
  });
});

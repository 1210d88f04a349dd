import { describe, expect, test } from 'vitest';
import type { CallOptions } from '../../../../src/client/caller.ts';
import { TimeoutError, TransportError, refusalError, type ApiError } from '../../../../src/client/errors.ts';
import { DeploymentWatch, type DeploymentClient } from '../../../../src/heartbeat/discovery/watch.ts';
import type { Choice, DiscoveryNotice, Told, Wanted } from '../../../../src/heartbeat/discovery/wanted.ts';
import type { Refusal } from '../../../../src/wire/response.ts';
import { refusal } from '../../../support/refusal.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';
import { FAILURE_WORDS } from '../../../../src/heartbeat/engine/state.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const AUTO = { deploymentTtl: undefined, heartbeatInterval: 'auto' } as const;

function byId(...ids: number[]): Wanted[] {
  return ids.map((id) => ({ by: 'id', id, ttlMs: undefined }));
}
function byName(name: string, tag?: string): Wanted {
  return { by: 'name', name, tag, ttlMs: undefined };
}

function status(code: number, more: Partial<Refusal> = {}): ApiError {
  const meaning =
    code === 429 ? 'throttled' : code === 401 || more.message !== undefined ? 'unauthorized' : 'other';
  return refusalError('deployments.list', refusal({ status: code, meaning, ...more }));
}
/** As the service itself says that there is no such deployment. */
const NO_SUCH_DEPLOYMENT = status(404, { code: 'not_found', meaning: 'not-found' });

interface Asked {
  readonly at: number;
  readonly subject: 'list' | number;
}

/** What the scripted service does with a question: rows or an error, after a latency; `hang`: nothing, ever. */
type Answer = Told[] | Error | 'hang';

/** A watch on virtual time, beside a service that answers as the test says at the moment. */
class Scene {
  readonly time = new VirtualTime();
  readonly asked: Asked[] = [];
  readonly changes: (readonly Choice[])[] = [];
  readonly notices: DiscoveryNotice[] = [];
  readonly gone = new Set<number>();
  /** Ids whose heartbeats are accepted. */
  readonly alive = new Set<number>();
  readonly stop = new AbortController();
  readonly watch: DeploymentWatch;
  inFlight = 0;
  mostInFlight = 0;
  longestTimer = 0;
  latency = 50;
  list: () => Answer = () => [];
  get: (id: number) => Answer = () => NO_SUCH_DEPLOYMENT;

  constructor(wanted: readonly Wanted[], service: Partial<Pick<Scene, 'list' | 'get' | 'latency'>> = {}) {
    Object.assign(this, service);
    const client: DeploymentClient = {
      deployments: {
        list: async (_input, options) => ({
          deployments: await this.#answer('list', this.list(), options),
        }),
        get: async ({ id }, options) => {
          const [deployment = {}] = await this.#answer(id, this.get(id), options);
          return { deployment };
        },
      },
    };
    const { clock } = this.time;
    const setTimer: VirtualTime['setTimer'] = (ms, run) => {
      this.longestTimer = Math.max(this.longestTimer, ms);
      return this.time.setTimer(ms, run);
    };
    this.watch = new DeploymentWatch({
      client,
      wanted,
      settings: AUTO,
      ports: { clock, setTimer, random: () => 0 },
      signal: this.stop.signal,
      onChange: (choices) => this.changes.push(choices),
      onNotice: (notice) => this.notices.push(notice),
      isGone: (id) => this.gone.has(id),
      isAlive: (id) => this.alive.has(id),
    });
  }

  #answer(subject: Asked['subject'], told: Answer, { signal, timeoutMs }: CallOptions = {}): Promise<Told[]> {
    this.asked.push({ at: this.time.now, subject });
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    const late = new TimeoutError('deployments.list', timeoutMs ?? 0);
    const answered =
      told === 'hang'
        ? this.time.answer<Told[]>(late, timeoutMs, signal)
        : this.time.answer(told, this.latency, signal);
    return answered.finally(() => (this.inFlight -= 1));
  }

  get choices(): readonly Choice[] {
    return this.changes.at(-1) ?? [];
  }

  get beaten(): number[] {
    return this.choices.map(({ id }) => id);
  }

  ttlOf(id: number): number | undefined {
    return this.choices.find((choice) => choice.id === id)?.ttl;
  }

  /** Virtual times at which a subject was asked for, in seconds. */
  times(subject: Asked['subject']): number[] {
    return this.asked.filter((one) => one.subject === subject).map(({ at }) => Math.round(at / SECOND));
  }

  said(type: DiscoveryNotice['type']): unknown[] {
    return this.notices
      .filter((notice) => notice.type === type)
      .flatMap(({ found }): readonly unknown[] => found);
  }

  /** The shortest time between two questions, ms. */
  get closest(): number {
    return Math.min(...this.asked.slice(1).map(({ at }, index) => at - (this.asked[index]?.at ?? 0)));
  }
}

describe('at the start', () => {
  test.each([
    ['deployments that can beat do, before anything is asked', byId(42), 100],
    ['with names alone, there is nothing to wait for', [], 0],
  ])('%s', async (_, ids, askedAt) => {
    const scene = new Scene([...ids, byName('square')]);
    expect(scene.changes).toHaveLength(1);
    await scene.time.pass(1_000);
    expect(scene.asked[0]?.at).toBeCloseTo(askedAt);
  });

  test('one question brings the TTLs and the names of all, and is asked every 30 s', async () => {
    const rows = [
      { id: 42, ttl: 300 },
      { id: 77, name: 'square', ttl: 60 },
    ];
    const scene = new Scene([...byId(42), byName('square')], { list: () => rows });
    await scene.time.pass(61 * SECOND);
    expect(scene.choices.map(({ id, ttl }) => [id, ttl])).toEqual([
      [42, 300_000],
      [77, 60_000],
    ]);
    expect(scene.times('list')).toEqual([0, 30, 60]);
    expect(scene.asked).toHaveLength(3);
    expect(scene.changes).toHaveLength(2);
    // What the ports promise to the heart.
    expect(scene.longestTimer).toBeLessThanOrEqual(10 * SECOND);
  });

  test('where nothing is wanted, nothing is asked, until something is', async () => {
    const scene = new Scene([], { list: () => [{ id: 42, ttl: 60 }] });
    await scene.time.pass(10 * MINUTE);
    expect(scene.asked).toEqual([]);
    scene.watch.refresh({ wanted: byId(42), settings: AUTO });
    expect(scene.beaten).toEqual([42]);
    await scene.time.pass(SECOND);
    expect(scene.ttlOf(42)).toBe(60_000);
  });
});

test('a reload of the interval alone, or of the TTL alone, changes the timing at once', () => {
  const { watch, changes } = new Scene(byId(42), { list: () => 'hang' });
  watch.refresh({ wanted: byId(42), settings: { ...AUTO, heartbeatInterval: 5_000 } });
  expect(changes.at(-1)).toMatchObject([{ id: 42, interval: 5_000 }]);
  watch.refresh({ wanted: byId(42), settings: { deploymentTtl: 60_000, heartbeatInterval: 5_000 } });
  expect(changes.at(-1)).toMatchObject([{ id: 42, ttl: 60_000, interval: 5_000 }]);
  expect(changes).toHaveLength(3);
  watch.refresh({ wanted: byId(42), settings: { deploymentTtl: 60_000, heartbeatInterval: 5_000 } });
  expect(changes).toHaveLength(3);
});

describe('a question without an answer is repeated for as long as it takes', () => {
  test.each<[string, Error | 'hang', string]>([
    ['a refused key', status(401), 'the service refuses the API key (status 401)'],
    [
      'an expired session, which is a 404',
      status(404, { message: 'Session expired.' }),
      'the service refuses the API key (status 404)',
    ],
    ['no connection', new TransportError('deployments.list', 'refused', new Error()), 'connection refused'],
    ['a 503', status(503), 'the service failed (status 503)'],
    ['429 after 429', status(429), 'the service limits the rate of requests (status 429)'],
    ['silence', 'hang', 'no answer in time'],
  ])('%s', async (_, answer, reason) => {
    const scene = new Scene([...byId(42), byName('square')], { list: () => answer, get: () => answer });
    await scene.time.pass(60 * MINUTE);
    expect(scene.beaten).toEqual([42]);
    expect(scene.times('list').length).toBeGreaterThan(80);
    expect(scene.said('unanswered')).toContainEqual({ type: 'unanswered', question: 'list', reason });
    // Once a minute, of either question.
    expect(scene.said('unanswered').length).toBeLessThanOrEqual(2 * 61);
    expect(scene.mostInFlight).toBe(1);
    expect(scene.closest).toBeGreaterThanOrEqual(3 * SECOND);
    scene.list = () => [
      { id: 42, ttl: 60 },
      { id: 77, name: 'square' },
    ];
    await scene.time.pass(45 * SECOND);
    expect(scene.ttlOf(42)).toBe(60_000);
    expect(scene.beaten).toEqual([42, 77]);
  });

  test('at first after 3 s, then twice as late up to 30 s; with a refused key nothing else is asked', async () => {
    const scene = new Scene(byId(42, 43), { list: () => status(401) });
    await scene.time.pass(2 * MINUTE);
    expect(scene.times('list')).toEqual([0, 3, 9, 21, 45, 75, 105]);
    expect(scene.asked).toHaveLength(7);
  });

  test('the first thing that goes wrong is said within ten seconds', async () => {
    const scene = new Scene(byId(42), { list: () => 'hang' });
    await scene.time.pass(10_001);
    expect(scene.notices).toEqual([
      { type: 'unanswered', found: [{ type: 'unanswered', question: 'list', reason: 'no answer in time' }] },
    ]);
  });

  test('a list that never comes does not keep single TTLs from being learned', async () => {
    const scene = new Scene(byId(42), { list: () => status(500), get: (id) => [{ id, ttl: 60 }] });
    await scene.time.pass(MINUTE);
    expect(scene.ttlOf(42)).toBe(60_000);
  });
});

describe('a new key or a reload', () => {
  test('asks at once what a refused key had delayed', async () => {
    const scene = new Scene(byId(42), { list: () => status(401) });
    await scene.time.runUntil(76 * SECOND);
    scene.list = () => [{ id: 42, ttl: 60 }];
    scene.watch.refresh();
    await scene.time.runUntil(79 * SECOND);
    expect(scene.ttlOf(42)).toBe(60_000);
  });

  test.each([
    [2, [0, 3]],
    [7, [0, 7]],
  ])('while an answer is under way for %i s asks again after it, one at a time', async (latency, times) => {
    const scene = new Scene(byId(42), { list: () => status(401), latency: latency * SECOND });
    await scene.time.runUntil(SECOND);
    scene.watch.refresh();
    scene.list = () => [{ id: 42, ttl: 60 }];
    await scene.time.runUntil(15 * SECOND);
    expect(scene.times('list')).toEqual(times);
    expect(scene.mostInFlight).toBe(1);
    expect(scene.ttlOf(42)).toBe(60_000);
  });

  test('never makes it faster than the service allows', async () => {
    const scene = new Scene(byId(42), { list: () => [{ id: 42, ttl: 60 }] });
    for (let second = 0; second < 60; second += 1) {
      scene.watch.refresh();
      await scene.time.pass(SECOND);
    }
    expect(scene.closest).toBeGreaterThanOrEqual(3 * SECOND);
    expect(scene.times('list').length).toBeGreaterThan(15);
  });

  test('may want others, which are there at once as far as they are known', async () => {
    const rows = [
      { id: 1, name: 'a', ttl: 60 },
      { id: 2, name: 'b', ttl: 90 },
      { id: 3, ttl: 30 },
    ];
    const scene = new Scene([byName('a'), ...byId(3)], { list: () => rows });
    await scene.time.pass(SECOND);
    scene.watch.refresh({ wanted: [byName('b'), byName('a'), ...byId(4)], settings: AUTO });
    expect(scene.beaten).toEqual([1, 4]);
    await scene.time.pass(3 * SECOND);
    expect(scene.beaten).toEqual([2, 1, 4]);
  });
});

describe('where there is no list', () => {
  test.each([404, 405, 501])(
    '(%i) each id is asked for by itself, and names are said to be unknown',
    async (code) => {
      const scene = new Scene([...byId(1, 2), byName('square')], {
        list: () => status(code),
        get: (id) => [{ id, ttl: 60 * id }],
      });
      await scene.time.pass(2.5 * SECOND);
      // A gateway may say so for a moment.
      expect(scene.said('no-list')).toEqual([]);
      await scene.time.pass(17.5 * SECOND);
      expect([scene.ttlOf(1), scene.ttlOf(2)]).toEqual([60_000, 120_000]);
      expect(scene.said('no-list')).toEqual([{ type: 'no-list', label: 'name:square' }]);
      expect(scene.closest).toBeGreaterThanOrEqual(3 * SECOND);
      scene.get = (id) => [{ id, ttl: 30 }];
      await scene.time.pass(40 * SECOND);
      expect([scene.ttlOf(1), scene.ttlOf(2)]).toEqual([30_000, 30_000]);
    },
  );

  test('the list is asked for again less and less often, up to every ten minutes', async () => {
    const scene = new Scene(byId(1), { list: () => status(404), get: (id) => [{ id, ttl: 60 }] });
    await scene.time.pass(45 * MINUTE);
    const times = scene.times('list');
    expect(times.filter((at) => at > 120).length).toBeLessThanOrEqual(6);
    scene.list = () => [{ id: 1, ttl: 90 }];
    await scene.time.pass(11 * MINUTE);
    expect(scene.ttlOf(1)).toBe(90_000);
  });

  test('and no way to ask for one, ids are beaten all the same, and hardly anything is asked', async () => {
    const scene = new Scene(byId(1), { list: () => status(501), get: () => status(501) });
    await scene.time.pass(60 * MINUTE);
    expect(scene.beaten).toEqual([1]);
    expect(scene.asked.length).toBeLessThan(30);
    expect(scene.notices).toEqual([]);
  });

  test('an answer about another deployment is none', async () => {
    const scene = new Scene(byId(1), { list: () => status(404), get: () => [{ id: 2, ttl: 60 }] });
    await scene.time.pass(MINUTE);
    expect(scene.ttlOf(1)).toBeUndefined();
    expect(scene.said('unanswered')).toEqual([
      { type: 'unanswered', question: 'get', reason: FAILURE_WORDS['wrong-deployment'] },
    ]);
  });
});

test.each<[Answer | undefined, string | undefined]>([
  [undefined, undefined],
  [[], 'no deployment has this name'],
  [status(401), FAILURE_WORDS.unauthorized],
  [status(404), 'the service has no list of deployments; use its id'],
])('of a name without a deployment it knows why: %#', async (answer, why) => {
  const scene = new Scene([byName('square')], { list: () => answer ?? 'hang' });
  await scene.time.pass(SECOND);
  const reason = why === undefined ? undefined : expect.stringContaining(why);
  expect(scene.watch.missing()).toEqual([{ name: 'square', reason }]);
  scene.watch.refresh();
  expect(scene.watch.missing()).toMatchObject([{ name: 'square' }]);
  scene.list = () => [{ id: 1, name: 'square' }];
  await scene.time.pass(60 * MINUTE);
  expect(scene.watch.missing()).toEqual([]);
});

test('a name without a deployment is reported once a minute', async () => {
  const scene = new Scene([byName('square')], { list: () => [] });
  await scene.time.pass(3.9 * MINUTE);
  expect(scene.said('unmatched')).toHaveLength(4);
});

test('an id that the list does not have is asked for by itself', async () => {
  const scene = new Scene(byId(1, 2), { list: () => [{ id: 1, ttl: 60 }], get: (id) => [{ id, ttl: 90 }] });
  await scene.time.pass(5 * SECOND);
  expect([scene.ttlOf(1), scene.ttlOf(2)]).toEqual([60_000, 90_000]);
  expect(scene.times(1)).toEqual([]);
  scene.list = () => [];
  await scene.time.pass(35 * SECOND);
  expect(scene.times(1)).toHaveLength(1);
});

test('however many ids are asked for by themselves, the list comes first', async () => {
  const ids = Array.from({ length: 200 }, (_, id) => id);
  const scene = new Scene(byId(...ids), { get: (id) => [{ id, ttl: 60 }] });
  await scene.time.pass(5 * MINUTE);
  expect(scene.times('list').length).toBeGreaterThan(8);
  expect(scene.closest).toBeGreaterThanOrEqual(3 * SECOND);
  await scene.time.pass(7 * MINUTE);
  expect(scene.choices.filter(({ ttl }) => ttl === 60_000)).toHaveLength(200);
});

describe('what changes is taken', () => {
  test('a redeployment: the new id is beaten with the next list, the old one until it is surely gone', async () => {
    let rows: Told[] = [{ id: 1, name: 'square', ttl: 60 }];
    const scene = new Scene([byName('square')], { list: () => rows, get: () => 'hang' });
    await scene.time.pass(SECOND);
    expect(scene.beaten).toEqual([1]);
    rows = [{ id: 2, name: 'square', ttl: 60 }];
    await scene.time.pass(30 * SECOND);
    expect(scene.beaten).toEqual([1, 2]);
    // Nor is a gateway's 404 the service's word.
    for (const answer of ['hang', status(404)] as const) {
      scene.get = () => answer;
      await scene.time.pass(10 * MINUTE);
      expect(scene.beaten).toEqual([1, 2]);
    }
    scene.get = () => NO_SUCH_DEPLOYMENT;
    await scene.time.pass(10 * MINUTE);
    expect(scene.beaten).toEqual([2]);
    const asked = scene.times(1).length;
    await scene.time.pass(60 * MINUTE);
    expect(scene.times(1)).toHaveLength(asked);
    expect(scene.said('matched').map((one) => (one as { ids: number[] }).ids)).toEqual([[1], [1, 2], [2]]);
  });

  test.each([
    ['before a list shows', true],
    ['after a list has shown', false],
  ])(
    'a redeployment where the heartbeats know that the old one is gone, %s the new one',
    async (_, isBefore) => {
      let rows: Told[] = [{ id: 1, name: 'square' }];
      const scene = new Scene([byName('square')], { list: () => rows, get: () => status(501) });
      await scene.time.pass(SECOND);
      rows = [{ id: 2, name: 'square' }];
      if (isBefore) scene.gone.add(1);
      await scene.time.pass(32 * SECOND);
      expect(scene.beaten).toEqual(isBefore ? [2] : [1, 2]);
      scene.watch.gone(1);
      await scene.time.pass(101);
      expect(scene.beaten).toEqual([2]);
    },
  );

  test('a deployment that is gone, and whose name no other has, until lists have missed it for a minute', async () => {
    let rows: Told[] = [{ id: 1, name: 'square' }];
    const scene = new Scene([byName('square')], { list: () => rows, get: () => status(501) });
    await scene.time.pass(SECOND);
    rows = [{ id: 2, name: 'square', tag: 'blue' }];
    scene.gone.add(1);
    await scene.time.pass(32 * SECOND);
    expect(scene.beaten).toEqual([1, 2]);
    await scene.time.pass(2 * MINUTE);
    expect(scene.beaten).toEqual([2]);
  });

  test('a deployment whose heartbeats are accepted goes on, whatever lists and questions say', async () => {
    let rows: Told[] = [{ id: 1, name: 'square' }];
    const scene = new Scene([byName('square')], { list: () => rows, get: () => NO_SUCH_DEPLOYMENT });
    scene.alive.add(1);
    await scene.time.pass(SECOND);
    rows = [{ id: 2, name: 'square' }];
    await scene.time.pass(30 * MINUTE);
    expect(scene.beaten).toEqual([1, 2]);
    scene.alive.delete(1);
    await scene.time.pass(5 * MINUTE);
    expect(scene.beaten).toEqual([2]);
  });

  test('lists that flap change nothing, and are no flood', async () => {
    let turn = 0;
    const both = [
      { id: 1, name: 'square', ttl: 60 },
      { id: 2, name: 'square', ttl: 60 },
    ];
    const scene = new Scene([byName('square')], {
      list: () => ((turn += 1) % 2 === 0 ? [] : both),
      get: () => NO_SUCH_DEPLOYMENT,
    });
    await scene.time.pass(60 * MINUTE);
    expect(scene.changes).toHaveLength(2);
    expect(scene.notices).toHaveLength(1);
  });

  test('states that flap are said once in ten minutes', async () => {
    let turn = 0;
    const scene = new Scene([byName('square')], {
      // Long enough each time to be believed.
      list: () => [{ id: 1, name: 'square', endpoint_state: (turn += 1) % 8 > 3 ? 'stopped' : 'active' }],
    });
    await scene.time.pass(60 * MINUTE);
    expect(scene.said('stopped').length).toBeLessThanOrEqual(7);
    expect(scene.said('stopped').length).toBeGreaterThan(1);
  });
});

test('a thousand deployments come with one question, and what is to be said of them with one notice', async () => {
  const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, name: 'square', ttl: 60 }));
  const wanted = [{ ...byName('square'), ttlMs: 90_000 }];
  const scene = new Scene(wanted, { list: () => rows });
  await scene.time.pass(SECOND);
  expect(scene.beaten).toHaveLength(1_000);
  expect(scene.asked).toHaveLength(1);
  expect(scene.notices.map(({ type, found }) => [type, found.length])).toEqual([
    ['matched', 1],
    ['ttl-differs', 1_000],
  ]);
});

test.each<[string, Answer]>([
  ['while an answer is under way', 'hang'],
  ['between two questions', []],
])('the end %s leaves no timer, no request and no further word', async (_, answer) => {
  const scene = new Scene(byId(1), { list: () => answer });
  await scene.time.pass(SECOND);
  scene.stop.abort(new Error('stopping'));
  await scene.watch.done;
  expect([scene.time.timers, scene.inFlight]).toEqual([0, 0]);
  const words = () => [scene.asked.length, scene.changes.length, scene.notices.length];
  expect(words()).toEqual([1, 1, 0]);
  scene.watch.refresh({ wanted: byId(2), settings: AUTO });
  await scene.time.pass(10 * MINUTE);
  expect(words()).toEqual([1, 1, 0]);
});

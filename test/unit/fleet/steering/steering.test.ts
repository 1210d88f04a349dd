/** Steering on virtual time, against a service, a history and advice that answer as a test says. */
import { afterEach, describe, expect, test } from 'vitest';
import type { ListedEndpoint } from '../../../../src/fleet/discovery/knowledge.ts';
import { History } from '../../../../src/fleet/history/history.ts';
import { MemoryHistory } from '../../../../src/fleet/history/places/memory-history.ts';
import { NO_WRITE, type StoredSteering, type Write } from '../../../../src/fleet/history/store.ts';
import type { AdviceQuestion, SteeringNotice } from '../../../../src/fleet/steering/port.ts';
import { Steering, type SteeringOptions } from '../../../../src/fleet/steering/steering.ts';
import type { Advice } from '../../../../src/scaling/advice/advice.ts';
import type { Answer } from '../../../../src/scaling/autotune/decide.ts';
import { parseBounds } from '../../../../src/scaling/autotune/bounds.ts';
import { NEVER_STEERED, type Some } from '../../../../src/scaling/autotune/state.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';
import { adviceOf, changeOf, MINUTE_MS, PARAMETERS } from '../../../support/steering.ts';

/** Until nothing keeps steering from moving. */
const BEFORE = 61;
const QUIET = 100;
const CROWDED = 300;
const BOUNDS = { chat: { cold_workers: [0, 10] as const } };
const TODAY = PARAMETERS['cold_workers'] ?? 0;
const BEST = TODAY - 1;

class SteppedClock extends VirtualClock {
  shiftMs = 0;
  override now(): number {
    return super.now() + this.shiftMs;
  }
}

/** One whose place may be full. */
class SmallHistory extends MemoryHistory {
  trouble: Error | undefined;
  override write(writes: readonly Write[], nowMs: number): Promise<void> {
    return this.trouble ? Promise.reject(this.trouble) : super.write(writes, nowMs);
  }
}

class World {
  readonly clock: SteppedClock;
  readonly store = new SmallHistory();
  readonly history: History;
  /** By an earlier process. */
  stored: readonly StoredSteering[] | undefined = [];
  /** Of each endpoint alike. */
  readonly parameters: Record<string, number> = { ...PARAMETERS };
  state: string | null = 'Active';
  list = (): Promise<readonly ListedEndpoint[]> =>
    Promise.resolve(
      this.labels.map((label, id) => ({
        id,
        endpoint_name: label,
        endpoint_state: this.state,
        ...this.parameters,
      })),
    );
  update = (_id: number, values: Some): Promise<void> => {
    Object.assign(this.parameters, values);
    return Promise.resolve();
  };
  answer: Answer = { kind: 'refused', words: 'no' };
  advise = (question: AdviceQuestion): Promise<Advice> =>
    Promise.resolve(
      adviceOf({ atMs: question.nowMs, today: question.parameters, best: { cold_workers: BEST } }),
    );
  labels: readonly string[] = ['chat'];
  performance: number | undefined = 100;
  mayAct = true;
  isKept = true;
  isListed = true;
  /** Of which endpoint the history cannot be read. */
  unreadable = '';
  lists = 0;
  looksAgain = 0;
  readonly sent: { readonly id: number; readonly values: Some; readonly atMs: number }[] = [];
  readonly questions: AdviceQuestion[] = [];
  readonly notices: SteeringNotice[] = [];
  steering!: Steering;

  constructor(clock = new SteppedClock()) {
    this.clock = clock;
    const { store } = this;
    this.history = new History({ store, clock, lives: () => [], onTrouble() {}, onStored() {} });
  }

  async start(options: Partial<SteeringOptions> = {}): Promise<this> {
    await this.history.open();
    this.steering = new Steering({
      settings: { apply: true, bounds: BOUNDS },
      service: {
        endpoints: () => {
          this.lists += 1;
          return this.list();
        },
        update: (id, values) => {
          this.sent.push({ id, values, atMs: this.clock.now() });
          return this.update(id, values);
        },
        answerOf: () => this.answer,
      },
      watch: {
        isKept: this.isKept,
        watched: () => this.labels.map((label, id) => ({ label, id })),
        isListed: () => this.isListed,
        storedSteering: () => this.stored,
        isSteeringCurrent: (...args) => this.history.isSteeringCurrent(...args),
        recordSteering: (...args) => this.history.recordSteering(...args),
        journal: (...args) => this.history.journal(...args),
        history: (query) =>
          query.endpoint === this.unreadable
            ? Promise.reject(new Error('it cannot be read'))
            : this.history.query(query),
        workerPerformance: () => this.performance,
        lookAgain: () => (this.looksAgain += 1),
      },
      advise: (question) => {
        this.questions.push(question);
        return this.advise(question);
      },
      mayAct: () => this.mayAct,
      notice: (notice) => this.notices.push(notice),
      clock: this.clock,
      ...options,
    });
    started.push(this);
    return this;
  }

  /** Minutes in which so much was asked of 200 units/s. */
  async minutes(count: number, load = QUIET): Promise<void> {
    for (let minute = 0; minute < count; minute += 1) {
      const cost = 0.4 * (this.cold ?? 0);
      for (const label of this.labels) this.history.record(lookAt(label, this.clock.now(), load, cost));
      await this.clock.advance(MINUTE_MS);
    }
  }

  get cold(): number | undefined {
    return this.parameters['cold_workers'];
  }

  view(label = 'chat') {
    const view = this.steering.view(label);
    if (!view) throw new Error(`${label} is not steered`);
    return view;
  }

  kinds(): string[] {
    return this.notices.map(({ kind }) => kind);
  }
}

const started: World[] = [];
afterEach(async () => {
  for (const { steering } of started.splice(0)) await steering.stop();
});

function lookAt(label: string, atMs: number, load: number, cost: number) {
  const measures = {
    load,
    load_average: load,
    capacity_hot: 200,
    capacity_cold: 0,
    requests_working: 1,
    cost_per_hour: cost,
  };
  const sample = { atMs: Math.floor(atMs), measures, workers: { idle: 2 } };
  return { label, sample, changed: [], gone: [], events: [] };
}

test.each(['constructor', '__proto__'])(
  'an endpoint called %s is not steered unless bounds name it',
  async (label) => {
    const world = new World();
    world.labels = [label];
    await world.start();
    await world.minutes(2);
    expect([world.steering.view(label), world.lists]).toEqual([undefined, 0]);
    const { bounds } = parseBounds(`{"${label}":{"cold_workers":[0,10]}}`);
    world.steering.apply({ apply: true, bounds: bounds ?? {} });
    await world.minutes(BEFORE);
    expect(world.sent).toHaveLength(1);
  },
);

describe('a change', () => {
  test('is sent once an hour has passed, and kept after six more', async () => {
    const world = await new World().start();
    await world.minutes(BEFORE - 2);
    expect([world.sent, world.view().holds]).toEqual([[], 'nothing moves in the first hour after a start']);
    await world.minutes(1);
    expect(world.view()).toMatchObject({ holds: 'advice is awaited', journal: [], wanted: {} });
    await world.minutes(1);
    expect(world.sent).toMatchObject([{ id: 0, values: { cold_workers: BEST } }]);
    expect(world.looksAgain).toBe(1);
    expect(world.view()).toMatchObject({
      holds: undefined,
      wanted: { cold_workers: BEST },
      pausedUntilMs: world.clock.now() + 6 * 60 * MINUTE_MS,
      journal: [{ id: 1, phase: 'sending', setMs: world.clock.now() }],
    });
    expect(world.notices).toMatchObject([
      { kind: 'parameters steered', endpoint: 'chat', change: { to: { cold_workers: BEST } } },
    ]);
    await world.minutes(6 * 60);
    expect(world.view().journal).toMatchObject([{ id: 1, outcome: 'kept' }]);
    expect(world.notices.slice(1, 2)).toMatchObject([
      { kind: 'steering ended', endpoint: 'chat', outcome: 'kept', change: { id: 1 } },
    ]);
    expect(await world.history.journal('chat', 9)).toMatchObject([{ id: 1, outcome: 'kept' }]);
  });

  test('that does harm goes back, which is said once', async () => {
    const world = await new World().start();
    await world.minutes(BEFORE);
    await world.minutes(6, CROWDED);
    expect(world.cold).toBe(TODAY);
    expect(world.kinds()).toEqual(['parameters steered', 'old values go back', 'steering ended']);
    expect(world.notices.at(-1)).toMatchObject({ outcome: 'rolled_back' });
  });

  test('that nobody watches any more is told once, and its story stays', async () => {
    const world = await new World().start();
    await world.minutes(BEFORE);
    world.steering.apply({ apply: false, bounds: BOUNDS });
    await world.minutes(3, CROWDED);
    expect(world.kinds()).toEqual(['parameters steered', 'change unwatched']);
    expect(world.notices.at(-1)).toMatchObject({ endpoint: 'chat', change: { id: 1, phase: 'sending' } });
    expect(world.view()).toMatchObject({
      holds: 'PILOTLIGHT_AUTOTUNE is off: the change that is in force is not watched',
      journal: [{ id: 1 }],
    });
    world.steering.apply({ apply: true, bounds: BOUNDS });
    await world.minutes(2, QUIET);
    world.labels = ['other'];
    await world.minutes(3, QUIET);
    expect(world.kinds().slice(2)).toEqual(['change unwatched']);
    world.labels = [];
    await world.minutes(2, QUIET);
    expect(world.kinds().slice(3)).toEqual([]);
  });

  test('of the only endpoint that was watched is told as well, once the service has said that there is none', async () => {
    const world = await new World().start();
    await world.minutes(BEFORE);
    [world.labels, world.isListed] = [[], false];
    await world.minutes(2, QUIET);
    expect([world.kinds(), world.steering.unwatched()]).toEqual([['parameters steered'], []]);
    world.isListed = true;
    await world.minutes(2, QUIET);
    expect(world.kinds()).toEqual(['parameters steered', 'change unwatched']);
    expect(world.steering.unwatched()).toMatchObject([
      {
        endpoint: 'chat',
        steering: {
          holds: expect.stringMatching(
            /watched by nobody: .*put its old values back by hand \(cold_workers 5\)/,
          ),
          journal: [{ id: 1, phase: 'sending' }],
        },
      },
    ]);
    world.labels = ['chat'];
    expect(world.steering.unwatched()).toEqual([]);
    await world.minutes(6, CROWDED);
    world.labels = [];
    expect([world.cold, world.steering.unwatched()]).toEqual([TODAY, []]);
  });

  test('of an earlier process is told too where nothing is to be changed any more', async () => {
    const world = new World();
    const change = changeOf({ setMs: world.clock.now() });
    world.stored = [{ label: 'chat', state: { ...NEVER_STEERED, change } }];
    await world.start({ settings: { apply: false, bounds: BOUNDS } });
    await world.minutes(3);
    expect(world.kinds()).toEqual(['change unwatched']);
    expect([world.lists, world.sent]).toEqual([0, []]);
  });

  test('of an earlier process is told at once, before the first look', async () => {
    const world = new World();
    const change = changeOf({ phase: 'watching', setMs: world.clock.now() });
    const state = { ...NEVER_STEERED, baseline: { ...PARAMETERS, cold_workers: BEST }, change };
    world.stored = [{ label: 'chat', state }];
    await world.store.open();
    await world.store.write([{ ...NO_WRITE, steering: { label: 'chat', state } }], 0);
    await world.start();
    await settled();
    expect(world.view()).toMatchObject({ journal: [{ id: change.id }], wanted: { cold_workers: BEST } });
  });

  test('that does harm goes back with a history of days behind it too', async () => {
    const world = await new World().start();
    world.mayAct = false;
    await world.minutes(50 * 60);
    world.mayAct = true;
    await world.minutes(2);
    expect(world.cold).toBe(BEST);
    await world.minutes(6, CROWDED);
    expect(world.kinds()).toEqual(['parameters steered', 'old values go back', 'steering ended']);
  });

  test.each<[Answer['kind'], string, string]>([
    ['refused', 'over', 'refused'],
    ['unknown', 'over', 'lost'],
  ])('whose answer is %s is %s: %s', async (kind, phase, outcome) => {
    const world = new World();
    world.answer = { kind, words: 'what it said' };
    world.update = () => Promise.reject(new Error('status 503'));
    await world.start();
    await world.minutes(BEFORE + 3);
    expect(world.sent).toHaveLength(1);
    expect(world.view().journal).toMatchObject([{ phase, outcome }]);
    expect(world.kinds()).toEqual(['parameters steered', 'steering ended']);
    // Not found in the answer, the parameters are looked for at once.
    expect(world.looksAgain).toBe(1);
  });

  test('that is never answered is given up after 15 s, and read back', async () => {
    const world = new World();
    world.answer = { kind: 'unknown', words: '' };
    world.update = (_, values) => {
      Object.assign(world.parameters, values);
      return new Promise(() => {});
    };
    await world.start();
    await world.minutes(BEFORE);
    const sentMs = world.clock.now();
    await world.clock.advance(14_999);
    expect([world.looksAgain, world.view().journal[0]?.phase]).toEqual([0, 'sending']);
    await world.clock.advance(1);
    expect(world.looksAgain).toBe(1);
    await world.minutes(1);
    expect(world.view().journal).toMatchObject([{ phase: 'watching', setMs: sentMs }]);
  });

  test('that cannot be written down is not sent; what goes back is', async () => {
    const world = await new World().start();
    await world.minutes(BEFORE - 1);
    world.store.trouble = new Error('no space left');
    await world.minutes(1);
    await world.clock.advance(5_000);
    expect(world.sent).toEqual([]);
    expect(world.notices).toMatchObject([
      {
        kind: 'steering failed',
        endpoint: 'chat',
        error: { message: 'it could not be written down: no space left' },
      },
      { kind: 'parameters steered' },
    ]);
    world.store.trouble = undefined;
    await world.minutes(400);
    expect(world.cold).toBe(BEST);
    world.store.trouble = new Error('no space left');
    await world.minutes(5, CROWDED);
    expect(world.cold).toBe(TODAY);
  });

  test('is not sent by a replica that may not act any more, and looked at by none', async () => {
    const world = new World();
    await world.start({
      // It may look, and loses its lease while what was decided is stored.
      mayAct: () => (world.steering?.view('chat')?.journal.length ?? 0) === 0,
    });
    await world.minutes(BEFORE);
    expect(world.view().journal).toMatchObject([{ phase: 'sending' }]);
    await world.minutes(5);
    expect([world.sent, world.view().journal]).toMatchObject([[], [{ phase: 'sending' }]]);
  });

  test('by hand is a pause, said once', async () => {
    const world = await new World().start();
    await world.minutes(2);
    world.parameters['cold_workers'] = 9;
    await world.minutes(3);
    expect(world.notices).toEqual([{ kind: 'changed by hand', endpoint: 'chat' }]);
    expect(world.view().pausedUntilMs).toBeGreaterThan(world.clock.now() + 23 * 60 * MINUTE_MS);
  });
});

describe('the next process', () => {
  test('goes on with what is under way, whatever its bounds, and shows the last 20 changes', async () => {
    const first = await new World().start();
    await first.minutes(BEFORE);
    const [change] = first.view().journal;
    if (!change) throw new Error('nothing has moved');
    const second = new World(first.clock);
    second.parameters['cold_workers'] = BEST;
    const state = { baseline: { ...second.parameters }, pause: undefined, change: { ...change, id: 26 } };
    for (let id = 1; id <= 26; id += 1) {
      const steering = { label: 'chat', state: { ...state, change: { ...change, id } } };
      await second.store.write([{ ...NO_WRITE, steering }], first.clock.now());
    }
    second.stored = undefined;
    await second.start({ settings: { apply: true, bounds: {} } });
    await second.minutes(1);
    // What is not known to be over is not begun anew.
    expect([second.lists, second.steering.view('chat')]).toEqual([0, undefined]);
    second.stored = [{ label: 'chat', state }];
    await second.minutes(1);
    expect(second.view().holds).toBe('a change is on trial');
    expect(second.view().journal.map(({ id }) => id)).toEqual(
      Array.from({ length: 20 }, (_, place) => place + 7),
    );
    await second.minutes(5, CROWDED);
    expect(second.cold).toBe(TODAY);
    expect(second.view().journal).toHaveLength(20);
  });
});

describe('nothing is asked', () => {
  test('where what was changed would be forgotten with the process; who is to keep it is told', async () => {
    const world = new World();
    world.isKept = false;
    await world.start();
    expect(world.view().holds).toMatch(
      /outlives this process .* PILOTLIGHT_STATE_DIR or PILOTLIGHT_REDIS_URL$/,
    );
    await world.minutes(BEFORE);
    expect([world.lists, world.questions, world.sent, world.notices]).toEqual([0, [], [], []]);
    world.steering.apply({ apply: false, bounds: BOUNDS });
    expect(world.steering.view('chat')).toBeUndefined();
  });

  test.each([
    ['it is switched off', { apply: false, bounds: BOUNDS }],
    ['no bounds name what is watched', { apply: true, bounds: { draw: {} } }],
  ])('where %s', async (_, settings) => {
    const world = await new World().start({ settings });
    await world.minutes(3);
    expect([world.lists, world.steering.view('chat'), world.notices]).toEqual([0, undefined, []]);
  });

  test('after the end, and before the first minute is over', async () => {
    const world = await new World().start();
    await world.clock.advance(59_999);
    expect(world.lists).toBe(0);
    await world.clock.advance(1);
    expect(world.lists).toBe(1);
    await world.steering.stop();
    await world.clock.advance(5 * MINUTE_MS);
    expect([world.lists, world.notices]).toEqual([1, []]);
  });

  test('from the next minute on, once a reload switches it off', async () => {
    const world = await new World().start();
    await world.minutes(2);
    world.steering.apply({ apply: false, bounds: BOUNDS });
    await world.minutes(2);
    expect(world.lists).toBe(2);
    // What is known of it is shown.
    expect(world.view()).toMatchObject({ holds: 'PILOTLIGHT_AUTOTUNE is off', wanted: {} });
  });

  test('by a replica that may not act', async () => {
    const world = new World();
    world.mayAct = false;
    await world.start();
    await world.minutes(2);
    expect(world.view()).toEqual({ holds: undefined, pausedUntilMs: undefined, wanted: {}, journal: [] });
  });
});

describe('trouble', () => {
  test.each<[string, World['list']]>([
    ['fails', () => Promise.reject(new Error('status 503'))],
    ['does not answer', () => new Promise(() => {})],
    ['does not have the endpoint', () => Promise.resolve([])],
  ])('a service that %s keeps everything as it is', async (_, list) => {
    const world = await new World().start();
    world.list = list;
    await world.minutes(1);
    await world.clock.advance(15_000);
    expect(world.view().holds).toBe('the parameters could not be read');
    expect(world.notices).toEqual([]);
  });

  test('with one endpoint keeps no other from being looked at', async () => {
    const world = new World();
    world.labels = ['draw', 'chat'];
    world.unreadable = 'draw';
    await world.start({ settings: { apply: true, bounds: { ...BOUNDS, draw: BOUNDS.chat } } });
    await world.minutes(1);
    expect(world.view().holds).toBe('nothing moves in the first hour after a start');
    expect(world.notices).toEqual([
      { kind: 'steering failed', endpoint: 'draw', error: new Error('it cannot be read') },
    ]);
    expect(world.view('draw').holds).toBeUndefined();
  });

  test('with all of it is told, and the next minute is another', async () => {
    const world = new World();
    const state = NEVER_STEERED;
    world.stored = [{ label: 'chat', state }];
    let fails = true;
    const journal = () => (fails ? Promise.reject(new Error('no journal')) : Promise.resolve([]));
    Object.assign(world.history, { journal });
    const failed = { kind: 'steering failed', endpoint: undefined, error: new Error('no journal') };
    await world.start();
    await settled();
    expect(world.notices).toEqual([failed]);
    await world.minutes(1);
    expect(world.notices).toEqual([failed, failed]);
    fails = false;
    await world.minutes(1);
    expect([world.lists, world.notices.length]).toEqual([1, 2]);
  });

  test.each([
    ['stopped', 'the endpoint is stopped'],
    ['Suspended', 'the endpoint is Suspended'],
    ['ACTIVE', 'nothing moves in the first hour after a start'],
    ['', 'nothing moves in the first hour after a start'],
    [null, 'nothing moves in the first hour after a start'],
  ])('an endpoint that is %j: %s', async (state, holds) => {
    const world = new World();
    world.state = state;
    await world.start();
    await world.minutes(1);
    expect(world.view().holds).toBe(holds);
  });

  test('a clock that is set back begins the first hour anew', async () => {
    const world = await new World().start();
    await world.minutes(30);
    world.clock.shiftMs = -3 * 60 * MINUTE_MS;
    await world.minutes(1);
    expect(world.view().holds).toBe('nothing moves in the first hour after a start');
    await world.minutes(58);
    expect(world.sent).toEqual([]);
    await world.minutes(4);
    expect(world.sent).toHaveLength(1);
  });
});

describe('advice', () => {
  test('is asked for with what is known of the endpoint, and bounds say how far it may go', async () => {
    const world = await new World().start();
    await world.minutes(BEFORE - 1);
    expect(world.questions).toEqual([
      {
        endpoint: 'chat',
        nowMs: world.clock.now(),
        parameters: PARAMETERS,
        parametersSinceMs: undefined,
        reach: { cold_workers: { least: 4, most: 7, leastBy: 'step', mostBy: 'step' } },
        workerPerformance: 100,
      },
    ]);
  });

  test('that fails is told, and asked for again after half an hour', async () => {
    const world = await new World().start();
    world.advise = () => Promise.reject(new Error('no core is free'));
    await world.minutes(BEFORE - 1);
    expect(world.notices).toEqual([
      { kind: 'steering failed', endpoint: 'chat', error: new Error('no core is free') },
    ]);
    await world.minutes(29);
    expect(world.questions).toHaveLength(1);
    await world.minutes(1);
    expect(world.questions).toHaveLength(2);
  });

  test('that is old before it comes is asked for again half an hour after it failed, and not before', async () => {
    const world = await new World().start();
    let fail: (error: Error) => void = () => {};
    world.advise = () => new Promise((_, reject) => (fail = reject));
    await world.minutes(BEFORE - 1 + 20);
    fail(new Error('too late'));
    await world.minutes(29);
    expect(world.questions).toHaveLength(1);
    await world.minutes(2);
    expect(world.questions).toHaveLength(2);
    fail(new Error('over'));
  });

  test('is asked for one endpoint at a time', async () => {
    const world = new World();
    world.labels = ['chat', 'draw'];
    let answer = (): void => {};
    world.advise = (question) =>
      new Promise((resolve) => {
        answer = () => resolve(adviceOf({ atMs: question.nowMs, best: { cold_workers: BEST } }));
      });
    await world.start({ settings: { apply: true, bounds: { ...BOUNDS, draw: BOUNDS.chat } } });
    await world.minutes(BEFORE + 5);
    expect(world.questions.map(({ endpoint }) => endpoint)).toEqual(['chat']);
    answer();
    await settled();
    await world.minutes(1);
    expect(world.questions.map(({ endpoint }) => endpoint)).toEqual(['chat', 'draw']);
    answer();
  });

  test('that nobody gives moves nothing', async () => {
    const world = await new World().start({ advise: undefined });
    await world.minutes(BEFORE + 5);
    expect([world.sent, world.view().holds]).toEqual([[], 'advice is awaited']);
  });

  test('is not waited for where everything ends, and its end is no failure', async () => {
    const world = new World();
    let signal: AbortSignal | undefined;
    await world.start({
      advise: (_, ending) => {
        signal = ending;
        return new Promise((_resolve, reject) => {
          ending.addEventListener('abort', () => reject(ending.reason as Error));
        });
      },
    });
    await world.minutes(BEFORE - 1);
    expect(signal?.aborted).toBe(false);
    await world.steering.stop();
    expect([signal?.aborted, world.notices]).toEqual([true, []]);
  });
});

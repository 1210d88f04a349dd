/** Replicas that steer one endpoint, one at a time, by what Redis keeps; a real one is in test/integration/daemon. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SharedHistory } from '../../../../src/daemon/replicas/shared-history.ts';
import { SharedKeys } from '../../../../src/daemon/replicas/shared-keys.ts';
import { History } from '../../../../src/fleet/history/history.ts';
import { NO_WRITE } from '../../../../src/fleet/history/store.ts';
import type { SteeringNotice } from '../../../../src/fleet/steering/port.ts';
import { Steering } from '../../../../src/fleet/steering/steering.ts';
import { NEVER_STEERED, type Some, type SteeringState } from '../../../../src/scaling/autotune/state.ts';
import { VirtualClock } from '../../../support/log-time.ts';
import { MemoryRedis } from '../../../support/memory-redis.ts';
import { adviceOf, changeOf, MINUTE_MS, PARAMETERS } from '../../../support/steering.ts';

const KEYS = new SharedKeys('pilotlight', 'steering');
const TODAY = PARAMETERS['cold_workers'] ?? 0;
const BEST = TODAY - 1;
const [QUIET, CROWDED] = [100, 300];
/** Minutes until nothing keeps steering from moving. */
const BEFORE = 61;

let clock: VirtualClock;
let redis: MemoryRedis;
let parameters: Record<string, number>;
let sent: Some[];
let started: Replica[];
beforeEach(() => {
  [clock, redis, sent, started] = [new VirtualClock(), new MemoryRedis(), [], []];
  parameters = { ...PARAMETERS };
});
afterEach(async () => {
  for (const { steering } of started) await steering.stop();
});

class Replica {
  readonly token: string;
  readonly history: History;
  readonly notices: SteeringNotice[] = [];
  /** As its own clock has it: Redis may know better. */
  mayAct = true;
  /** Runs while it waits for the list of endpoints. */
  whileListing: () => Promise<void> = () => Promise.resolve();
  steering!: Steering;

  constructor(token: string) {
    this.token = token;
    const store = new SharedHistory({ redis, keys: KEYS, token, now: () => clock.now() });
    this.history = new History({ store, clock, lives: () => [], onTrouble() {}, onStored() {} });
  }

  async start(): Promise<this> {
    hold(this.token);
    await this.history.open();
    const { history } = this;
    this.steering = new Steering({
      settings: { apply: true, bounds: { chat: { cold_workers: [0, 10] } } },
      service: {
        endpoints: async () => {
          await this.whileListing();
          return [{ id: 0, endpoint_name: 'chat', endpoint_state: 'active', ...parameters }];
        },
        update: (_, values) => {
          sent.push(values);
          Object.assign(parameters, values);
          return Promise.resolve();
        },
        answerOf: () => ({ kind: 'refused', words: 'no' }),
      },
      watch: {
        isKept: true,
        watched: () => [{ label: 'chat', id: 0 }],
        isListed: () => true,
        storedSteering: () => history.steering,
        isSteeringCurrent: (...args) => history.isSteeringCurrent(...args),
        recordSteering: (...args) => history.recordSteering(...args),
        journal: (...args) => history.journal(...args),
        history: (query) => history.query(query),
        workerPerformance: () => 100,
        lookAgain() {},
      },
      advise: ({ nowMs, parameters: today }) =>
        Promise.resolve(adviceOf({ atMs: nowMs, today, best: { cold_workers: BEST } })),
      mayAct: () => this.mayAct,
      notice: (notice) => this.notices.push(notice),
      clock,
    });
    started.push(this);
    return this;
  }

  /** Minutes in which so much was asked of 200 units/s. */
  async minutes(count: number, load = QUIET): Promise<void> {
    for (let minute = 0; minute < count; minute += 1) {
      this.look(load);
      await clock.advance(MINUTE_MS);
    }
  }

  /** Runs once, between a look's list of endpoints and what is decided upon it. */
  whileReading(run: () => Promise<void>): void {
    const query = this.history.query.bind(this.history);
    const { history } = this;
    Object.assign(history, {
      async query(...asked: Parameters<typeof query>) {
        Object.assign(history, { query });
        const rows = await query(...asked);
        await run();
        return rows;
      },
    });
  }

  look(load = QUIET): void {
    const measures = {
      load,
      load_average: load,
      capacity_hot: 200,
      capacity_cold: 0,
      requests_working: 1,
      cost_per_hour: 1,
    };
    const sample = { atMs: clock.now(), measures, workers: { idle: 2 } };
    this.history.record({ label: 'chat', sample, changed: [], gone: [], events: [] });
  }

  get holds(): string | undefined {
    return this.steering.view('chat')?.holds;
  }
}

function hold(token: string): void {
  redis.values.set(KEYS.lease, token);
}

/** What else is stored can be read. */
function rowsFail(): void {
  const command = redis.command.bind(redis);
  const isOfRows = ([name, key]: readonly string[]) => name === 'MGET' && key?.includes(':rows:');
  Object.assign(redis, {
    command: (...args: string[]) =>
      isOfRows(args) ? Promise.reject(new Error('no connection')) : command(...args),
  });
}

/** Another holds the lease for a moment, and leaves this. */
async function left(state: SteeringState): Promise<void> {
  const before = redis.values.get(KEYS.lease);
  hold('another');
  const store = new SharedHistory({ redis, keys: KEYS, token: 'another', now: () => clock.now() });
  await store.open();
  await store.write([{ ...NO_WRITE, steering: { label: 'chat', state } }], clock.now());
  if (typeof before === 'string') hold(before);
}

/** A change of its own, which it did send. */
async function changed(): Promise<void> {
  const baseline = { ...parameters, cold_workers: 7 };
  const change = changeOf({ from: { cold_workers: TODAY }, to: { cold_workers: 7 }, phase: 'watching' });
  await left({ ...NEVER_STEERED, baseline, change: { ...change, endpointId: 0, setMs: clock.now() } });
  parameters = baseline;
}

const stored = (): SteeringState =>
  JSON.parse(
    (redis.values.get(KEYS.fleetSteering) as Map<string, string>).get('chat') ?? '',
  ) as SteeringState;

describe('who holds the lease again after another', () => {
  test('puts back what the other has changed, and begins nothing new for an hour', async () => {
    const replica = await new Replica('one').start();
    await replica.minutes(BEFORE - 1);
    expect(replica.holds).toBe('advice is awaited');
    await left({ ...NEVER_STEERED, baseline: parameters });
    await replica.minutes(1);
    expect([replica.holds, sent]).toEqual(['nothing moves in the first hour after a start', []]);
    await changed();
    await replica.minutes(1);
    expect(replica.holds).toBe('a change is on trial');
    await replica.minutes(5, CROWDED);
    expect(sent).toEqual([{ cold_workers: TODAY }]);
    expect(replica.notices.map(({ kind }) => kind)).toEqual(['old values go back', 'steering ended']);
  });

  test('in the midst of a look sends nothing, and stores nothing in the place of what the other left', async () => {
    const replica = await new Replica('one').start();
    await replica.minutes(BEFORE - 1);
    replica.whileListing = async () => {
      replica.whileListing = () => Promise.resolve();
      await changed();
    };
    await replica.minutes(1);
    expect([sent, stored().change?.to]).toEqual([[], { cold_workers: 7 }]);
    expect(replica.notices).toEqual([]);
    await replica.minutes(1);
    expect(replica.holds).toBe('a change is on trial');
  });

  test.each([
    ['what the other left', { isRead: true, fails: false }],
    ['of what the other left what steering did alone', { isRead: true, fails: true }],
    ['what the other left after it has decided', { isRead: false, fails: false }],
  ])('and has read %s in the midst of a look, neither', async (_, { isRead, fails }) => {
    const replica = await new Replica('one').start();
    await replica.minutes(BEFORE - 1);
    replica.whileReading(async () => {
      await changed();
      if (fails) rowsFail();
      // Another look finds it out.
      replica.look();
      const { signal } = new AbortController();
      if (isRead) await replica.history.isSteeringCurrent(5_000, signal);
      else await clock.sleep(2_000, signal);
    });
    await replica.minutes(1);
    await clock.advance(10_000);
    expect([sent, stored().change?.to]).toEqual([[], { cold_workers: 7 }]);
    expect(replica.notices).toEqual([]);
  });

  test.each([false, true])(
    'stores nothing any more that it decided before, though the rest cannot be read: %s',
    async (fails) => {
      const replica = await new Replica('one').start();
      await replica.minutes(1);
      hold('nobody');
      const steering = { label: 'chat', state: { ...NEVER_STEERED, baseline: parameters } };
      const recorded = replica.history.recordSteering(steering, 60_000, AbortSignal.timeout(60_000));
      const refused = expect(recorded).rejects.toThrow(/could not be written down/);
      await changed();
      hold('one');
      if (fails) rowsFail();
      await clock.advance(15_000);
      await refused;
      expect(stored().change?.to).toEqual({ cold_workers: 7 });
    },
  );
});

describe('where Redis takes nothing more', () => {
  /** A replica with a change on trial. */
  async function onTrial() {
    const replica = await new Replica('one').start();
    await replica.minutes(BEFORE + 5);
    expect(sent).toEqual([{ cold_workers: BEST }]);
    const full = { isFull: true };
    const command = redis.command.bind(redis);
    Object.assign(redis, {
      command: (...args: string[]) =>
        full.isFull && args[0] === 'EVAL' ? Promise.reject(new Error('OOM')) : command(...args),
    });
    return { replica, full };
  }

  test('old values go back all the same', async () => {
    const { replica } = await onTrial();
    await replica.minutes(3, CROWDED);
    await clock.advance(5_000);
    expect(sent).toEqual([{ cold_workers: BEST }, { cold_workers: TODAY }]);
  });

  test('they do not once another has stored something since', async () => {
    const { replica, full } = await onTrial();
    await replica.minutes(2, CROWDED);
    replica.whileReading(async () => {
      full.isFull = false;
      await changed();
      full.isFull = true;
    });
    await replica.minutes(1, CROWDED);
    await clock.advance(5_000);
    expect(sent).toEqual([{ cold_workers: BEST }]);
    await replica.minutes(1);
    expect(replica.holds).toBe('a change is on trial');
  });
});

test('Redis counts, and not the own clock, where that stood still with the machine', async () => {
  const replica = await new Replica('one').start();
  await replica.minutes(BEFORE - 1);
  hold('another');
  await replica.minutes(3);
  await clock.advance(5_000);
  expect([sent, replica.notices]).toEqual([[], []]);
});

test('a Redis that has lost everything gets it again from the holder, who goes on', async () => {
  const replica = await new Replica('one').start();
  await replica.minutes(BEFORE + 2);
  expect(replica.holds).toBe('a change is on trial');
  redis.values.clear();
  hold('one');
  await replica.minutes(1);
  expect(stored().change).toMatchObject({ id: 1, phase: 'watching' });
  await replica.minutes(5, CROWDED);
  expect(sent).toEqual([{ cold_workers: BEST }, { cold_workers: TODAY }]);
});

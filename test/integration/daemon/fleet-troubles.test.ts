/** Each trouble by name, as a running daemon tells it from the emulator; and ordinary endpoints, at which none is seen. */
import { expect, test } from 'vitest';
import {
  startEmulator,
  type Emulator,
  type EmulatorOptions,
  type Seed,
} from '../../../src/emulator/index.ts';
import type { TroubleName } from '../../../src/fleet/troubles/troubles.ts';
import type { EndpointView } from '../../../src/fleet/view.ts';
import { serviceOf, startTestDaemon, until, type TestDaemon } from '../../support/daemon.ts';
import { VirtualClock } from '../../support/log-time.ts';

const SECOND = 1000;
const LOOK_SECONDS = 30;

/** A daemon and the emulator, whose clocks move together. */
class World implements AsyncDisposable {
  readonly emulator: Emulator;
  readonly daemon: TestDaemon;
  readonly #clock: VirtualClock;

  constructor(emulator: Emulator, daemon: TestDaemon, clock: VirtualClock) {
    [this.emulator, this.daemon, this.#clock] = [emulator, daemon, clock];
  }

  static async start(seed: Seed, traits: EmulatorOptions['traits'] = {}): Promise<World> {
    const begins = Date.now();
    const clock = new VirtualClock(begins);
    const emulator = await startEmulator({
      dialect: 'public',
      clock: { frozenAtMs: begins },
      seed,
      traits,
    });
    const watching = {
      ENDPOINTS: 'all',
      FLEET_INTERVAL: `${LOOK_SECONDS}s`,
      INSTANCES_SCHEDULE: '* * * * * *',
    };
    const daemon = await startTestDaemon({ ...serviceOf(emulator), ...watching }, { fleetClock: clock });
    await until(() => daemon.daemon.fleet.view().endpoints.length === seed.endpoint_groups?.length);
    return new World(emulator, daemon, clock);
  }

  view(name: string) {
    const found = this.daemon.daemon.fleet.view().endpoints.find(({ endpoint }) => endpoint === name);
    if (!found) throw new Error(`${name} is not watched`);
    return found;
  }

  /** Each endpoint is looked at in each step. */
  async pass(seconds: number, step: () => Promise<unknown> = async () => {}): Promise<void> {
    for (let passed = 0; passed < seconds; passed += LOOK_SECONDS) {
      const from = this.#clock.now();
      await step();
      await this.emulator.clock.advance(LOOK_SECONDS * SECOND);
      await this.#clock.advance(LOOK_SECONDS * SECOND);
      // An endpoint that is new is looked at in the next step.
      const patience = performance.now() + 1_000;
      const isSeen = ({ sampledAtMs = 0, lastError }: EndpointView) =>
        sampledAtMs > from || lastError !== undefined || performance.now() > patience;
      await until(() => this.daemon.daemon.fleet.view().endpoints.every(isSeen));
    }
  }

  /** Endpoint and trouble of each log line that says so. */
  told(message: string): string[] {
    const lines = this.daemon.messages.filter(({ msg }) => msg === message);
    return lines.map(({ endpoint, trouble }) => `${String(endpoint)}: ${String(trouble)}`);
  }

  async call(method: string, path: string, body?: object): Promise<{ id?: number; result?: number }> {
    const headers = { authorization: `Bearer ${this.emulator.apiKey}`, 'content-type': 'application/json' };
    const url = `${this.emulator.url}/api/v0/${path}`;
    const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    expect(answer.status, path).toBe(200);
    return (await answer.json()) as { id?: number; result?: number };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon.stop();
    await this.emulator.close();
  }
}

const BEGUN = 'endpoint trouble began';
const OVER = 'endpoint trouble ended';
const ONE = { cold_mult: 1, cold_workers: 0, max_workers: 1 };
const NAMES = [
  'not_recruiting',
  'churn',
  'flapping',
  'slow_start',
  'stuck_requests',
  'slow_machine',
  'price_above_filter',
  'deletes_soon',
] as const satisfies readonly TroubleName[];
const OWN_WORKERS: Partial<Record<TroubleName, number[]>> = {
  not_recruiting: [101],
  stuck_requests: [501],
  slow_machine: [601, 602, 603],
  price_above_filter: [701],
};
const MORE: Partial<Record<TroubleName, object>> = {
  not_recruiting: { min_cold_load: 100 },
  churn: { max_workers: 3 },
  flapping: { cold_workers: 1, load: constant(500) },
  slow_start: { load: constant(500) },
  stuck_requests: { min_load: 100 },
  slow_machine: { max_workers: 4, min_load: 3_000 },
  price_above_filter: { min_load: 100 },
  deletes_soon: { deployment_id: 42 },
};

function constant(rate: number) {
  return { shape: 'constant', rate, request_work: 100, sizes: 'fixed' } as const;
}

/** Of each trouble an endpoint that has it, by the name of the trouble. */
const TROUBLED: Seed = {
  deployments: [{ id: 42, ttl: 7_200 }],
  endpoint_groups: NAMES.map((name, place) => ({
    id: place + 1,
    endpoint_name: name,
    ...ONE,
    ...MORE[name],
  })),
  instances: Object.values(OWN_WORKERS)
    .flat()
    .map((id) => ({ id, machine_id: 11, dph_total: id === 701 ? 0.201 : 0.4 })),
  workergroups: NAMES.map((name, place) => ({
    id: place + 1,
    endpoint_id: place + 1,
    lines_per_second: 0,
    workers: OWN_WORKERS[name] ?? [],
  })),
};

test('a daemon tells each trouble by its name, and when it is over', { timeout: 300_000 }, async () => {
  await using world = await World.start(TROUBLED, { cold_at_max: 'flaps' });
  const { emulator } = world;
  await world.call('PUT', 'workergroups/7/', { search_params: 'dph_total<=0.15' });
  for (const name of ['churn', 'slow_start']) emulator.endpointGroups.hang(name, true);
  emulator.workers.set(101, { stranded: true });
  emulator.workers.set(501, { stuck_requests: 1 });
  emulator.workers.set(602, { perf: 200 });
  await world.pass(150);
  expect(world.view('not_recruiting').sample?.workers).toEqual({ stopped: 1 });
  emulator.load.set('not_recruiting', constant(500));
  emulator.load.set('churn', constant(2_000));
  await world.pass(2_700);
  const metrics = await world.daemon.metrics();
  for (const name of NAMES) {
    expect(world.told(BEGUN)).toContain(`${name}: ${name}`);
    expect(metrics).toContain(`pilotlight_endpoint_trouble{trouble="${name}",endpoint_group="${name}"} 1\n`);
  }
  const others = world.told(BEGUN).filter((each) => !NAMES.some((name) => each === `${name}: ${name}`));
  expect(others).toEqual(['churn: slow_start']);
  expect(metrics).toContain('pilotlight_endpoint_churned_workers_total{endpoint_group="churn"} 3\n');
  expect(metrics).toMatch(/^pilotlight_endpoint_churned_spend_total\{endpoint_group="churn"\} 0\.[1-9]/m);

  emulator.workers.set(501, { stuck_requests: 0 });
  emulator.workers.set(602, { perf: 1_000 });
  await world.pass(150);
  expect(world.told(OVER).toSorted()).toEqual([
    'slow_machine: slow_machine',
    'stuck_requests: stuck_requests',
  ]);
});

const ORDINARY: Seed = {
  deployments: [{ id: 42, ttl: 300 }],
  // Near the limit, and not beyond it.
  settings: { workerModelLoadingSeconds: 600 },
  endpoint_groups: [
    {
      id: 1,
      endpoint_name: 'day',
      cold_workers: 2,
      max_workers: 6,
      deployment_id: 42,
      load: { shape: 'diurnal', rate: 1_800, peak_ratio: 10, period_seconds: 1_800 },
    },
    { id: 2, endpoint_name: 'anew', ...ONE, max_workers: 2, load: constant(1_200) },
  ],
  instances: [],
  workergroups: [1, 2].map((id) => ({ id, endpoint_id: id, lines_per_second: 0 })),
};

test(
  'and none at endpoints that scale, start slowly or are deployed anew',
  { timeout: 300_000 },
  async () => {
    await using world = await World.start(ORDINARY);
    const heartbeat = () => world.call('POST', 'deployment/42/heartbeat');
    await world.pass(900, heartbeat);
    await world.call('DELETE', 'endptjobs/2/');
    const { result } = await world.call('POST', 'endptjobs/', {
      endpoint_name: 'anew',
      ...ONE,
      max_workers: 2,
    });
    await world.call('POST', 'workergroups/', {
      endpoint_name: 'anew',
      launch_args: '--image x',
      test_workers: 0,
    });
    world.emulator.load.set('anew', constant(1_200));
    await world.pass(1_800, heartbeat);
    expect(world.view('anew').id).toBe(result);
    expect(world.told(BEGUN)).toEqual([]);
    const metrics = await world.daemon.metrics();
    expect(metrics).toContain('pilotlight_endpoint_trouble{trouble="deletes_soon",endpoint_group="day"} 0\n');
    expect(metrics).not.toMatch(/^pilotlight_endpoint_trouble\{.*\} 1$/m);
  },
);

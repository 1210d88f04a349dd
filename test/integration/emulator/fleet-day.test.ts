/**
 * The emulator's fleet against the planner: the same model on another clock, so what the workers of an endpoint do
 * over a day (in `npm test` a third of one), looked at from outside, is what a plan for the same load says. A difference is a bug.
 */
import { expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import type { EndpointGroupParameters } from '../../../src/contract/operations/serverless/endpoint-groups.ts';
import {
  startEmulator,
  type Emulator,
  type EmulatorOptions,
  type LoadInput,
} from '../../../src/emulator/index.ts';
import { type Arrival, generateLoad } from '../../../src/scaling/planner/load.ts';
import { Simulation } from '../../../src/scaling/planner/plan.ts';
import type { PlanResult } from '../../../src/scaling/planner/model/stats.ts';
import { resolveDefaults } from '../../../src/scaling/rules/check.ts';
import { isLong } from '../../support/long.ts';

const START = Date.UTC(2026, 0, 1);
const HOURS = isLong ? 24 : 8;
/** The clock is stopped while one looks, and moved by so much between two looks; no multiple of what the engine does. */
const LOOK_SECONDS = 29;
const PARAMETERS: EndpointGroupParameters = { endpoint_name: 'chat', max_workers: 30, cold_workers: 4 };

const LOAD = {
  shape: 'bursts',
  rate: 2_000,
  request_work: 400,
  burst_ratio: 4,
  burst_every_seconds: 1_800,
  burst_seconds: 300,
  seed: 5,
} as const satisfies LoadInput;

/** Up to and at the end of the day. */
function requests(): Iterable<Arrival> {
  return generateLoad({
    shape: LOAD.shape,
    unitsPerSecond: LOAD.rate,
    unitsPerRequest: LOAD.request_work,
    seconds: HOURS * 3600,
    seed: LOAD.seed,
    burstRatio: LOAD.burst_ratio,
    burstEverySeconds: LOAD.burst_every_seconds,
    burstSeconds: LOAD.burst_seconds,
  });
}

const OPTIONS: EmulatorOptions = {
  dialect: 'public',
  clock: { frozenAtMs: START },
  settings: { workerPerformanceLeast: 200, workerPerformanceMost: 320 },
  seed: {
    instances: [],
    workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 1 }],
    endpoint_groups: [{ id: 31, ...PARAMETERS, load: LOAD }],
  },
};

/** Worker seconds by what workers are, as one sees it who asks the service again and again. */
async function watchDay(emulator: Emulator, client: Client, seconds: number) {
  const seen = { hot: 0, cold: 0, starting: 0 };
  for (let at = 0; at < seconds; at += LOOK_SECONDS) {
    const { workers } = await client.endpointGroups.workers({ id: 31 });
    const passes = Math.min(LOOK_SECONDS, seconds - at);
    for (const { status } of workers) {
      if (status === 'idle' || status === 'stopping') seen.hot += passes;
      else if (status === 'stopped') seen.cold += passes;
      else if (status !== 'destroying') seen.starting += passes;
    }
    await emulator.clock.advance(passes * 1000);
  }
  return seen;
}

function planFor(emulator: Emulator): PlanResult {
  const { planSettings: settings } = emulator.endpointGroups.get('chat');
  const simulation = new Simulation({ parameters: resolveDefaults(PARAMETERS), settings });
  for (const { atSeconds, work } of requests()) simulation.arrive(atSeconds, work);
  return simulation.finish(HOURS * 3600);
}

test(`${HOURS} hours of an endpoint are for its workers what the planner says, over HTTP, in seconds`, async () => {
  await using emulator = await startEmulator(OPTIONS);
  await using client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  const seen = await watchDay(emulator, client, HOURS * 3600);
  const plan = planFor(emulator);
  // A plan runs on until its last request is done.
  emulator.load.stop('chat');
  await emulator.clock.advance((plan.seconds - HOURS * 3600) * 1000);

  const { queueTime, workerSeconds, taken, starts } = emulator.endpointGroups.get('chat');
  expect(taken).toBe(plan.requests);
  expect(taken).toBeGreaterThan(16_000 * HOURS);
  expect(queueTime.p99).toBeGreaterThan(1);
  expect(queueTime).toEqual(plan.queueTime);
  expect(starts).toEqual(plan.starts);
  for (const kind of ['hot', 'cold', 'starting'] as const) {
    const planned = plan.workerHours[kind] * 3600;
    expect(workerSeconds[kind] / planned, kind).toBeCloseTo(1, 6);
    expect(Math.abs(seen[kind] / planned - 1), `${kind}, as seen`).toBeLessThan(0.05);
  }
});

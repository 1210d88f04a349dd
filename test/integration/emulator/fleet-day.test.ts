/**
 * The emulator's fleet against the planner: the same model on another clock, so what the workers of an endpoint do
 * over a day, looked at from outside, is what a plan for the same load says. A difference is a bug.
 */
import { expect, test } from 'vitest';
import { openTrace } from '../../../src/cli/plan/trace/trace.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import type { EndpointGroupParameters } from '../../../src/contract/operations/serverless/endpoint-groups.ts';
import {
  startEmulator,
  type Emulator,
  type EmulatorOptions,
  type LoadInput,
} from '../../../src/emulator/index.ts';
import { RecordedLoad, type Arrival } from '../../../src/scaling/planner/load/load.ts';
import { Simulation } from '../../../src/scaling/planner/plan.ts';
import type { PlanResult } from '../../../src/scaling/planner/result.ts';
import { resolveDefaults } from '../../../src/scaling/rules/check.ts';
import { describeWithRealData, realData } from '../../support/real-data.ts';

const START = Date.UTC(2026, 0, 1);
const HOURS = 24;
/** The clock is stopped while one looks, and moved by so much between two looks; no multiple of what the engine does. */
const LOOK_SECONDS = 29;
const PARAMETERS: EndpointGroupParameters = { endpoint_name: 'chat', max_workers: 30, cold_workers: 4 };

interface Trace {
  readonly at_seconds: number[];
  readonly work: number[];
}

async function realTrace(): Promise<Trace> {
  const options = {
    weights: new Map([
      ['ContextTokens', 0.1],
      ['GeneratedTokens', 1],
    ]),
    requestWork: undefined,
  };
  const { arrivals } = await openTrace(`${realData}azure-llm-2023-conv.csv`, options);
  const load = [...(await RecordedLoad.from(arrivals))];
  return { at_seconds: load.map(({ atSeconds }) => atSeconds), work: load.map(({ work }) => work) };
}

/** Again and again, up to and at the end of the day. */
function* looped({ at_seconds, work }: Trace, period: number): Generator<Arrival> {
  for (let round = 0; ; round += 1) {
    for (const [index, at] of at_seconds.entries()) {
      const atSeconds = round * period + at;
      if (atSeconds > HOURS * 3600) return;
      yield { atSeconds, work: work[index] ?? 0 };
    }
  }
}

function seedOf(load: LoadInput, settings: EmulatorOptions['settings'] = {}): EmulatorOptions {
  return {
    dialect: 'public',
    clock: { frozenAtMs: START },
    settings: { workerPerformanceLeast: 200, workerPerformanceMost: 320, ...settings },
    seed: {
      instances: [],
      workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 1 }],
      endpoint_groups: [{ id: 31, ...PARAMETERS, load }],
    },
  };
}

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

function planFor(emulator: Emulator, load: Iterable<Arrival>): PlanResult {
  const { planSettings: settings } = emulator.endpointGroups.get('chat');
  if (!settings) throw new Error('no engine');
  const simulation = new Simulation({ parameters: resolveDefaults(PARAMETERS), settings });
  for (const { atSeconds, work } of load) simulation.arrive(atSeconds, work);
  return simulation.finish(HOURS * 3600);
}

describeWithRealData('a day of a real load', () => {
  test('is for its workers what the planner says, over HTTP, in seconds', async () => {
    const trace = await realTrace();
    await using emulator = await startEmulator(seedOf({ shape: 'trace', ...trace, period_seconds: 3600 }));
    await using client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
    const seen = await watchDay(emulator, client, HOURS * 3600);
    const plan = planFor(emulator, looped(trace, 3600));
    // A plan runs on until its last request is done.
    emulator.load.stop('chat');
    await emulator.clock.advance((plan.seconds - HOURS * 3600) * 1000);

    const { queueTime, workerSeconds, taken, starts } = emulator.endpointGroups.get('chat');
    expect(taken).toBe(plan.requests);
    expect(taken).toBeGreaterThan(400_000);
    expect(queueTime.p99).toBeGreaterThan(1);
    expect(queueTime).toEqual(plan.queueTime);
    expect(starts).toEqual(plan.starts);
    for (const kind of ['hot', 'cold', 'starting'] as const) {
      const planned = plan.workerHours[kind] * 3600;
      expect(workerSeconds[kind] / planned, kind).toBeCloseTo(1, 6);
      expect(Math.abs(seen[kind] / planned - 1), `${kind}, as seen`).toBeLessThan(0.05);
    }
  });
});

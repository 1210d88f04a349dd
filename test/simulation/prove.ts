import { beginnings, concurrencyLimit, connections } from './crowds.ts';
import { BROKEN_ENGINES, BROKEN_LIMITERS, type BrokenEngine, type BrokenLimiter } from './broken-engines.ts';
import { chaos, chaosUnderLimit, chaosUnderUnnamedLimit } from './chaos.ts';
import { limiter as namedLimiter, unnamedLimiter } from './limiter.ts';
import { mistakes, outages } from './outages.ts';
import { needed } from './needed.ts';
import { oneKey, oneKeyInChaos, oneKeyShares, sidecars } from './one-key.ts';
import { farewell, resume, rotation, slowness } from './recoveries.ts';
import type { Scenario } from './scenario.ts';
import { windows } from './windows.ts';

export const SCENARIOS = {
  windows,
  outages,
  mistakes,
  chaos,
  chaosUnderLimit,
  chaosUnderUnnamedLimit,
  concurrency: concurrencyLimit,
  beginnings,
  limiter: namedLimiter,
  unnamedLimiter,
  connections,
  rotation,
  resume,
  farewell,
  slowness,
  needed,
  oneKey,
  oneKeyInChaos,
  oneKeyShares,
  sidecars,
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;

/** How many schedules the large scenarios run: SIMULATION_RUNS in the environment, or 50: each mistake that
 * broken-engines.test.ts makes is noticed by the first fifty. */
export const RUNS = Number(process.env['SIMULATION_RUNS'] ?? 50);

export function runsAt(cost: number): number {
  return Math.max(2, Math.ceil(RUNS / cost));
}

/** Which part of the schedules, of how many parts: SIMULATION_PART in the environment, as 2/5, or all. */
const [PART = 1, PARTS = 1] = (process.env['SIMULATION_PART'] ?? '1/1').split('/').map(Number);

export function seedsOf(runs: number): readonly [first: number, last: number] {
  return [Math.floor((runs * (PART - 1)) / PARTS) + 1, Math.floor((runs * PART) / PARTS)];
}

/** Virtual time is fast, but a million runs take a while, ms; and a busy machine is several times slower. */
export const PATIENCE = Math.max(300_000, RUNS * 100);

export interface Search {
  readonly runs: number;
  /** Windows or outages of this part of the bound. Default 1. */
  readonly factor?: number;
  readonly engine?: BrokenEngine;
  readonly limiter?: BrokenLimiter;
  readonly enough?: number;
}

export interface Finding {
  readonly runs: number;
  readonly violations: number;
  readonly examples: readonly string[];
}

export async function search(scenario: ScenarioName, options: Search): Promise<Finding> {
  const { factor, engine, limiter, enough = Infinity } = options;
  const step = engine === undefined ? undefined : BROKEN_ENGINES[engine];
  const broken = limiter === undefined ? {} : BROKEN_LIMITERS[limiter];
  const examples: string[] = [];
  let violations = 0;
  let requests = 0;
  const [first, last] = seedsOf(options.runs);
  let seed = first - 1;
  const start = performance.now();
  while (seed < last && violations < enough) {
    seed += 1;
    const result = await SCENARIOS[scenario]({ seed, factor, step, ...broken });
    requests += result.requests;
    if (result.violations.length === 0) continue;
    violations += 1;
    if (examples.length < 5)
      examples.push(`${result.violations[0]} -- ${replayCommand(scenario, seed, options)}`);
  }
  if (engine === undefined && limiter === undefined) {
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const size = factor === undefined ? '' : ` at ${factor} of the bound`;
    console.log(
      `${scenario}${size}: seeds ${first} to ${seed}, ${requests} requests, ${seconds} s, ${violations} violations`,
    );
  }
  return { runs: seed - first + 1, violations, examples };
}

function replayCommand(scenario: ScenarioName, seed: number, { factor, engine, limiter }: Search): string {
  const size = factor === undefined ? '' : ` --factor ${factor}`;
  const broken = engine === undefined ? '' : ` --engine '${engine}'`;
  const limited = limiter === undefined ? '' : ` --limiter '${limiter}'`;
  return `npx node test/simulation/replay.ts ${scenario} ${seed}${size}${broken}${limited}`;
}

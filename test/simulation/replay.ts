/**
 * Prints the timeline of one run: `npx node test/simulation/replay.ts SCENARIO SEED [--factor F] [--engine NAME] [--limiter NAME]`.
 * Lines with arrows are the network's, indented ones the engine's notices, those with = the scenario's.
 */

import { parseArgs } from 'node:util';
import { BROKEN_ENGINES, BROKEN_LIMITERS, type BrokenEngine, type BrokenLimiter } from './broken-engines.ts';
import { SCENARIOS, type ScenarioName } from './prove.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { factor: { type: 'string' }, engine: { type: 'string' }, limiter: { type: 'string' } },
});
const [scenario = '', seed = ''] = positionals;

if (!Object.hasOwn(SCENARIOS, scenario) || !/^\d+$/.test(seed)) {
  console.error(`usage: replay.ts ${Object.keys(SCENARIOS).join('|')} SEED [--factor F] [--engine NAME]`);
  process.exitCode = 2;
} else {
  const step = values.engine === undefined ? undefined : BROKEN_ENGINES[values.engine as BrokenEngine];
  const broken = values.limiter === undefined ? {} : BROKEN_LIMITERS[values.limiter as BrokenLimiter];
  const factor = values.factor === undefined ? undefined : Number(values.factor);
  const result = await SCENARIOS[scenario as ScenarioName]({
    seed: Number(seed),
    factor,
    step,
    ...broken,
    trace: true,
  });
  console.log(result.trace.join('\n'));
  console.log(result.violations.length === 0 ? 'Every promise was kept.' : result.violations.join('\n'));
  process.exitCode = result.violations.length === 0 ? 0 : 1;
}

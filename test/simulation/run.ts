/** `npm run test:long -- --runs 1000000`: the simulation with more schedules than the normal test run has time for. */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '100000' } } });
if (!/^[1-9]\d*$/.test(values.runs)) {
  process.stderr.write(`--runs: got ${values.runs}; allowed: a whole number from 1\n`);
  process.exit(2);
}
const { status } = spawnSync(
  'vitest',
  ['run', '--config', 'test/vitest.config.ts', '--project', 'simulation'],
  { stdio: 'inherit', env: { ...process.env, SIMULATION_RUNS: values.runs } },
);
process.exit(status ?? 1);

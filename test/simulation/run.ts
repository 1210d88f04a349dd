/**
 * `npm run test:long -- --runs 1000000`: the simulation with more schedules than the normal test run has time for; with
 * a folder behind it, such as test/simulation/advice, of that alone.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { runs: { type: 'string', default: '100000' }, steered: { type: 'string', default: '1000' } },
  allowPositionals: true,
});
for (const [name, value] of Object.entries(values)) {
  if (/^[1-9]\d*$/.test(value)) continue;
  process.stderr.write(`--${name}: got ${value}; allowed: a whole number from 1\n`);
  process.exit(2);
}
const { status } = spawnSync(
  'vitest',
  ['run', '--config', 'test/vitest.config.ts', '--project', 'simulation', ...positionals],
  {
    stdio: 'inherit',
    env: { ...process.env, SIMULATION_RUNS: values.runs, STEERING_WORLDS: values.steered },
  },
);
process.exit(status ?? 1);

/**
 * `npm run test:long -- [NAME] [--runs 1000000] [--part 2/5]`: more schedules than `npm test` has time for; of suites with
 * the name in their path alone; the second fifth of the seeds.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

/** A test of a minute takes twenty here. */
const PATIENCE = '--test-timeout=1800000';

const { values, positionals } = parseArgs({
  options: { runs: { type: 'string', default: '100000' }, part: { type: 'string', default: '1/1' } },
  allowPositionals: true,
});
const { part, ...counts } = values;
const [, which = 0, of = 0] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(part)?.map(Number) ?? [];
if (which < 1 || which > of) {
  process.stderr.write(`--part: got ${part}; allowed: k/n, k from 1 to n\n`);
  process.exit(2);
}
for (const [name, value] of Object.entries(counts)) {
  if (/^[1-9]\d*$/.test(value)) continue;
  process.stderr.write(`--${name}: got ${value}; allowed: a whole number from 1\n`);
  process.exit(2);
}
const project =
  (['integration', 'unit', 'alone'] as const).find((each) =>
    positionals.some((name) => name.includes(each)),
  ) ?? 'simulation';
const { status } = spawnSync(
  'vitest',
  ['run', '--config=test/vitest.config.ts', `--project=${project}`, PATIENCE, ...positionals],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      SIMULATION_RUNS: values.runs,
      SIMULATION_PART: part,
      KILLS: '200',
      STALL_MINUTES: '5',
      RATE_SCHEDULES: '50',
      OUTAGE_OFFSETS: '20',
      RANDOM_REQUESTS: '1000',
      ...(project === 'unit' && { PROPERTY_TIMES: '50' }),
    },
  },
);
process.exit(status ?? 1);

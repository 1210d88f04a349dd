/**
 * `npm run test:long -- --runs 1000000`: the simulation with more schedules than the normal test run has time for; with
 * a name behind it, such as logs, of the suites that have it in their path alone; with `--part 2/5`, the second fifth of
 * the seeds of those that print them. `npm run test:long -- test/integration/logs` kills the program 200 times, blocks
 * stdout for five minutes, and follows 50 schedules of rates for each real log; `test/alone/outages` has 20 outages
 * of each kind, `test/integration/daemon/replicas` kills replicas thirty times, and `test/integration/emulator` makes a
 * thousand random requests of each operation, `test/integration/doctor` goes through each pair of traits, and a day of four services. With a name such as `test/unit/logs` each property runs fifty times as
 * often as in `npm test`.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

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
// A test of a minute takes twenty there.
const patience = project === 'unit' ? ['--test-timeout', '1800000'] : [];
const { status } = spawnSync(
  'vitest',
  ['run', '--config', 'test/vitest.config.ts', '--project', project, ...patience, ...positionals],
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

/**
 * `npm run test:mutation -- src/heartbeat/engine [--lines 200] [--seed 1] [--tests test/unit/heartbeat]`: breaks the code
 * of rooms and files, one place after the other, runs the tests that reach it, and says which mutants none of them
 * noticed. With --lines only paragraphs of so many lines together, which chance chooses: a room is estimated in minutes.
 * Without it what was found before counts where neither code nor tests have changed since. The tests are those of
 * test/unit that mirror the room, and others in place of them where --tests names folders.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { roomsOf, unnoticedOf, type Report } from './report.ts';
import { chosenCode } from './sample.ts';

const REPORT = '.stryker-tmp/report.json';
const { values, positionals } = parseArgs({
  options: {
    lines: { type: 'string' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', multiple: true },
  },
  allowPositionals: true,
});
const [lines, seed] = [values.lines === undefined ? undefined : Number(values.lines), Number(values.seed)];
if (positionals.length === 0 || !(lines === undefined || lines > 0) || !Number.isInteger(seed)) {
  process.stderr.write('usage: npm run test:mutation -- PATH... [--lines N] [--seed N]\n');
  process.exit(2);
}
const mutate = chosenCode(positionals, lines, seed).join(',');
const again = lines === undefined ? ['--incremental'] : [];
const rooms = positionals.map((path) => path.split('/')[1] ?? '');
const tests = values.tests ?? [...new Set(rooms)].map((room) => `test/unit/${room}`);
const started = performance.now();
const { status } = spawnSync('stryker', ['run', '.config/stryker.json', '--mutate', mutate, ...again], {
  stdio: 'inherit',
  env: { ...process.env, MUTATION_TESTS: tests.join(',') },
});
if (status !== 0) process.exit(status ?? 1);
const report = JSON.parse(readFileSync(REPORT, 'utf8')) as Report;
const minutes = ((performance.now() - started) / 60_000).toFixed(0);
const sample = lines === undefined ? 'all of it' : `${lines} lines of it, seed ${seed}`;
process.stdout.write(
  [
    ...unnoticedOf(report),
    '',
    '| room | mutants | noticed | | not reached |',
    '| --- | --- | --- | --- | --- |',
    ...roomsOf(report),
    `${positionals.join(' ')}: ${sample}, against ${tests.join(' ')}, in ${minutes} min`,
    '',
  ].join('\n'),
);

/**
 * Keeps a history and kills itself at the nth statement. Sample i has load i, and worker i % 5 the
 * performance i. Arguments: STATE_DIR, n (0: never), before or after, number of samples, time of the first
 * (Unix ms).
 */
import { History } from '../../src/fleet/history/history.ts';
import { systemClock } from '../../src/time/clock.ts';
import { dieAtStatement } from './die-at-statement.ts';
import { sampleAt, workerLife } from './recorded-fleet.ts';

const [directory = '', statement = '0', when = 'before', samples = '0', begin = '0'] = process.argv.slice(2);
const BEGIN_MS = Number(begin);
const INTERVAL_MS = 15_000;

dieAtStatement(Number(statement), when === 'before' ? 'before' : 'after');

const fail = (notice: unknown): never => {
  process.stderr.write(`${JSON.stringify(notice)}\n`);
  process.exit(3);
};
const history = new History({
  directory,
  clock: systemClock,
  kept: () => ({ lives: [], starts: new Map(), known: undefined }),
  notice: fail,
});
await history.open();
const last = history.lastMs('chat');
const first = last === undefined ? 0 : (last - BEGIN_MS) / INTERVAL_MS + 1;
for (let index = first; index < Number(samples); index += 1) {
  history.record({
    sample: ['chat', sampleAt(BEGIN_MS + index * INTERVAL_MS, { load: index })],
    lives: [workerLife({ id: index % 5, perf: index })],
    starts: new Map([['chat', { new: [], cold: [index] }]]),
  });
  process.stdout.write(`${index}\n`);
}
await history.stop();

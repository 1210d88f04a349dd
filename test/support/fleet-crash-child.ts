/**
 * A process that keeps a history and kills itself at the nth statement that its database executes. Sample i has the load
 * i and worker i % 5, whose performance is i. Arguments: STATE_DIR, n (0: never), before or after, samples in all, and
 * when the first of them is, Unix ms: the same for each process that goes on.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { History } from '../../src/fleet/history/history.ts';
import { NOTHING_MEASURED } from '../../src/fleet/workers/measure.ts';
import type { WorkerLife } from '../../src/fleet/workers/lives.ts';
import { systemClock } from '../../src/time/clock.ts';

const [directory = '', statement = '0', when = 'before', samples = '0', begin = '0'] = process.argv.slice(2);
const BEGIN_MS = Number(begin);
const INTERVAL_MS = 15_000;

let statements = 0;
function kill(moment: string): void {
  if (when === moment && statements === Number(statement)) process.kill(process.pid, 'SIGKILL');
}
for (const [prototype, name] of [
  [DatabaseSync.prototype, 'exec'],
  [StatementSync.prototype, 'run'],
] as const) {
  const original = Reflect.get(prototype, name);
  Reflect.set(prototype, name, function execute(this: unknown, ...args: unknown[]): unknown {
    statements += 1;
    kill('before');
    const result: unknown = Reflect.apply(original, this, args);
    kill('after');
    return result;
  });
}

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
  const id = index % 5;
  const life: WorkerLife = {
    id,
    endpoint: 'chat',
    firstSeenMs: BEGIN_MS,
    changes: [['idle', BEGIN_MS]],
    start: undefined,
    perf: index,
    missed: 0,
    missingSinceMs: undefined,
  };
  const rest = {
    load_average: 0,
    load_in_flight: 0,
    capacity_hot: 0,
    capacity_cold: 0,
    requests_working: 0,
    spend_per_hour: 0,
  };
  const sample = {
    atMs: BEGIN_MS + index * INTERVAL_MS,
    measures: { ...NOTHING_MEASURED, load: index, ...rest },
    workers: { idle: 5 },
  };
  history.record({
    sample: ['chat', sample],
    lives: [life],
    starts: new Map([['chat', { new: [], cold: [index] }]]),
  });
  process.stdout.write(`${index}\n`);
}
await history.stop();

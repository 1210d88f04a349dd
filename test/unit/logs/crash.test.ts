import * as fc from '../../support/fast-check.ts';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GroupProgress } from '../../../src/logs/follower/group.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { childBundle } from '../../support/child-bundle.ts';
import { LogPolls } from '../../support/log-polls.ts';
import { LogService } from '../../support/log-service.ts';
import { openSpool, SOURCE } from '../../support/log-spool.ts';
import { memoryFolder } from '../../support/temporary-folder.ts';

const CHILD = new URL('../../support/log-crash-child.ts', import.meta.url);
let program: ReturnType<typeof childBundle>;
beforeAll(() => void (program = childBundle(CHILD)));
afterAll(() => program[Symbol.dispose]());

/**
 * Of the parent's doing: after so many answers, or so many
 * pieces of output. Of its own: at the nth statement.
 */
interface Death {
  readonly at: 'answer' | 'output' | 'before' | 'after';
  readonly count: number;
}

const death = fc.oneof(
  fc.record({ at: fc.constantFrom<Death['at']>('answer', 'output'), count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ at: fc.constantFrom<Death['at']>('before', 'after'), count: fc.integer({ min: 1, max: 900 }) }),
);

/** The child may die between the look and the send; without a callback that would be an error of the child. */
function deadAlready(): void {}

/** Lives until it dies, or until everything is delivered: what it printed, whole lines only. */
async function live(
  directory: string,
  log: ReturnType<typeof growing>,
  seen: Set<number>,
  { at, count }: Death,
) {
  const self = at === 'before' || at === 'after';
  const args = [directory, String(self ? count : 0), at];
  const child = fork(program.path, args, { execArgv: [], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const records: LogRecord[] = [];
  let [torn, answers, outputs, stopping] = ['', 0, 0, false];
  const stopWhenDone = () => {
    if (stopping || !log.isComplete() || seen.size < log.all.length || !child.connected) return;
    stopping = true;
    child.send('stop', deadAlready);
  };
  child.on('message', ({ tail }: { tail: number }) => {
    if (!child.connected) return;
    child.send({ answer: log.answer(tail) }, deadAlready);
    answers += 1;
    if (at === 'answer' && answers === count) child.kill('SIGKILL');
    stopWhenDone();
  });
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (torn + piece).split('\n');
    torn = lines.pop() ?? '';
    for (const line of lines) {
      const record: LogRecord = JSON.parse(line);
      records.push(record);
      seen.add(record.seq);
    }
    outputs += 1;
    if (at === 'output' && outputs === count) child.kill('SIGKILL');
    stopWhenDone();
  });
  await once(child, 'close');
  return records;
}

/** How often lines came, and when, differs from run to run. */
function lasting({ epoch, seq, streams }: Partial<GroupProgress> = {}) {
  const kept = Object.entries(streams ?? {}).map(([level, { window, isWhole, endsLines, pending }]) => [
    level,
    { window, isWhole, endsLines, pending },
  ]);
  return { epoch, seq, streams: kept };
}

/** A log that grows with each answer, by so many lines in turn. */
function growing(all: readonly string[], steps: readonly number[]) {
  const service = new LogService();
  let asked = 0;
  return {
    all,
    isComplete: () => service.lines.length === all.length,
    answer(tail: number) {
      const from = service.lines.length;
      service.writeLines(all.slice(from, from + (steps[asked++ % steps.length] ?? 1)));
      return service.answer(tail);
    },
  };
}

const LINES = Array.from({ length: 2_000 }, (_, index) => `line ${index % 700}`);

test('killed at any moment, the spool equals one that never was, and the sink sees all in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(death, { minLength: 1, maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 6 }),
      async (deaths, steps) => {
        using folder = memoryFolder();
        const log = growing(LINES, steps);
        const seen = new Set<number>();
        const bySeq = new Map<number, LogRecord>();
        for (const one of [...deaths, { at: 'answer', count: Infinity } as const]) {
          const records = await live(folder.path, log, seen, one);
          const [first] = records;
          // It goes on where the last one was, or repeats what that one had no time to acknowledge.
          if (first !== undefined) expect(bySeq.has(first.seq - 1) || first.seq === 1).toBe(true);
          records.forEach((record, index) => {
            expect(record.seq).toBe((first?.seq ?? 0) + index);
            expect(bySeq.get(record.seq) ?? record).toEqual(record);
            bySeq.set(record.seq, record);
          });
        }
        expect(log.isComplete()).toBe(true);
        const delivered = Array.from(bySeq.keys(), (_, index) => bySeq.get(index + 1));
        expect(delivered.map((record) => record && 'line' in record && record.line)).toEqual(log.all);
        expect(delivered.every((record) => record?.epoch === 1)).toBe(true);

        const uncrashed = new LogPolls();
        uncrashed.poll((tail) => log.answer(tail));
        const { spool } = await openSpool(folder.path);
        expect(lasting(spool.progress(SOURCE))).toEqual(lasting(uncrashed.state.progress));
        expect(spool.lag('stdout')).toBe(0);
        spool.close();
      },
    ),
    { numRuns: 2 },
  );
});

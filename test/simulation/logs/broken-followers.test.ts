/** Proves that the oracle sees: followers with a mistake are noticed, each by the kind of promise that it breaks. */
import { expect, test } from 'vitest';
import { advance, beginGroup, type Step } from '../../../src/logs/follower/group.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { describeWithRealData } from '../../support/real-data.ts';
import type { Fault } from './faulty-log.ts';
import { play, type Advance } from './world.ts';

const ENOUGH = 30;

/** With the records of each step, whose number is told, as `change` has them. */
function telling(change: (records: Step['records'], number: number) => Step['records']): () => Advance {
  return () => {
    let number = 0;
    return (state, result) => {
      const step = advance(state, result);
      number += 1;
      return { ...step, records: change(step.records, number) };
    };
  };
}

/** With each record as `change` has it. */
function rewriting(change: (record: LogRecord) => LogRecord | undefined): () => Advance {
  return telling((records) => records.map(change).filter((record) => record !== undefined));
}

const forgetful = (): Advance => {
  let number = 0;
  return (state, result) => {
    number += 1;
    if (number % 25 !== 0) return advance(state, result);
    const { epoch, seq, time } = state.progress;
    const empty = beginGroup({ source: { kind: 'workergroup', id: 7 }, start: 'all' });
    return advance({ ...empty, progress: { ...empty.progress, epoch, seq, time } }, result);
  };
};

const losing = telling((records) => (records.length > 20 ? records.slice(1) : records));
const repeating = telling((records) => [...records, ...records.slice(-1)]);
const silent = rewriting((record) => ('gap' in record ? undefined : record));
const boasting = rewriting((record) =>
  'gap' in record ? { ...record, gap: { ...record.gap, lost_min: 100 } } : record,
);
const cutting = rewriting((record) =>
  'line' in record && record.seq % 50 === 0 ? { ...record, line: record.line.slice(1) } : record,
);
const reversing = telling((records, number) => (number % 5 === 0 ? records.toReversed() : records));

describeWithRealData('a follower is noticed', () => {
  test.each<[string, string, Fault[], () => Advance]>([
    ['that loses a line of a long answer', 'silent', [], losing],
    ['that delivers the last line again', 'twice', [], repeating],
    ['that says nothing about what it lost', 'silent', ['wiped'], silent],
    ['that claims to have lost more than it did', 'lost_min', ['wiped'], boasting],
    ['that cuts lines', 'torn', ['bytes'], cutting],
    ['that changes the order', 'order', [], reversing],
    ['that forgets what it knows', 'twice', [], forgetful],
  ])('%s: %s', (_name, kind, faults, follower) => {
    const kinds = new Set<string>();
    for (let seed = 1; seed <= ENOUGH && !kinds.has(kind); seed++)
      for (const text of play({ seed, faults }, follower())) kinds.add(text.split(':')[0] ?? '');
    expect([...kinds]).toContain(kind);
  });
});

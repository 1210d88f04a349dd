/** Proves that the oracle sees: followers with a mistake are noticed, each by the kind of promise that it breaks. */
import { expect, test } from 'vitest';
import { advance, beginGroup, type Step } from '../../../src/logs/follower/group.ts';
import { describeWithRealData } from '../../support/real-data.ts';
import type { Fault } from './faulty-log.ts';
import { play, type Advance } from './world.ts';

const ENOUGH = 30;

function changed(change: (step: Step, number: number) => Step): () => Advance {
  return () => {
    let number = 0;
    return (state, result) => change(advance(state, result), (number += 1));
  };
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

describeWithRealData('a follower is noticed', () => {
  test.each<[string, string, Fault[], () => Advance]>([
    [
      'that loses a line of a long answer',
      'silent',
      [],
      changed((step) => ({
        ...step,
        records: step.records.length > 20 ? step.records.slice(1) : step.records,
      })),
    ],
    [
      'that delivers the last line again',
      'twice',
      [],
      changed((step) => ({ ...step, records: [...step.records, ...step.records.slice(-1)] })),
    ],
    [
      'that says nothing about what it lost',
      'silent',
      ['wiped'],
      changed((step) => ({ ...step, records: step.records.filter((record) => !('gap' in record)) })),
    ],
    [
      'that claims to have lost more than it did',
      'lost_min',
      ['wiped'],
      changed((step) => ({
        ...step,
        records: step.records.map((record) =>
          'gap' in record ? { ...record, gap: { ...record.gap, lost_min: 100 } } : record,
        ),
      })),
    ],
    [
      'that cuts lines',
      'torn',
      ['bytes'],
      changed((step) => ({
        ...step,
        records: step.records.map((record) =>
          'line' in record && record.seq % 50 === 0 ? { ...record, line: record.line.slice(1) } : record,
        ),
      })),
    ],
    [
      'that changes the order',
      'order',
      [],
      changed((step, number) => ({
        ...step,
        records: number % 5 === 0 ? step.records.toReversed() : step.records,
      })),
    ],
    ['that forgets what it knows', 'twice', [], forgetful],
  ])('%s: %s', (_name, kind, faults, follower) => {
    const kinds = new Set<string>();
    for (let seed = 1; seed <= ENOUGH && !kinds.has(kind); seed++)
      for (const text of play({ seed, faults }, follower()).broken) kinds.add(text.split(':')[0] ?? '');
    expect([...kinds]).toContain(kind);
  });
});

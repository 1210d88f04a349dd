import { describe, expect, test } from 'vitest';
import { MemorySpool } from '../../../../src/logs/spool/memory-spool.ts';
import { bytesOf, EpochOver, epochOfNow } from '../../../../src/logs/spool/spool.ts';
import { progressAt, record, recordsFrom } from '../../../support/log-records.ts';

const SIZE = JSON.stringify(record(1)).length;

function spool(sinks = ['a', 'b'], records = 1_000): MemorySpool {
  return new MemorySpool({ sinks, maxBytes: records * SIZE });
}

test('each sink gets all of it, and then it is gone', () => {
  const subject = spool();
  subject.append('workergroup/7', recordsFrom(1, 3), progressAt(3));
  expect([subject.hasGiven('a'), subject.take('a')?.lines.length, subject.hasGiven('a')]).toEqual([
    false,
    3,
    true,
  ]);
  const batch = subject.take('b');
  expect(batch).toMatchObject({ through: 3, records: recordsFrom(1, 3) });
  if (batch) subject.acknowledge('b', batch);
  expect([subject.standing('a'), subject.standing('b')]).toEqual([
    { lag: 3, dropped: 0 },
    { lag: 0, dropped: 0 },
  ]);
  expect(subject.waiting).toMatchObject({ from: 1, bytes: 3 * SIZE });
  if (batch) subject.acknowledge('a', batch);
  expect(subject.waiting).toMatchObject({ from: 4, bytes: 0 });
  expect([subject.take('a'), subject.hasGiven('a')]).toEqual([undefined, false]);
});

describe('where there is no more room', () => {
  test('the oldest go, and who has not taken them misses them', () => {
    const subject = spool(['a', 'b'], 3);
    subject.append('workergroup/7', recordsFrom(1, 2), progressAt(2));
    subject.take('a');
    expect(subject.append('workergroup/7', recordsFrom(3, 3), progressAt(5))).toEqual([
      { sink: 'b', records: 2, reason: 'overflow' },
    ]);
    expect([subject.standing('a'), subject.standing('b')]).toEqual([
      { lag: 5, dropped: 0 },
      { lag: 3, dropped: 2 },
    ]);
    expect(subject.take('b')?.records.map(({ seq }) => seq)).toEqual([3, 4, 5]);
  });

  test('what fits to the byte stays', () => {
    const subject = spool(['a'], 3);
    expect(subject.append('workergroup/7', recordsFrom(1, 3), progressAt(3))).toEqual([]);
    expect(subject.append('workergroup/7', recordsFrom(4, 1), progressAt(4))).toHaveLength(1);
  });
});

test('how far groups were followed is known, and nothing of others', () => {
  const subject = spool();
  subject.append('workergroup/7', [], progressAt(5));
  expect([subject.progress('workergroup/7'), subject.progress('workergroup/8')]).toEqual([
    progressAt(5),
    undefined,
  ]);
});

test('closed it holds nothing', () => {
  const subject = spool();
  subject.append('workergroup/7', recordsFrom(1, 3), progressAt(3));
  subject.close();
  expect(subject.waiting).toMatchObject({ from: 4, bytes: 0 });
  expect([...subject.waiting.records]).toEqual([]);
});

test('the epoch after a loss is the one that it is given', () => {
  expect(new MemorySpool({ sinks: [], epochAfterLoss: 5 }).epochAfterLoss).toBe(5);
  expect(spool().epochAfterLoss).toBeUndefined();
});

test('a record takes what its line does, in bytes, and what stands beside it', () => {
  expect([bytesOf(record(1, '')), bytesOf(record(1, 'ünï'))]).toEqual([200, 205]);
  const gap = { reason: 'reset', lost_min: 0, lost_estimate: 0 } as const;
  expect(bytesOf({ time: '', workergroup_id: 7, epoch: 1, seq: 1, gap })).toBe(200);
});

test('an epoch that is not known from before is one of the clock', () => {
  expect(epochOfNow({ now: () => 1_700_000_000_123.9 })).toBe(1_700_000_000_123);
  const over = new EpochOver(9);
  expect(over).toMatchObject({ epoch: 9, code: 'epoch_over', actor: 'bug' });
  expect(over.message).toContain('epoch 9');
});

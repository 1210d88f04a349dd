/** What the loads of workers mean: pictures of looks, one column each, and what is said after them. */
import { expect, test } from 'vitest';
import type { Worker } from '../../../src/contract/operations/serverless/workers.ts';
import { loadAfter, loadOfAll, type LoadRecord, meaningOf } from '../../../src/fleet/workers/reports.ts';

type Fields = 'cur_load' | 'new_load' | 'cur_perf' | 'reqs_working';

/** A row for each field; `.` where the worker does not say it. */
function look(picture: Partial<Record<Fields, string>>, everyS = 15, before?: LoadRecord): LoadRecord {
  const columns = Object.entries(picture).map(([name, row]) => [name, row.trim().split(/\s+/)] as const);
  const length = Math.max(...columns.map(([, row]) => row.length));
  let record = before;
  for (let at = 0; at < length; at += 1) {
    const said = columns.flatMap(([name, row]) => {
      const word = row[at] ?? '.';
      return word === '.' ? [] : [[name, Number(word)]];
    });
    const worker = { id: 1, status: 'idle', ...Object.fromEntries(said) } as Worker;
    record = loadAfter(record, worker, (at + 1) * everyS * 1000, undefined);
  }
  return record!;
}

const found = (...given: Parameters<typeof look>) => meaningOf(look(...given)) ?? 'unknown';

test.each<[string, ReturnType<typeof found>, Parameters<typeof look>[0]]>([
  [
    'a long request stays in flight while nothing more is received',
    'in flight',
    {
      cur_load: '0 100 100 100 100',
      new_load: '0 100 0 0 0',
      cur_perf: '0 0 0 0 0',
      reqs_working: '0 1 1 1 1',
    },
  ],
  [
    'short requests are received and served within one report',
    'in flight',
    { cur_load: '0 0 0 0', new_load: '50 50 90 70', cur_perf: '50 50 90 70', reqs_working: '0 1 0 0' },
  ],
  [
    'a rate is a steady share of what was received, whatever that is',
    'rate',
    {
      cur_load: '20 40 10 30 50 20 10 30',
      new_load: '100 200 50 150 250 100 50 150',
      reqs_working: '1 2 1 1 3 1 1 1',
    },
  ],
  [
    'a rate is less than what was received and not served',
    'rate',
    { cur_load: '20 23 30', new_load: '100 160 150', cur_perf: '0 10 0', reqs_working: '1 2 3' },
  ],
  [
    'an older worker goes on saying how fast its last request was, long after it',
    'rate',
    {
      cur_load: '9 0 0 0 8 0 0 0 7 0 0 0',
      cur_perf: '88 88 88 88 91 91 91 91 87 87 87 87',
      reqs_working: '1 0 0 0 1 0 0 0 1 0 0 0',
    },
  ],
  [
    'a rate is 0 while requests are in work and none comes',
    'rate',
    {
      cur_load: '9 0 0 0 8 0 0 0 7 0 0 0',
      cur_perf: '88 88 88 88 91 91 91 91 87 87 87 87',
      reqs_working: '1 2 2 2 1 3 3 3 1 2 2 2',
    },
  ],
])('%s: %s', (_, meaning, picture) => {
  expect(found(picture)).toBe(meaning);
});

test.each<[string, Parameters<typeof look>[0]]>([
  [
    'no worker has load',
    { cur_load: '0 '.repeat(40), new_load: '0 '.repeat(40), reqs_working: '0 '.repeat(40) },
  ],
  [
    'the requests cost nothing',
    { cur_load: '0 '.repeat(40), new_load: '0 '.repeat(40), reqs_working: '2 2 2 3 3 3 0 0 '.repeat(5) },
  ],
  [
    'there are long pauses, and nothing else',
    {
      cur_load: '9 0 0 0 '.repeat(10),
      cur_perf: '7 0 0 0 '.repeat(10),
      reqs_working: '1 0 0 0 '.repeat(10),
    },
  ],
  [
    'the amounts are steady, not only their share',
    { cur_load: '20 '.repeat(40), new_load: '100 '.repeat(40), reqs_working: '1 2 '.repeat(20) },
  ],
  ['its requests are not said', { cur_load: '9 0 0 0 '.repeat(10), cur_perf: '88 '.repeat(40) }],
  ['nothing but loads is said', { cur_load: '0 100 0 200 100 0 0 300 '.repeat(10) }],
  ['a report stays the same for an hour', { cur_load: '100 '.repeat(240), reqs_working: '1 '.repeat(240) }],
  [
    'new_load is 0 whatever comes, and so says nothing',
    { cur_load: '9 8 7 9 '.repeat(10), new_load: '0 '.repeat(40), reqs_working: '1 2 1 3 '.repeat(10) },
  ],
  [
    'requests have always just come',
    {
      cur_load: '100 300 100 200 '.repeat(10),
      new_load: '100 300 100 200 '.repeat(10),
      cur_perf: '100 0 300 200 '.repeat(10),
      reqs_working: '1 3 1 2 '.repeat(10),
    },
  ],
])('when %s, it is unknown', (_, picture) => {
  expect(found(picture)).toBe('unknown');
});

const IN_FLIGHT = {
  cur_load: '100 100 200 200',
  new_load: '100 0 100 0',
  cur_perf: '0 0 0 0',
  reqs_working: '1 1 2 2',
};
const RATE = {
  cur_load: '20 30 40 10 20 50 30 20',
  new_load: '100 150 200 50 100 250 150 100',
  cur_perf: '0 0 0 0 0 0 0 0',
  reqs_working: '1 1 2 1 1 3 2 1',
};

test('a worker that reports otherwise from now on is noticed, and known again when it is clear', () => {
  const before = look({ ...IN_FLIGHT, cur_load: '100 '.repeat(10), new_load: '100 0 0 0 0 0 0 0 0 0' });
  const one = { cur_load: '20', new_load: '100', cur_perf: '0', reqs_working: '1' };
  expect([meaningOf(before), found(one, 15, before)]).toEqual(['in flight', 'in flight']);
  expect(found({ ...one, cur_load: '20 30', new_load: '100 150', cur_perf: '0 0' }, 15, before)).toBe(
    'unknown',
  );
  expect(found(RATE, 15, before)).toBe('rate');
});

const [inFlight, rate] = [look({ ...IN_FLIGHT, cur_load: '100 300 400 500 600' }), look(RATE)];
const idle = look({ cur_load: '0', new_load: '0', reqs_working: '0' });
const open = look({ cur_load: '100', new_load: '100', reqs_working: '1' });

test.each([
  [[], 'unknown', 'no worker has had load yet'],
  [[idle], 'unknown', 'no worker has had load yet'],
  [[inFlight, idle], 'in flight', 'shown by 1 of its workers'],
  [[rate, rate], 'rate', 'shown by 2 of its workers'],
  [[inFlight, rate, rate], 'unknown', 'its workers differ: 1 of them in flight, 2 a rate'],
  [[inFlight, open], 'unknown', 'not shown yet by 1 of its workers that had load'],
])('an endpoint of workers %#: %s', (records, meaning, because) => {
  expect(loadOfAll(records)).toEqual({ meaning, because });
});

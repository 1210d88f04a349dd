import { SeverityNumber } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { StreamTimes, toOtlpRecords } from '../../../../src/logs/sinks/otlp-records.ts';
import { record } from '../../../support/log-records.ts';

const told = (...records: readonly LogRecord[]) =>
  toOtlpRecords(records, new StreamTimes(() => Date.UTC(2025, 0, 1)));

test('a line of an endpoint has its name and its id', () => {
  const { workergroup_id: _, ...place } = record(1, 'managing');
  const [one] = told({ ...place, line: 'managing', endpoint: 'chat', endpoint_id: 31 });
  expect(one?.attributes).toEqual({ endpoint: 'chat', endpoint_id: 31, epoch: 1, seq: 1 });
  expect(one?.resource.attributes['service.instance.id']).toBe('endpoint-31');
});

test('a line has the time to the microsecond, its numbers, and the group as its resource', () => {
  const time = '2025-01-01T00:00:09.123456Z';
  const [one, two, other] = told(
    { ...record(1, 'a line'), time },
    { ...record(2), time: '2025-01-01T00:00:09.999999Z' },
    Object.assign(record(1), { workergroup_id: 8 }),
  );
  const hrTime = [Date.UTC(2025, 0, 1) / 1000 + 9, 123_456_000];
  expect(one).toMatchObject({ hrTime, hrTimeObserved: hrTime, body: 'a line', droppedAttributesCount: 0 });
  expect(one?.attributes).toEqual({ workergroup_id: 7, epoch: 1, seq: 1 });
  expect(one?.instrumentationScope).toEqual({ name: 'pilotlight' });
  expect(two?.hrTime).toEqual([hrTime[0], 999_999_000]);
  expect(one?.resource.attributes).toEqual({
    'service.name': 'pilotlight',
    'service.instance.id': 'workergroup-7',
  });
  expect(two?.resource).toBe(one?.resource);
  expect(other?.resource.attributes['service.instance.id']).toBe('workergroup-8');
});

test.each([
  ['info', SeverityNumber.INFO, 'INFO'],
  ['debug0', SeverityNumber.DEBUG, 'DEBUG'],
  ['warn12', SeverityNumber.WARN, 'WARN'],
  ['trace', SeverityNumber.TRACE, 'TRACE'],
  ['stdout', undefined, undefined],
  ['0info', undefined, undefined],
  [undefined, undefined, undefined],
])('level %s is severity %s', (level, severityNumber, severityText) => {
  const [one] = told({ ...record(1), ...(level !== undefined && { level }) });
  expect([one?.severityNumber, one?.severityText]).toEqual([severityNumber, severityText]);
  expect(one?.attributes['level']).toBe(level);
});

test('a gap is a warning that says how much is missing, or that this is unknown', () => {
  const { line: _, ...place } = { ...record(4), line: '' };
  const [unknown] = told({ ...place, gap: { reason: 'reset', lost_min: 0, lost_estimate: null } });
  expect(unknown?.body).toBe('gap in the log (reset): at least 0 lines lost, how many is unknown');
  expect(unknown?.attributes).not.toHaveProperty('gap.lost_estimate');
  const [one] = told({ ...place, gap: { reason: 'overrun', lost_min: 3, lost_estimate: 50 } });
  expect(one).toMatchObject({
    body: 'gap in the log (overrun): at least 3 lines lost, about 50',
    severityNumber: SeverityNumber.WARN,
    severityText: 'WARN',
  });
  expect(one?.attributes).toEqual({
    workergroup_id: 7,
    epoch: 1,
    seq: 4,
    'gap.reason': 'overrun',
    'gap.lost_min': 3,
    'gap.lost_estimate': 50,
  });
});

/** The clock, ms. */
const NOW = 1_000_000;
const MICROS = NOW * 1000;
const AHEAD = 60_000_000;

test('times that are not ahead of the clock stay as they are, up to a minute', () => {
  const times = new StreamTimes(() => NOW);
  for (const time of [MICROS - 5, MICROS, MICROS + AHEAD])
    expect(times.timeOf('workergroup-7', time)).toBe(time);
});

test('what is further ahead is of now, and each is later than the one before it', () => {
  const times = new StreamTimes(() => NOW);
  expect(times.timeOf('workergroup-7', MICROS + AHEAD + 1)).toBe(MICROS);
  expect(times.timeOf('workergroup-7', MICROS + AHEAD + 2)).toBe(MICROS + 1);
  // The clock was set back: it is of the time after that, and so are those behind it.
  expect(times.timeOf('workergroup-7', MICROS - 10)).toBe(MICROS + 2);
  expect(times.timeOf('workergroup-7', MICROS + 2)).toBe(MICROS + 3);
  expect(times.timeOf('workergroup-7', MICROS + 4)).toBe(MICROS + 4);
  // Others have their own.
  expect(times.timeOf('workergroup-8', MICROS - 10)).toBe(MICROS - 10);
});

test('a time that was given while the clock was ahead does not hold up those after it for long', () => {
  let now = NOW;
  const times = new StreamTimes(() => now);
  expect(times.timeOf('workergroup-7', MICROS + AHEAD + 1)).toBe(MICROS);
  now -= AHEAD / 1000;
  expect(times.timeOf('workergroup-7', MICROS - 5)).toBe(MICROS + 1);
  now -= 1;
  expect(times.timeOf('workergroup-7', MICROS - AHEAD - 1_000)).toBe(MICROS - AHEAD - 1_000);
});

import { SeverityNumber } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { toOtlpRecords } from '../../../../src/logs/sinks/otlp-records.ts';
import { record } from '../../../support/log-records.ts';

const told = (...records: readonly LogRecord[]) => toOtlpRecords(records);

test('a line of an endpoint has its name and its id', () => {
  const { workergroup_id: _, ...place } = record(1, 'managing');
  const [one] = told({ ...place, line: 'managing', endpoint: 'chat', endpoint_id: 31 });
  expect(one?.attributes).toStrictEqual({ endpoint: 'chat', endpoint_id: 31, epoch: 1, seq: 1 });
  expect(one?.resource.attributes['service.instance.id']).toBe('endpoint-31');
});

test('a line has the time to the microsecond, and lines of one group have one resource', () => {
  const [one, two, other] = told(
    { ...record(1), time: '2025-01-01T00:00:09.123456Z' },
    { ...record(2), time: '2025-01-01T00:00:09.999999Z' },
    Object.assign(record(1), { workergroup_id: 8 }),
  );
  const seconds = Date.UTC(2025, 0, 1) / 1000 + 9;
  expect([one?.hrTime, two?.hrTime]).toEqual([
    [seconds, 123_456_000],
    [seconds, 999_999_000],
  ]);
  expect(one?.droppedAttributesCount).toBe(0);
  expect(two?.resource).toBe(one?.resource);
  expect(other?.resource).not.toBe(one?.resource);
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

test('a gap of unknown size says so', () => {
  const { line: _, ...place } = { ...record(4), line: '' };
  const [unknown] = told({ ...place, gap: { reason: 'reset', lost_min: 0, lost_estimate: null } });
  expect(unknown?.body).toBe('gap in the log (reset): at least 0 lines lost, how many is unknown');
  expect(unknown?.attributes).not.toHaveProperty(['gap.lost_estimate']);
});

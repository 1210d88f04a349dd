import { pino } from 'pino';
import { expect, test } from 'vitest';
import { logEventsTo } from '../../../../../src/daemon/services/logs/events.ts';
import { PilotlightError } from '../../../../../src/contract/pilotlight-error.ts';
import type { LogEvent } from '../../../../../src/logs/events.ts';
import type { LogSource } from '../../../../../src/logs/source.ts';
import { NewerFile } from '../../../../../src/storage/database-file.ts';

function telling(level = 'info') {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { level, base: null, timestamp: false },
    { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const clock = { now: 0 };
  return { lines, clock, tell: logEventsTo(logger, () => clock.now) };
}

const group = (id: number): LogSource => ({ kind: 'workergroup', id });
const CHAT: LogSource = { kind: 'endpoint', id: 31, name: 'chat' };

test('records that are dropped all the time are told of ever more seldom, and each is in a count', () => {
  const { lines, clock, tell } = telling();
  const dropped: LogEvent = {
    kind: 'dropped',
    sink: 'otlp',
    records: 3,
    reason: 'rejected',
    message: 'too old',
  };
  for (let second = 1; second <= 100; second += 1) {
    clock.now = second * 1_000;
    tell(dropped);
  }
  expect(lines.map(({ times, records }) => [times, records])).toEqual(
    [1, 2, 4, 8, 16, 32, 64].map((times) => [times, 3 * Math.max(1, times / 2)]),
  );
  // Another sink is another trouble, and so is the same one after a while.
  tell({ ...dropped, sink: 'file' });
  clock.now += 700_000;
  tell(dropped);
  expect(lines.slice(7)).toMatchObject([
    { sink: 'file', times: 1, records: 3 },
    { sink: 'otlp', times: 1, records: 3, message: 'too old' },
  ]);
});

test('of thousands of worker groups the first twenty are named, and all are counted', () => {
  const { lines, tell } = telling();
  const ids = Array.from({ length: 3_000 }, (_, index) => index);
  tell({ kind: 'logs changed', of: 'workergroup', begun: ids.map(group), left: [] });
  expect(lines).toMatchObject([{ begun: ids.slice(0, 20), left: [], begunCount: 3_000, leftCount: 0 }]);
});

class ForAPerson extends PilotlightError {
  readonly code = 'for_a_person';
  readonly actor = 'user';
}

const [DEBUG, INFO, WARN, ERROR] = [20, 30, 40, 50];
const error = new Error('it is away');
const err = expect.objectContaining({ message: 'it is away' }) as unknown;
const pollFailed = {
  kind: 'poll failed',
  source: { kind: 'workergroup', id: 7 },
  reason: 'timeout',
  failures: 1,
  retryInMs: 1_270,
} as const;
const sinkFailed = { kind: 'sink failed', sink: 'otlp', error, failures: 1, retryInMs: 500 } as const;
const notListed = { kind: 'logs not listed', of: 'workergroup', error, failures: 1 } as const;
const aside = { kind: 'spool set aside', path: '/state/old', error } as const;

test.each<[LogEvent, Record<string, unknown>]>([
  [
    pollFailed,
    {
      level: WARN,
      workergroupId: 7,
      reason: 'timeout',
      failures: 1,
      retryInSeconds: 1.3,
      msg: 'log poll failed; nothing is lost yet',
    },
  ],
  [
    { ...pollFailed, failures: 3 },
    {
      level: DEBUG,
      workergroupId: 7,
      reason: 'timeout',
      failures: 3,
      retryInSeconds: 1.3,
      msg: 'log poll failed; nothing is lost yet',
    },
  ],
  [
    { ...pollFailed, failures: 32 },
    {
      level: WARN,
      workergroupId: 7,
      reason: 'timeout',
      failures: 32,
      retryInSeconds: 1.3,
      msg: 'log polls still fail; once more came than the service shows, lines are lost',
    },
  ],
  [
    { kind: 'poll recovered', source: { kind: 'workergroup', id: 7 }, failures: 15 },
    { level: DEBUG, workergroupId: 7, failures: 15, msg: 'log is read again' },
  ],
  [
    { kind: 'poll recovered', source: { kind: 'workergroup', id: 7 }, failures: 16 },
    { level: INFO, workergroupId: 7, failures: 16, msg: 'log is read again' },
  ],
  [
    { kind: 'sink recovered', sink: 'otlp', failures: 1 },
    { level: INFO, sink: 'otlp', failures: 1, msg: 'log sink takes records again' },
  ],
  [
    { kind: 'gap', source: { kind: 'workergroup', id: 7 }, reason: 'overrun', lostMin: 3, lostEstimate: 5 },
    { level: WARN, workergroupId: 7, reason: 'overrun', lostMin: 3, lostEstimate: 5, msg: 'gap in the log' },
  ],
  [
    sinkFailed,
    {
      level: WARN,
      sink: 'otlp',
      err,
      failures: 1,
      retryInMs: 500,
      msg: 'log sink failed; its records wait in the spool',
    },
  ],
  [
    { ...sinkFailed, failures: 3 },
    {
      level: DEBUG,
      sink: 'otlp',
      err,
      failures: 3,
      retryInMs: 500,
      msg: 'log sink failed; its records wait in the spool',
    },
  ],
  [
    { ...sinkFailed, failures: 4 },
    {
      level: WARN,
      sink: 'otlp',
      err,
      failures: 4,
      retryInMs: 500,
      msg: 'log sink failed; its records wait in the spool',
    },
  ],
  [
    { ...sinkFailed, error: new ForAPerson('it is away') },
    {
      level: ERROR,
      sink: 'otlp',
      err,
      failures: 1,
      retryInMs: 500,
      msg: 'log sink failed; its records wait in the spool',
    },
  ],
  [
    { kind: 'logs changed', of: 'workergroup', begun: [group(1)], left: [group(2), group(3)] },
    {
      level: INFO,
      begun: [1],
      left: [2, 3],
      begunCount: 1,
      leftCount: 2,
      msg: 'followed worker groups changed',
    },
  ],
  [notListed, { level: WARN, err, failures: 1, msg: expect.stringContaining('could not be looked up') }],
  [
    { ...notListed, failures: 3 },
    { level: DEBUG, err, failures: 3, msg: expect.stringContaining('could not be looked up') },
  ],
  [
    { kind: 'logs listed again', of: 'workergroup', failures: 3 },
    { level: INFO, failures: 3, msg: 'worker groups are looked up again' },
  ],
  [
    { kind: 'endpoints missing', of: 'workergroup', names: ['a'] },
    { level: WARN, endpoints: ['a'], msg: expect.stringContaining('no worker group serves') },
  ],
  [
    { kind: 'endpoints missing', of: 'endpoint', names: ['a'] },
    { level: WARN, endpoints: ['a'], msg: expect.stringContaining('no endpoint has') },
  ],
  [
    { kind: 'gap', source: CHAT, reason: 'reset', lostMin: 0, lostEstimate: null },
    { level: WARN, endpoint: 'chat', reason: 'reset', lostMin: 0, lostEstimate: null, msg: 'gap in the log' },
  ],
  [
    { kind: 'logs changed', of: 'endpoint', begun: [CHAT], left: [] },
    {
      level: INFO,
      begun: ['chat'],
      left: [],
      begunCount: 1,
      leftCount: 0,
      msg: 'followed endpoint logs changed',
    },
  ],
  [
    { kind: 'spool failed', error },
    { level: ERROR, err, msg: expect.stringContaining('could not store lines') },
  ],
  [
    { kind: 'spool in memory', error },
    { level: ERROR, err, msg: expect.stringContaining('kept in memory') },
  ],
  [{ kind: 'spool on disk again' }, { level: INFO, msg: expect.stringContaining('kept on disk') }],
  [aside, { level: ERROR, err, setAside: '/state/old', msg: expect.stringContaining('was unreadable') }],
  [
    { ...aside, error: new NewerFile(9, 8) },
    {
      level: ERROR,
      err: expect.anything() as unknown,
      setAside: '/state/old',
      msg: expect.stringContaining('of a newer Pilotlight'),
    },
  ],
  [
    { kind: 'stale answer', source: { kind: 'workergroup', id: 7 } },
    { level: DEBUG, workergroupId: 7, msg: expect.stringContaining('older than') },
  ],
])('%j is told', (event, line) => {
  const { lines, tell } = telling('debug');
  tell(event);
  expect(lines).toEqual([line]);
});

test('what happens all the time is not told', () => {
  const { lines, tell } = telling('debug');
  tell({
    kind: 'polled',
    source: { kind: 'workergroup', id: 7 },
    tail: 100,
    intervalMs: 1_000,
    roundTripMs: 20,
  });
  tell({ kind: 'lines', source: { kind: 'workergroup', id: 7 }, lines: 1, bytes: 2, at: 3 });
  tell({ kind: 'delivered', sink: 'otlp', records: 1 });
  expect(lines).toEqual([]);
});

test('drops are an error when they are told of, and else for whoever looks closely', () => {
  const { lines, clock, tell } = telling('debug');
  const dropped: LogEvent = { kind: 'dropped', sink: 'otlp', records: 3, reason: 'overflow' };
  for (const at of [0, 600_000, 1_200_000]) {
    clock.now = at;
    tell(dropped);
  }
  expect(lines.map(({ level, times, records }) => [level, times, records])).toEqual([
    [ERROR, 1, 3],
    [ERROR, 2, 3],
    [DEBUG, 3, 3],
  ]);
  clock.now = 1_800_001;
  tell(dropped);
  expect(lines.at(-1)).toMatchObject({ level: ERROR, times: 1, records: 3 });
});

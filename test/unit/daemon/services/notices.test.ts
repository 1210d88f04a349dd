import { pino } from 'pino';
import { expect, test } from 'vitest';
import { noticesTo } from '../../../../src/daemon/services/notices.ts';
import { PilotlightError } from '../../../../src/contract/pilotlight-error.ts';
import type { FleetNotice } from '../../../../src/fleet/view.ts';
import type { LogEvent } from '../../../../src/logs/events.ts';
import type { LogSource } from '../../../../src/logs/record.ts';
import { NewerFile } from '../../../../src/storage/database-file.ts';

function telling(level = 'info') {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { level, base: null, timestamp: false },
    { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const clock = { now: 0 };
  return { lines, clock, tell: noticesTo(logger, () => clock.now) };
}

const group = (id: number): LogSource => ({ kind: 'workergroup', id });
const CHAT: LogSource = { kind: 'endpoint', id: 31, name: 'chat' };

test('records that are dropped all the time are told of ever more seldom, and each is in a count', () => {
  const { lines, clock, tell } = telling();
  const more = { sink: 'otlp', records: 3, reason: 'rejected', message: 'too old' } as const;
  const dropped: LogEvent = { kind: 'dropped', ...more };
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
const source = group(7);
const workergroupId = 7;
const pollFailed = { kind: 'poll failed', source, reason: 'timeout', failures: 1, retryInMs: 1_270 } as const;
const poll = { workergroupId, reason: 'timeout', retryInSeconds: 1.3 };
const sinkFailed = { kind: 'sink failed', sink: 'otlp', error, failures: 1, retryInMs: 500 } as const;
const sink = { sink: 'otlp', err, retryInMs: 500 };
const notListed = { kind: 'logs not listed', of: 'workergroup', error, failures: 1 } as const;
const changed = {
  kind: 'logs changed',
  of: 'workergroup',
  begun: [group(1)],
  left: [group(2), group(3)],
} as const;
const aside = { kind: 'spool set aside', path: '/state/old', error } as const;
const gap = { kind: 'gap', source, reason: 'overrun', lostMin: 3, lostEstimate: 5 } as const;

const names = Array.from({ length: 25 }, (_, index) => `endpoint ${index}`);
const shown = names.slice(0, 20);
const endpointsNotListed = { kind: 'endpoints not listed', error, failures: 1 } as const;
const lookFailed = { kind: 'look failed', endpoint: 'chat', error, failures: 1 } as const;
const look = { endpoint: 'chat', err };
const path = '/state/fleet.sqlite.corrupt';
const trouble = { endpoint: 'chat', trouble: 'not_recruiting' } as const;
const begun = {
  ...trouble,
  kind: 'trouble begun',
  evidence: { says: 'it waits', facts: { load: 2 } },
} as const;
const untold = { kind: 'spend not told', permission: 'user_read', error: 'no', cause: error } as const;

test.each<[LogEvent | FleetNotice, level: number, msg: string, fields: Record<string, unknown>]>([
  [pollFailed, WARN, 'log poll failed; nothing is lost yet', { ...poll, failures: 1 }],
  [{ ...pollFailed, failures: 3 }, DEBUG, 'log poll failed; nothing is lost yet', { ...poll, failures: 3 }],
  [
    { ...pollFailed, failures: 32 },
    WARN,
    'log polls still fail; once more came than',
    { ...poll, failures: 32 },
  ],
  [
    { kind: 'poll recovered', source, failures: 15 },
    DEBUG,
    'log is read again',
    { workergroupId, failures: 15 },
  ],
  [
    { kind: 'poll recovered', source, failures: 16 },
    INFO,
    'log is read again',
    { workergroupId, failures: 16 },
  ],
  [
    { kind: 'sink recovered', sink: 'otlp', failures: 1 },
    INFO,
    'log sink takes records',
    { sink: 'otlp', failures: 1 },
  ],
  [gap, WARN, 'gap in the log', { workergroupId, reason: 'overrun', lostMin: 3, lostEstimate: 5 }],
  [
    { ...gap, source: CHAT },
    WARN,
    'gap in the log',
    { endpoint: 'chat', reason: 'overrun', lostMin: 3, lostEstimate: 5 },
  ],
  [sinkFailed, WARN, 'log sink failed; its records wait', { ...sink, failures: 1 }],
  [{ ...sinkFailed, failures: 3 }, DEBUG, 'log sink failed; its records wait', { ...sink, failures: 3 }],
  [
    { ...sinkFailed, error: new ForAPerson('it is away') },
    ERROR,
    'log sink failed',
    { ...sink, failures: 1 },
  ],
  [
    changed,
    INFO,
    'followed worker groups changed',
    { begun: [1], left: [2, 3], begunCount: 1, leftCount: 2 },
  ],
  [
    { ...changed, of: 'endpoint', begun: [CHAT], left: [] },
    INFO,
    'followed endpoint logs changed',
    { begun: ['chat'], left: [], begunCount: 1, leftCount: 0 },
  ],
  [notListed, WARN, 'the worker groups of WORKER_GROUPS could not be looked up', { err, failures: 1 }],
  [{ ...notListed, failures: 3 }, DEBUG, 'the worker groups of WORKER_GROUPS', { err, failures: 3 }],
  [
    { kind: 'logs listed again', of: 'workergroup', failures: 3 },
    INFO,
    'worker groups are looked up',
    { failures: 3 },
  ],
  [
    { kind: 'endpoints missing', of: 'workergroup', names: ['a'] },
    WARN,
    'no worker group serves',
    { endpoints: ['a'] },
  ],
  [
    { kind: 'endpoints missing', of: 'endpoint', names: ['a'] },
    WARN,
    'no endpoint has',
    { endpoints: ['a'] },
  ],
  [{ kind: 'spool failed', error }, ERROR, 'the log spool could not store lines', { err }],
  [{ kind: 'spool in memory', error }, ERROR, 'PILOTLIGHT_STATE_DIR cannot be used', { err }],
  [{ kind: 'spool on disk again' }, INFO, 'PILOTLIGHT_STATE_DIR can be used again', {}],
  [aside, ERROR, 'the log spool was unreadable', { err, setAside: '/state/old' }],
  [
    { ...aside, error: new NewerFile(9, 8) },
    ERROR,
    'the log spool is of a newer Pilotlight',
    { err: expect.anything() as unknown, setAside: '/state/old' },
  ],
  [{ kind: 'stale answer', source }, DEBUG, 'log answer older than', { workergroupId }],
  [
    { kind: 'endpoints changed', begun: names, left: ['old'] },
    INFO,
    'watched endpoints changed',
    { begun: shown, left: ['old'], begunCount: 25, leftCount: 1 },
  ],
  [
    { kind: 'endpoints changed', begun: [], left: names },
    INFO,
    'watched endpoints changed',
    { begun: [], left: shown, begunCount: 0, leftCount: 25 },
  ],
  [endpointsNotListed, WARN, 'listing endpoints failed; retrying', { err, failures: 1 }],
  [{ ...endpointsNotListed, failures: 3 }, DEBUG, 'listing endpoints failed; retrying', { err, failures: 3 }],
  [
    { kind: 'endpoints listed again', failures: 3 },
    INFO,
    'the endpoints could be listed again',
    { failures: 3 },
  ],
  [
    { kind: 'endpoints unknown', names },
    WARN,
    'no endpoint has this name of PILOTLIGHT_ENDPOINTS',
    { endpoints: shown },
  ],
  [lookFailed, WARN, 'the workers of an endpoint could not be looked at', { ...look, failures: 1 }],
  [{ ...lookFailed, failures: 3 }, DEBUG, 'the workers of an endpoint could not', { ...look, failures: 3 }],
  [
    { kind: 'look succeeded again', endpoint: 'chat', failures: 7 },
    INFO,
    'the workers of an endpoint could be looked at again',
    { endpoint: 'chat', failures: 7 },
  ],
  [{ kind: 'history not stored', error }, ERROR, 'the history of endpoints cannot be stored', { err }],
  [
    { kind: 'history not stored', error: new NewerFile(9, 2) },
    ERROR,
    'the history of endpoints is of a newer Pilotlight',
    { err: expect.objectContaining({ code: 'newer_file' }) as unknown },
  ],
  [
    { kind: 'history set aside', path, error },
    ERROR,
    'the history of endpoints could not be',
    { err, setAside: path },
  ],
  [
    { ...begun, severity: 'critical' },
    ERROR,
    'endpoint trouble began',
    { ...trouble, says: 'it waits', load: 2 },
  ],
  [
    { ...begun, severity: 'warning' },
    WARN,
    'endpoint trouble began',
    { ...trouble, says: 'it waits', load: 2 },
  ],
  [
    { ...trouble, kind: 'trouble ended', seconds: 9 },
    INFO,
    'endpoint trouble ended',
    { ...trouble, seconds: 9 },
  ],
  [{ ...untold, isMissing: true }, WARN, 'the key may not ask', { permission: 'user_read', err }],
  [{ ...untold, isMissing: false }, WARN, 'the service does not say', { permission: 'user_read', err }],
  [{ kind: 'history stored again' }, INFO, 'the history of endpoints can be stored again', {}],
])('%j is told', (event, level, msg, fields) => {
  const { lines, tell } = telling('debug');
  tell(event);
  expect(lines).toEqual([{ level, msg: expect.stringMatching(`^${msg}`) as string, ...fields }]);
});

test('what happens all the time is not told', () => {
  const { lines, tell } = telling('debug');
  tell({ kind: 'polled', source, tail: 100, intervalMs: 1_000, roundTripMs: 20 });
  tell({ kind: 'lines', source, lines: 1, bytes: 2, at: 3 });
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

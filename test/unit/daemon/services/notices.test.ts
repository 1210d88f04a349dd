import { expect, test } from 'vitest';
import { noticesTo } from '../../../../src/daemon/services/notices.ts';
import { PilotlightError } from '../../../../src/contract/pilotlight-error.ts';
import type { FleetNotice } from '../../../../src/fleet/view.ts';
import type { LogEvent } from '../../../../src/logs/events.ts';
import type { LogSource } from '../../../../src/logs/record.ts';
import { NewerFile } from '../../../../src/storage/database-file.ts';
import { collectedLog } from '../../../support/collected-log.ts';

const [DEBUG, INFO, WARN, ERROR] = [20, 30, 40, 50];

function telling() {
  const { logger, lines } = collectedLog('debug');
  const clock = { now: 0 };
  return { lines, clock, tell: noticesTo(logger, () => clock.now) };
}

class ForAPerson extends PilotlightError {
  readonly code = 'for_a_person';
  readonly actor = 'user';
}

const error = new Error('it is away');
const err = expect.objectContaining({ message: 'it is away' }) as unknown;
const newer = new NewerFile(9, 8);
const newerErr = expect.objectContaining({ code: 'newer_file' }) as unknown;

const group = (id: number): LogSource => ({ kind: 'workergroup', id });
const CHAT: LogSource = { kind: 'endpoint', id: 31, name: 'chat' };
const source = group(7);
const workergroupId = 7;
const pollFailed = { kind: 'poll failed', source, reason: 'timeout', failures: 1, retryInMs: 1_270 } as const;
const pollFailedLong = { ...pollFailed, failures: 32 };
const poll = { workergroupId, reason: 'timeout', retryInSeconds: 1.3 };
const pollRecovered = { kind: 'poll recovered', source } as const;
const sinkFailed = { kind: 'sink failed', sink: 'otlp', error, failures: 1, retryInMs: 500 } as const;
const sinkNeedsAPerson = { ...sinkFailed, error: new ForAPerson('it is away') };
const sinkRecovered = { kind: 'sink recovered', sink: 'otlp', failures: 1 } as const;
const sink = { sink: 'otlp', err, retryInMs: 500 };
const loss = { reason: 'overrun', lostMin: 3, lostEstimate: 5 } as const;
const gap = { kind: 'gap', source, ...loss } as const;
const changed = { of: 'workergroup', begun: [group(1)], left: [group(2), group(3)] } as const;
const groupsChanged = { kind: 'logs changed', ...changed } as const;
const logsChanged = { ...groupsChanged, of: 'endpoint', begun: [CHAT], left: [] } as const;
const notListed = { kind: 'logs not listed', of: 'workergroup', error, failures: 1 } as const;
const listedAgain = { kind: 'logs listed again', of: 'workergroup', failures: 3 } as const;
const missing = { kind: 'endpoints missing', of: 'workergroup', names: ['a'] } as const;
const spoolAside = { kind: 'spool set aside', path: '/state/old', error } as const;

const names = Array.from({ length: 25 }, (_, index) => `endpoint ${index}`);
const shown = names.slice(0, 20);
const manyBegun = { kind: 'endpoints changed', begun: names, left: ['old'] } as const;
const manyLeft = { kind: 'endpoints changed', begun: [], left: names } as const;
const endpointsNotListed = { kind: 'endpoints not listed', error, failures: 1 } as const;
const endpointsListedAgain = { kind: 'endpoints listed again', failures: 3 } as const;
const lookFailed = { kind: 'look failed', endpoint: 'chat', error, failures: 1 } as const;
const lookRecovered = { kind: 'look succeeded again', endpoint: 'chat', failures: 7 } as const;
const look = { endpoint: 'chat', err };
const path = '/state/fleet.sqlite.corrupt';
const historyAside = { kind: 'history set aside', path, error } as const;
const trouble = { endpoint: 'chat', trouble: 'not_recruiting' } as const;
const evidence = { says: 'it waits', facts: { load: 2 } };
const begun = { ...trouble, kind: 'trouble begun', evidence } as const;
const beganWith = { ...trouble, says: 'it waits', load: 2 };
const ended = { ...trouble, kind: 'trouble ended', seconds: 9 } as const;
const untold = { kind: 'spend not told', permission: 'user_read', error: 'no', cause: error } as const;

const counted = (of: unknown[], left: unknown[]) => ({
  begun: of,
  left,
  begunCount: of.length,
  leftCount: left.length,
});

test.each<[LogEvent | FleetNotice, level: number, msg: string, fields: Record<string, unknown>]>([
  [pollFailed, WARN, 'log poll failed; nothing is lost yet', { ...poll, failures: 1 }],
  [{ ...pollFailed, failures: 3 }, DEBUG, 'log poll failed; nothing is lost yet', { ...poll, failures: 3 }],
  [pollFailedLong, WARN, 'log polls still fail; lines are lost once', { ...poll, failures: 32 }],
  [{ ...pollRecovered, failures: 15 }, DEBUG, 'log is read again', { workergroupId, failures: 15 }],
  [{ ...pollRecovered, failures: 16 }, INFO, 'log is read again', { workergroupId, failures: 16 }],
  [{ kind: 'stale answer', source }, DEBUG, 'log answer older than', { workergroupId }],
  [gap, WARN, 'gap in the log', { workergroupId, ...loss }],
  [{ ...gap, source: CHAT }, WARN, 'gap in the log', { endpoint: 'chat', ...loss }],
  [sinkFailed, WARN, 'log sink failed; its records wait', { ...sink, failures: 1 }],
  [{ ...sinkFailed, failures: 3 }, DEBUG, 'log sink failed; its records wait', { ...sink, failures: 3 }],
  [sinkNeedsAPerson, ERROR, 'log sink failed', { ...sink, failures: 1 }],
  [sinkRecovered, INFO, 'log sink takes records', { sink: 'otlp', failures: 1 }],
  [groupsChanged, INFO, 'followed worker groups changed', counted([1], [2, 3])],
  [logsChanged, INFO, 'followed endpoint logs changed', counted(['chat'], [])],
  [notListed, WARN, 'the worker groups of WORKER_GROUPS could not be looked up', { err, failures: 1 }],
  [{ ...notListed, failures: 3 }, DEBUG, 'the worker groups of WORKER_GROUPS', { err, failures: 3 }],
  [listedAgain, INFO, 'worker groups are looked up', { failures: 3 }],
  [missing, WARN, 'no worker group serves', { endpoints: ['a'] }],
  [{ ...missing, of: 'endpoint' }, WARN, 'no endpoint has', { endpoints: ['a'] }],
  [{ kind: 'spool failed', error }, ERROR, 'the log spool could not store lines', { err }],
  [{ kind: 'spool in memory', error }, ERROR, 'PILOTLIGHT_STATE_DIR cannot be used', { err }],
  [{ kind: 'spool on disk again' }, INFO, 'PILOTLIGHT_STATE_DIR can be used again', {}],
  [spoolAside, ERROR, 'the log spool was unreadable', { err, setAside: '/state/old' }],
  [
    { ...spoolAside, error: newer },
    ERROR,
    'the log spool is of a newer Pilotlight',
    { err: newerErr, setAside: '/state/old' },
  ],
  [manyBegun, INFO, 'watched endpoints changed', { ...counted(shown, ['old']), begunCount: 25 }],
  [manyLeft, INFO, 'watched endpoints changed', { ...counted([], shown), leftCount: 25 }],
  [endpointsNotListed, WARN, 'listing endpoints failed; retrying', { err, failures: 1 }],
  [{ ...endpointsNotListed, failures: 3 }, DEBUG, 'listing endpoints failed; retrying', { err, failures: 3 }],
  [endpointsListedAgain, INFO, 'the endpoints could be listed again', { failures: 3 }],
  [
    { kind: 'endpoints unknown', names },
    WARN,
    'no endpoint has this name of PILOTLIGHT_ENDPOINTS',
    { endpoints: shown },
  ],
  [lookFailed, WARN, 'the workers of an endpoint could not be looked at', { ...look, failures: 1 }],
  [{ ...lookFailed, failures: 3 }, DEBUG, 'the workers of an endpoint could not', { ...look, failures: 3 }],
  [lookRecovered, INFO, 'the workers of an endpoint could be looked at', { endpoint: 'chat', failures: 7 }],
  [{ kind: 'history not stored', error }, ERROR, 'the history of endpoints cannot be stored', { err }],
  [
    { kind: 'history not stored', error: newer },
    ERROR,
    'the history of endpoints is of a newer Pilotlight',
    { err: newerErr },
  ],
  [historyAside, ERROR, 'the history of endpoints could not be', { err, setAside: path }],
  [{ kind: 'history stored again' }, INFO, 'the history of endpoints can be stored again', {}],
  [{ ...begun, severity: 'critical' }, ERROR, 'endpoint trouble began', beganWith],
  [{ ...begun, severity: 'warning' }, WARN, 'endpoint trouble began', beganWith],
  [ended, INFO, 'endpoint trouble ended', { ...trouble, seconds: 9 }],
  [{ ...untold, isMissing: true }, WARN, 'the key may not ask', { permission: 'user_read', err }],
  [{ ...untold, isMissing: false }, WARN, 'the service does not say', { permission: 'user_read', err }],
])('%j is told', (event, level, msg, fields) => {
  const { lines, tell } = telling();
  tell(event);
  expect(lines).toEqual([{ level, msg: expect.stringMatching(`^${msg}`) as string, ...fields }]);
});

test('what happens all the time is not told', () => {
  const { lines, tell } = telling();
  tell({ kind: 'polled', source, roundTripMs: 20 });
  tell({ kind: 'lines', source, lines: 1 });
  tell({ kind: 'delivered', sink: 'otlp', records: 1 });
  expect(lines).toEqual([]);
});

test('records that are dropped all the time are told of ever more seldom, and each is in a count', () => {
  const { lines, clock, tell } = telling();
  const more = { sink: 'otlp', records: 3, reason: 'rejected', message: 'too old' } as const;
  const dropped: LogEvent = { kind: 'dropped', ...more };
  for (let second = 1; second <= 100; second += 1) {
    clock.now = second * 1_000;
    tell(dropped);
  }
  const told = lines.filter(({ level }) => level === ERROR);
  expect(told.map(({ times, records }) => [times, records])).toEqual(
    [1, 2, 4, 8, 16, 32, 64].map((times) => [times, 3 * Math.max(1, times / 2)]),
  );
  // Another sink is another trouble, and so is the same one after more than ten minutes.
  tell({ ...dropped, sink: 'file' });
  clock.now += 600_000;
  tell(dropped);
  clock.now += 600_001;
  tell(dropped);
  expect(lines.slice(100)).toMatchObject([
    { level: ERROR, sink: 'file', times: 1, records: 3 },
    { level: DEBUG, sink: 'otlp', times: 101 },
    { level: ERROR, sink: 'otlp', times: 1, records: 3, message: 'too old' },
  ]);
});

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { OriginAddresses } from '../../../../src/client/transport/transport.ts';
import { OPERATIONS } from '../../../../src/contract/operations.ts';
import { Redaction } from '../../../../src/contract/text/redaction.ts';
import { FAILURE_WORDS, type Notice } from '../../../../src/heartbeat/engine/state.ts';
import { HeartbeatLogger } from '../../../../src/heartbeat/process/heartbeat-logger.ts';
import { createHeartLog, DISCOVERY, MESSAGES } from '../../../../src/heartbeat/process/log.ts';
import type { SharedLimit } from '../../../../src/heartbeat/view/snapshot.ts';

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

let lines: Line[];
let logger: HeartbeatLogger;
let limit: SharedLimit | undefined;
let addresses: OriginAddresses['addresses'];
beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  limit = undefined;
  addresses = [];
  logger = new HeartbeatLogger(
    createHeartLog({
      stderr: { write: (line) => void lines.push(JSON.parse(line) as Line) },
      level: () => 'info',
      format: 'json',
      redaction: new Redaction(() => []),
      onMessage() {},
    }),
    () => ({
      sharedLimit: () => limit,
      addresses: () => [{ origin: 'https://service.test', addresses }],
      deploymentIds: () => [42, 43],
    }),
  );
});
afterEach(() => {
  logger.close();
  vi.useRealTimers();
});

const sent: Notice = { type: 'sent', attempt: 1, hedge: false, lagMs: 0 };
const REFUSED = 'connection refused (10.0.0.7:443)';
const SILENCE = 'no answer yet (service.test)';
const failed: Notice = { type: 'failed', attempt: 1, reason: 'connect', why: REFUSED };
const accepted: Notice = { type: 'accepted', attempt: 1, latencyMs: 5 };
function to(state: 'healthy' | 'retrying' | 'lapsed' | 'unauthorized', remainingMs = 5_000): Notice {
  return { type: 'state', from: state === 'healthy' ? 'retrying' : 'healthy', to: state, remainingMs };
}

test('of a name that thousands of deployments have, a line names twenty', () => {
  const ids = Array.from({ length: 5_000 }, (_, index) => index + 1);
  logger.discovery({ type: 'matched', found: [{ type: 'matched', label: 'name:square', ids }] });
  logger.discovery({ type: 'matched', found: [{ type: 'matched', label: 'name:circle', ids: [7, 8] }] });
  expect(lines).toMatchObject([
    { label: 'name:square', count: 5_000, ids: ids.slice(0, 20) },
    { label: 'name:circle', ids: [7, 8] },
  ]);
});

test('ten thousand that fail together are a few lines, each with a count and some ids', async () => {
  for (let id = 1; id <= 10_000; id += 1) {
    logger.notice(id, sent);
    logger.notice(id, failed);
    logger.notice(id, to('retrying', id));
  }
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lines.length).toBeLessThan(6);
  expect(lines[0]).toMatchObject({ level: 'warn', count: 10_000, to: 'retrying', remainingSeconds: -0.2 });
  expect(lines[0]?.['deploymentIds']).toHaveLength(20);
});

test('the end of a trouble that was logged is logged at once, with what is left now', async () => {
  logger.notice(42, to('retrying'));
  await vi.advanceTimersByTimeAsync(5_000);
  logger.notice(42, to('healthy'));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lines).toMatchObject([{ to: 'retrying' }, { to: 'healthy' }]);
  // The same trouble again is not named within the minute, and neither is its end.
  logger.notice(42, to('retrying'));
  logger.notice(43, to('lapsed'));
  await vi.advanceTimersByTimeAsync(5_000);
  logger.notice(42, to('healthy'));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lines.slice(2)).toMatchObject([{ deploymentId: 43, to: 'lapsed' }]);
  logger.notice(42, to('retrying', 100_000));
  await vi.advanceTimersByTimeAsync(60_000);
  // The summary says so once a minute, with the time that is left.
  expect(lines.at(-1)).toMatchObject({ deploymentIds: [42, 43], states: { retrying: 1, lapsed: 1 } });
  expect(lines.at(-1)?.['remainingSeconds']).toBeLessThan(0);
  logger.notice(42, to('healthy'));
  await vi.advanceTimersByTimeAsync(1_000);
  const end = { deploymentId: 42, from: 'retrying', to: 'healthy', remainingSeconds: 4.8 };
  expect(lines.at(-1)).toMatchObject(end);
});

const ERROR = { level: 'error', from: 'healthy' };
const { permission } = OPERATIONS['deployments.heartbeat'];
const saying = (words: string) => expect.stringContaining(words) as string;

test.each<[what: string, notices: readonly Notice[], line: object]>([
  [
    'with what is left, its reason and what to do',
    [sent, failed, to('lapsed', -100)],
    { ...ERROR, to: 'lapsed', reason: REFUSED, remainingSeconds: -0.3, advice: saying('probably expired') },
  ],
  [
    'with the permission that a refused key may lack',
    [to('unauthorized')],
    { ...ERROR, to: 'unauthorized', reason: SILENCE, remainingSeconds: 4.8, advice: saying(permission) },
  ],
  [
    'without a failure, and without a TTL',
    [{ type: 'state', from: 'healthy', to: 'urgent' }],
    { ...ERROR, to: 'urgent', reason: SILENCE, advice: saying('check that the service is reachable') },
  ],
  [
    'for information, without a reason, where all is well',
    [to('healthy')],
    { level: 'info', from: 'retrying', to: 'healthy', remainingSeconds: 4.8 },
  ],
])('a single change is said soon: %s', async (_, notices, line) => {
  for (const notice of notices) logger.notice(42, notice);
  await vi.advanceTimersByTimeAsync(300);
  const time = expect.any(String) as string;
  expect(lines).toEqual([{ time, deploymentId: 42, ...line, msg: MESSAGES.stateChanged.text }]);
});

test('what concerns all at once is said for one of them', async () => {
  for (let id = 1; id <= 1_000; id += 1) logger.notice(id, { type: 'clock-step', byMs: 3_600_000 });
  expect(lines).toHaveLength(1);
  logger.notice(1, { type: 'clock-step', byMs: -7_200_000 });
  expect(lines.at(-1)).toMatchObject({ byMs: -7_200_000 });
  await vi.advanceTimersByTimeAsync(11_000);
  logger.notice(1, { type: 'clock-step', byMs: 3_600_000 });
  expect(lines.at(-1)).toMatchObject({ byMs: 3_600_000, suppressed: 999 });
});

test('a shared limit is said once where all fit under it, and every minute with its numbers where they do not', async () => {
  limit = { thresholdMs: 2_000, deployments: 10, neededMs: 20_000, availableMs: 47_000, fits: true };
  await vi.advanceTimersByTimeAsync(300_000);
  expect(lines).toMatchObject([
    { level: 'info', thresholdMs: 2_000, neededSeconds: 20, availableSeconds: 47 },
  ]);
  limit = { ...limit, deployments: 30, neededMs: 60_000, fits: false };
  await vi.advanceTimersByTimeAsync(180_000);
  expect(lines.slice(1)).toHaveLength(3);
  expect(lines[1]).toMatchObject({ level: 'error', deployments: 30, neededSeconds: 60 });
  expect(lines[1]?.['advice']).toContain('a second key');
});

test('what was well before the line was due is not said, and a failure is said whenever it begins', async () => {
  logger.notice(42, failed);
  logger.notice(42, to('retrying'));
  logger.notice(42, accepted);
  logger.notice(42, to('healthy'));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(lines).toEqual([]);
  logger.notice(43, { type: 'overdue', attempt: 1 });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lines).toMatchObject([{ deploymentIds: [43], reasons: { [SILENCE]: 1 } }]);
});

test('a later attempt is no trouble by itself, and one that is superseded is none', async () => {
  logger.notice(42, { ...sent, attempt: 2 });
  logger.notice(42, { type: 'superseded', attempt: 1 });
  await vi.advanceTimersByTimeAsync(120_000);
  expect(lines).toEqual([]);
});

test('what was said of a change is not said again before the minute is over', async () => {
  logger.notice(42, failed);
  logger.notice(42, to('retrying'));
  await vi.advanceTimersByTimeAsync(59_999);
  expect(lines.map(({ msg }) => msg)).toEqual(['heartbeat state changed']);
  await vi.advanceTimersByTimeAsync(1);
  const failing = { level: 'error', count: 1, deploymentIds: [42], msg: MESSAGES.failing.text };
  expect(lines.slice(1)).toMatchObject([{ ...failing, states: { retrying: 1 }, reasons: { [REFUSED]: 1 } }]);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(lines).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(lines).toHaveLength(3);
});

test('of several it is said how many there are by state and reason', async () => {
  logger.notice(1, failed);
  logger.notice(2, { type: 'failed', attempt: 1, reason: 'dns' });
  logger.notice(3, sent);
  logger.notice(4, { type: 'failed', attempt: 1, reason: 'dns' });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lines).toMatchObject([
    {
      count: 4,
      deploymentIds: [1, 2, 3, 4],
      states: { retrying: 3, starting: 1 },
      reasons: { [REFUSED]: 1, [FAILURE_WORDS.dns]: 2, [SILENCE]: 1 },
    },
  ]);
});

test('of many that changed the least time is said, and the reason of the first', async () => {
  for (const [id, left] of [
    [1, 9_000],
    [2, 4_000],
    [3, 7_000],
  ] as const) {
    logger.notice(id, { type: 'failed', attempt: 1, reason: id === 1 ? 'tls' : 'dns' });
    logger.notice(id, to('retrying', left));
  }
  await vi.advanceTimersByTimeAsync(300);
  expect(lines).toMatchObject([
    { count: 3, deploymentIds: [1, 2, 3], remainingSeconds: 3.8, reason: FAILURE_WORDS.tls },
  ]);
  expect(lines[0]).not.toHaveProperty('advice');
  expect(lines[0]).not.toHaveProperty('deploymentId');
});

test.each(['stopped', 'withheld'] as const)(
  'one that is %s is not said, and is in no trouble',
  async (state) => {
    logger.notice(42, failed);
    logger.notice(42, { type: 'state', from: 'retrying', to: state });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(lines).toEqual([]);
  },
);

test('a wait that was cut short is said', () => {
  logger.notice(42, { type: 'wait-cut-short', byMs: 12_000.6 });
  expect(lines).toMatchObject([
    { level: 'warn', deploymentId: 42, earlyMs: 12_001, msg: MESSAGES.sentEarly.text },
  ]);
});

test('a finding about one has its fields, and one about several their number', () => {
  logger.discovery({ type: 'unmatched', found: [{ type: 'unmatched', label: 'name:square' }] });
  const many = Array.from({ length: 21 }, (_, index) => ({ type: 'stopped', label: `${index}` }) as const);
  logger.discovery({ type: 'stopped', found: many as never });
  const all = { level: 'warn', time: expect.any(String) as string };
  const found = many.slice(0, 20).map(({ label }) => ({ label }));
  expect(lines).toEqual([
    { ...all, label: 'name:square', msg: DISCOVERY.unmatched.text },
    { ...all, count: 21, found, msg: DISCOVERY.stopped.text },
  ]);
});

test('what still waits is said at the end, and nothing after it', async () => {
  logger.notice(42, failed);
  logger.notice(42, to('retrying'));
  logger.close();
  expect(lines).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(lines).toHaveLength(1);
});

test('a shared limit that changes is said again, and one that is gone and comes back is not', async () => {
  limit = { thresholdMs: 2_000, deployments: 10, neededMs: 20_000, availableMs: 47_000, fits: true };
  await vi.advanceTimersByTimeAsync(5_000);
  limit = { ...limit, thresholdMs: 3_000.4 };
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lines.map(({ thresholdMs }) => thresholdMs)).toEqual([2_000, 3_000]);
  expect(lines[0]?.msg).toBe(MESSAGES.sharedLimit.text);
});

describe('an address of several', () => {
  const good = { address: '192.0.2.1' };
  const bad = { ...good, address: '192.0.2.2', failure: { reason: 'timeout', since: 1_000 } };

  test('is named once when it begins to be avoided, and once when it works again', async () => {
    addresses = [good, bad];
    await vi.advanceTimersByTimeAsync(60_000);
    addresses = [good, { ...good, address: '192.0.2.2' }];
    await vi.advanceTimersByTimeAsync(60_000);
    const service = { origin: 'https://service.test', address: '192.0.2.2' };
    expect(lines).toMatchObject([
      { level: 'warn', ...service, reason: 'no answer in time', since: '1970-01-01T00:00:01.000Z' },
      { level: 'info', ...service, msg: MESSAGES.addressWorks.text },
    ]);
  });

  test('that comes and goes is two lines in ten minutes', async () => {
    for (let turn = 0; turn < 50; turn += 1) {
      addresses = [good, turn % 2 ? { ...good, address: '192.0.2.2' } : bad];
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'info']);
    addresses = [good, bad];
    await vi.advanceTimersByTimeAsync(600_000);
    expect(lines).toHaveLength(3);
  });

  test('is not named if it is the only one', async () => {
    addresses = [bad];
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lines).toEqual([]);
  });
});

const UNHEALTHY = { type: 'unhealthy', why: 'it refuses connections', withheldInMs: 595_000 } as const;
const WITHHELD = { type: 'withheld', why: 'it refuses connections', unhealthyMs: 600_000 } as const;

test('an app that falls ill is said at once, once a minute, and that it is well again', async () => {
  logger.app({ type: 'healthy' });
  expect(lines).toEqual([]);
  for (let look = 0; look < 12; look += 1) {
    logger.app(UNHEALTHY);
    await vi.advanceTimersByTimeAsync(5_000);
  }
  logger.app({ type: 'healthy' });
  logger.app({ type: 'healthy' });
  expect(lines).toMatchObject([
    { level: 'warn', deploymentIds: [42, 43], why: UNHEALTHY.why, withheldInSeconds: 595 },
    { level: 'info', msg: MESSAGES.appHealthy.text },
  ]);
});

test('a release is said as an error at once, and again each minute; so is the next one', async () => {
  logger.app(UNHEALTHY);
  for (let look = 0; look < 121; look += 1) {
    logger.app(WITHHELD);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'error', 'error', 'error']);
  logger.app({ type: 'resumed', because: 'healthy', deployments: 2, tooLate: [] });
  logger.app(WITHHELD);
  expect(lines.slice(-2)).toMatchObject([
    { level: 'warn', count: 2, cause: MESSAGES.appHealthy.text, msg: MESSAGES.resumed.text },
    { level: 'error', unhealthySeconds: 600 },
  ]);
});

test('deployments that may have expired meanwhile are named', () => {
  logger.app({ type: 'resumed', because: 'reload', deployments: 3, tooLate: [42, 43] });
  expect(lines).toMatchObject([
    { level: 'warn', count: 3, cause: 'the configuration changed' },
    { level: 'warn', count: 2, deploymentIds: [42, 43], msg: MESSAGES.resumedLate.text },
  ]);
});

describe('changes of state', () => {
  const changes = () => lines.filter(({ msg }) => msg === MESSAGES.stateChanged.text);

  test('there and back again are none, and two in a row are one', async () => {
    logger.notice(1, to('retrying'));
    logger.notice(1, to('healthy'));
    logger.notice(2, { type: 'state', from: 'healthy', to: 'retrying', remainingMs: 9_000 });
    logger.notice(2, { type: 'state', from: 'retrying', to: 'urgent', remainingMs: 5_000 });
    await vi.advanceTimersByTimeAsync(300);
    expect(changes()).toMatchObject([
      { deploymentId: 2, from: 'healthy', to: 'urgent', remainingSeconds: 4.8 },
    ]);
  });

  test('of a deployment that is no longer kept alive are not logged', async () => {
    for (const id of [1, 2]) logger.notice(id, to('lapsed'));
    logger.forget(1);
    logger.replaced(2, 3, 'square');
    await vi.advanceTimersByTimeAsync(120_000);
    expect(lines).toMatchObject([{ deploymentId: 2, deployment: 'square', by: 3 }]);
  });
});

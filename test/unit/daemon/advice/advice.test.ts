/** When advice is computed in the daemon, and of what: on virtual time, without the child. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import pino from 'pino';
import { startAdvice, type AdviceService } from '../../../../src/daemon/advice/advice.ts';
import { unpackedRows } from '../../../../src/fleet/advice/packed-rows.ts';
import { recordedStretches } from '../../../../src/fleet/advice/recorded.ts';
import {
  AdviceLost,
  type AdviceQuestion,
  type ComputeAdvice,
} from '../../../../src/daemon/advice/compute.ts';
import type { HistoryRow } from '../../../../src/fleet/history/row.ts';
import { advise } from '../../../../src/scaling/advice/advise.ts';
import { recordedEndpoint } from '../../../support/recorded-endpoint.ts';
import { endpointView, fleetView, minuteRow } from '../../../support/recorded-fleet.ts';

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 10, 21);
const SETTINGS = { adviceSchedule: '17 4 * * *', adviceP99: undefined, endpoints: [{ by: 'all' as const }] };

let service: AdviceService | undefined;
beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(async () => {
  const stopped = service?.stop();
  if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(0);
  await stopped;
  service = undefined;
  vi.useRealTimers();
});

/** A watch that has looked since so many hours before the start. */
async function begin(
  hours: number,
  over: {
    readonly mayRun?: () => boolean;
    readonly compute?: ComputeAdvice;
    readonly endpoints?: readonly string[];
    /** Of the history, while it lasts. */
    readonly trouble?: () => string | undefined;
    readonly log?: (line: Record<string, unknown>) => void;
  } = {},
) {
  const asked: AdviceQuestion[] = [];
  const since = START - hours * HOUR_MS;
  const seen = {
    parameters: { target_util: 0.5, max_workers: 4, target_queue_time: 7 },
    parametersSinceMs: undefined as number | undefined,
  };
  const declined = await advise({ ...recordedEndpoint(1), stretches: [] }, { nowMs: START });
  service = startAdvice({
    fleet: {
      view: () =>
        fleetView(
          (over.endpoints ?? ['chat']).map((endpoint) => endpointView({ endpoint, ...seen })),
          { historyTrouble: over.trouble?.() },
        ),
      history({ fromMs, toMs }) {
        const rows: HistoryRow[] = [];
        for (
          let at = Math.max(since, Math.ceil(fromMs / 60_000) * 60_000);
          at < Math.min(toMs, Date.now());
          at += 60_000
        )
          rows.push(minuteRow(at));
        return Promise.resolve(rows);
      },
    },
    settings: SETTINGS,
    logger: pino(
      { level: 'info' },
      { write: (line: string) => over.log?.(JSON.parse(line) as Record<string, unknown>) },
    ),
    mayRun: over.mayRun,
    now: Date.now,
    async compute(question, signal) {
      asked.push(question);
      return (await over.compute?.(question, signal)) ?? { report: declined, mebibytes: 50 };
    },
  });
  return { asked, seen };
}

describe('the first', () => {
  test('comes once there are six hours of history, and not again before the schedule', async () => {
    const { asked } = await begin(5);
    await vi.advanceTimersByTimeAsync(55 * 60_000);
    expect(asked).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(asked).toHaveLength(1);
    expect(service?.latest('chat')?.verdict).toBe('declined');
    await vi.advanceTimersByTimeAsync(2 * HOUR_MS);
    expect(asked).toHaveLength(1);
  });

  test('does not come with a start of the process: one that is started again and again computes nothing', async () => {
    const { asked } = await begin(48);
    await vi.advanceTimersByTimeAsync(9 * 60_000);
    expect(asked).toHaveLength(0);
  });

  test('is tried again where it was lost', async () => {
    let lost = 2;
    const { asked } = await begin(12, {
      compute: () => {
        lost -= 1;
        return lost >= 0 ? Promise.reject(new AdviceLost('killed')) : Promise.resolve(undefined as never);
      },
    });
    await vi.advanceTimersByTimeAsync(45 * 60_000);
    expect(asked).toHaveLength(3);
    expect(service?.latest('chat')).toBeDefined();
  });

  test('is tried ever less often where it is lost each time, which is said', async () => {
    const said: unknown[] = [];
    const { asked } = await begin(12, {
      compute: () => Promise.reject(new AdviceLost('killed')),
      log: ({ msg }) => said.push(msg),
    });
    // Begun at midnight: after 10, 20, 40, 80 and 160 minutes, and not on schedule, which is at 4:17.
    await vi.advanceTimersByTimeAsync(4 * HOUR_MS);
    expect(asked).toHaveLength(5);
    expect(said.slice(0, 3)).toEqual(
      [10, 20, 40].map((minutes) => `advice could not be computed; it is tried again in ${minutes} min`),
    );
    await vi.advanceTimersByTimeAsync(0.5 * HOUR_MS);
    expect(said.slice(5)).toContain('advice could not be computed; it is tried again on schedule');
    await vi.advanceTimersByTimeAsync(10 * 24 * HOUR_MS);
    // Once a day by schedule, and once besides, for a start.
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.length).toBeLessThan(32);
  });
});

test('the schedule brings the next', async () => {
  const { asked } = await begin(12);
  await vi.advanceTimersByTimeAsync(24 * HOUR_MS);
  expect(asked.length).toBeGreaterThanOrEqual(2);
});

test('a history that cannot be read is said once, of all endpoints, and again when it is another', async () => {
  const said: unknown[] = [];
  let trouble: string | undefined = 'EACCES: permission denied';
  const { asked } = await begin(1, {
    endpoints: ['chat', 'draw'],
    trouble: () => trouble,
    log: ({ level, trouble: words }) => void (level === 40 && said.push(words)),
  });
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(said).toEqual(['EACCES: permission denied']);
  trouble = undefined;
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  trouble = 'EIO: i/o error';
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(said).toEqual(['EACCES: permission denied', 'EIO: i/o error']);
  expect(asked).toEqual([]);
});

test('an endpoint whose advice is lost each time keeps no other from having one', async () => {
  const { asked } = await begin(12, {
    endpoints: ['large', 'chat'],
    compute: ({ recorded }) =>
      recorded.endpoint === 'large'
        ? Promise.reject(new AdviceLost('killed'))
        : Promise.resolve(undefined as never),
  });
  await vi.advanceTimersByTimeAsync(15 * 60_000);
  expect(service?.latest('chat')).toBeDefined();
  const ofChat = () => asked.filter(({ recorded }) => recorded.endpoint === 'chat').length;
  const before = ofChat();
  await vi.advanceTimersByTimeAsync(24 * HOUR_MS);
  expect(ofChat()).toBeGreaterThan(before);
});

test('its job has failed where the advice on any endpoint could not be computed', async () => {
  let isLost = true;
  await begin(12, {
    endpoints: ['chat', 'la\nrge'],
    compute: ({ recorded }) =>
      isLost && recorded.endpoint !== 'chat'
        ? Promise.reject(new AdviceLost('killed'))
        : Promise.resolve(undefined as never),
  });
  const nothing = { name: 'advice', schedule: SETTINGS.adviceSchedule, runs: 0, failures: 0 };
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(service?.job()).toEqual({ ...nothing, lastSuccessAt: undefined, lastError: undefined });
  await vi.advanceTimersByTimeAsync(24 * HOUR_MS);
  const lastError = 'no advice could be computed on la rge';
  expect(service?.job()).toMatchObject({ runs: 1, failures: 1, lastSuccessAt: undefined, lastError });
  isLost = false;
  await vi.advanceTimersByTimeAsync(24 * HOUR_MS);
  expect(service?.job()).toMatchObject({ runs: 2, failures: 1, lastError: undefined });
  expect(service?.job().lastSuccessAt).toBeGreaterThan(START + 24 * HOUR_MS);
});

test('without endpoints its job is off', async () => {
  await begin(12, { endpoints: [] });
  await service?.apply({ ...SETTINGS, endpoints: [] });
  await vi.advanceTimersByTimeAsync(30 * HOUR_MS);
  expect(service?.job()).toMatchObject({ schedule: 'off', runs: 0, lastSuccessAt: undefined });
});

test('the first of them is asked for once, however long it takes', async () => {
  let answer = (): void => {};
  const { asked } = await begin(12, {
    compute: () => new Promise((resolve) => (answer = () => resolve(undefined as never))),
  });
  await vi.advanceTimersByTimeAsync(45 * 60_000);
  answer();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(1);
});

test('the end while a first one is computed is no failure of anything', async () => {
  const failures: unknown[] = [];
  const note = (error: unknown) => void failures.push(error);
  process.on('unhandledRejection', note);
  const { asked } = await begin(12, {
    compute: (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  await vi.advanceTimersByTimeAsync(11 * 60_000);
  expect(asked).toHaveLength(1);
  await service?.stop();
  vi.useRealTimers();
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off('unhandledRejection', note);
  expect(failures).toEqual([]);
});

test('a replica that does not watch computes nothing', async () => {
  const { asked } = await begin(12, { mayRun: () => false });
  await vi.advanceTimersByTimeAsync(30 * HOUR_MS);
  expect(asked).toHaveLength(0);
});

test('off is off, and a reload begins it', async () => {
  const { asked } = await begin(12);
  await service?.apply({ ...SETTINGS, adviceSchedule: 'off' });
  await vi.advanceTimersByTimeAsync(30 * HOUR_MS);
  expect(asked).toHaveLength(0);
  await service?.apply({ ...SETTINGS, adviceP99: 3_000 });
  await vi.advanceTimersByTimeAsync(11 * 60_000);
  expect(asked[0]?.wishes.limitSeconds).toBe(3);
});

test('it gets all of the history, the parameters of just now, and since when where the watch has seen others', async () => {
  const { asked, seen } = await begin(30);
  await vi.advanceTimersByTimeAsync(11 * 60_000);
  expect(asked[0]?.recorded.parameters).toMatchObject({ target_util: 0.5, max_workers: 4 });
  expect(asked[0]?.recorded.parametersSinceMs).toBeUndefined();
  const stretches = recordedStretches(unpackedRows(asked[0]?.recorded.pages ?? []));
  const sum = stretches.reduce((ms, { fromMs, toMs }) => ms + toMs - fromMs, 0);
  expect(sum / HOUR_MS).toBeCloseTo(30, 0);
  seen.parameters = { ...seen.parameters, target_util: 0.7 };
  seen.parametersSinceMs = START - HOUR_MS;
  await vi.advanceTimersByTimeAsync(24 * HOUR_MS);
  const { recorded } = asked.at(-1) ?? {};
  expect(recorded?.parameters.target_util).toBe(0.7);
  expect(recorded?.parametersSinceMs).toBe(START - HOUR_MS);
});

test('steering asks within what it may reach, one question after the other', async () => {
  const running = { now: 0, most: 0 };
  const { asked, seen } = await begin(12, {
    async compute() {
      running.now += 1;
      running.most = Math.max(running.most, running.now);
      await Promise.resolve();
      running.now -= 1;
      return undefined as never;
    },
  });
  const question = {
    endpoint: 'chat',
    parameters: recordedEndpoint(1).parameters,
    parametersSinceMs: 5,
    bounds: { target_util: [0.4, 0.6] },
    isCautious: true,
  } as const;
  const { signal } = new AbortController();
  const ask = (): Promise<unknown> => {
    const asking = service?.ask(question, signal);
    return Promise.all([asking, vi.advanceTimersByTimeAsync(1_000)]);
  };
  await Promise.all([ask(), ask()]);
  expect(running.most).toBe(1);
  expect(asked[0]).toMatchObject({
    bounds: { target_util: [0.4, 0.6] },
    isCautious: true,
    recorded: { parametersSinceMs: 5 },
  });
  // Of what steering and the watch have seen, the later counts.
  for (const [since, counts] of [
    [3, 5],
    [9, 9],
  ]) {
    seen.parametersSinceMs = since;
    await ask();
    expect(asked.at(-1)?.recorded.parametersSinceMs).toBe(counts);
  }
  await expect(service?.ask({ ...question, endpoint: 'gone' }, signal)).rejects.toThrow('not watched');
});

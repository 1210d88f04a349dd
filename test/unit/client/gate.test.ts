/** A process that has the limiter itself waits here. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LocalGate, type Turn } from '../../../src/client/gate.ts';
import { RateLimiter } from '../../../src/client/rate-limiter.ts';

const TURN: Turn = { everyMs: 1_000, need: 'log' };
const NEVER = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => vi.useRealTimers());

function gated(random = 0) {
  const limiter = new RateLimiter({ random: () => random });
  return { limiter, gate: new LocalGate(limiter) };
}

/** Ms until it is let in. */
async function waited(entering: Promise<unknown>): Promise<number> {
  const begun = performance.now();
  let at = Infinity;
  void entering.then(() => (at = performance.now()));
  await vi.advanceTimersByTimeAsync(60_000);
  return at - begun;
}

test.each([
  ['nothing was refused', undefined, 0, 0],
  ['2 s were asked for', { retryAfterMs: 2_000 }, 0, 2_000],
  ['a part of a millisecond remains', { retryAfterMs: 2_000 }, 0.001, 2_001],
  // Then the service decides.
  ['a minute was asked for', { retryAfterMs: 60_000 }, 0, 15_000],
])('a call waits for the limiter: %s', async (_what, refusal, random, waitMs) => {
  const { gate } = gated(random);
  if (refusal) (await gate.enter('users.current', TURN, NEVER)).answered({ throttled: true, ...refusal });
  expect(await waited(gate.enter('users.current', TURN, NEVER))).toBe(waitMs);
  expect(vi.getTimerCount()).toBe(0);
});

test('a refusal that comes meanwhile prolongs the wait', async () => {
  const { gate } = gated();
  const [first, second] = await Promise.all([1, 2].map(() => gate.enter('users.current', TURN, NEVER)));
  first?.answered({ throttled: true, retryAfterMs: 2_000 });
  const waiting = waited(gate.enter('users.current', TURN, NEVER));
  second?.answered({ throttled: true, retryAfterMs: 7_000 });
  expect(await waiting).toBe(7_000);
});

test('a question is counted while it waits', async () => {
  const { limiter } = gated();
  const entering = new LocalGate(limiter, 'question').enter('users.current', TURN, NEVER);
  for (const one of ['users.current', 'instances.list']) void new LocalGate(limiter).enter(one, TURN, NEVER);
  expect(limiter.questions).toHaveLength(1);
  await entering;
  expect(limiter.questions).toEqual([]);
});

test('what headers say is heard', async () => {
  const { gate, limiter } = gated();
  for (const operation of ['users.current', 'instances.list']) {
    const pass = await gate.enter(operation, TURN, NEVER);
    pass.answered({ throttled: false }, { limit: 20, remaining: 7, resetMs: 1_000 });
  }
  expect(limiter.allowedPerSecond(performance.now())).toBe(8);
});

test('a call that is aborted waits no longer, and leaves nothing behind', async () => {
  const { gate, limiter } = gated();
  (await gate.enter('users.current', TURN, NEVER)).answered({ throttled: true, retryAfterMs: 9_000 });
  const sent = vi.spyOn(limiter, 'sent');
  const controller = new AbortController();
  const entering = gate.enter('users.current', TURN, controller.signal);
  const reason = new Error('Ctrl-C');
  controller.abort(reason);
  await expect(entering).rejects.toBe(reason);
  await expect(gate.enter('instances.list', TURN, controller.signal)).rejects.toBe(reason);
  expect(vi.getTimerCount()).toBe(0);
  expect(sent).not.toHaveBeenCalled();
});

/** What the heart answers to the daemon's questions. */
import { describe, expect, test } from 'vitest';
import { GrantOffice, type GrantAnswer } from '../../../src/client/gate.ts';
import { RateLimiter } from '../../../src/client/rate-limiter.ts';

const LOGS = 'workergroups.logs';
const WORKERS = 'endpointGroups.workers';
/** The clock that both processes read is ahead of the heart's own. */
const AHEAD = 50_000;

class Scene {
  readonly limiter = new RateLimiter({ random: () => 0 });
  readonly office = new GrantOffice(this.limiter);
  #number = 0;

  ask(now: number, operations: readonly string[], answers: readonly GrantAnswer[] = []) {
    this.#number += 1;
    return this.office.answer({ number: this.#number, operations, answers }, now, now + AHEAD);
  }
}

const refused = (grant: number, at: number, retryAfterMs = 3_000): GrantAnswer => ({
  grant,
  answer: { throttled: true, retryAfterMs },
  at: at + AHEAD,
});

test('a grant says what for, when, and which message it answers', () => {
  const scene = new Scene();
  expect(scene.ask(100, [LOGS])).toEqual({
    number: 1,
    grants: [{ grant: 1, operation: LOGS }],
    at: 100 + AHEAD,
    closedMs: 0,
  });
  expect(scene.ask(1_000, [WORKERS])).toMatchObject({
    number: 2,
    grants: [{ grant: 2, operation: WORKERS }],
  });
});

describe('what is not granted', () => {
  test('is to be asked for again when the daemon’s spacing is over', () => {
    expect(new Scene().ask(0, [LOGS, WORKERS, LOGS])).toMatchObject({
      grants: [{ grant: 1, operation: LOGS }],
      againInMs: 125,
    });
  });

  test('is to be asked for again after a second at most, and never in less than a millisecond', () => {
    const scene = new Scene();
    scene.ask(0, [LOGS]);
    expect(scene.ask(20, [LOGS], [refused(1, 20, 60_000)])).toMatchObject({ grants: [], againInMs: 1_000 });
    const other = new Scene();
    other.ask(0, [LOGS]);
    expect(other.ask(124.5, [WORKERS])).toMatchObject({ againInMs: 1 });
  });

  test('does not keep back what is open', () => {
    const scene = new Scene();
    scene.ask(0, [LOGS]);
    expect(scene.ask(200, [LOGS, WORKERS], [refused(1, 20)])).toMatchObject({
      grants: [{ grant: 2, operation: WORKERS }],
      againInMs: 1_000,
    });
  });
});

describe('an answer', () => {
  test.each([
    ['counts from when it came', 100, 3_100],
    ['never from before its request', -400, 3_000],
    ['never from the future', 5_000, 3_900],
  ])('%s', (_what, at, opensAt) => {
    const scene = new Scene();
    scene.ask(0, [LOGS]);
    scene.ask(900, [], [refused(1, at)]);
    expect(scene.limiter.opensAt(LOGS)).toBe(opensAt);
  });

  test('that is told twice, or of no grant, counts for nothing', () => {
    const scene = new Scene();
    scene.ask(0, [LOGS]);
    scene.ask(
      100,
      [],
      [{ grant: 1, answer: { throttled: false }, at: 50 + AHEAD }, refused(1, 60), refused(7, 60)],
    );
    expect(scene.limiter.opensAt(LOGS)).toBe(-Infinity);
  });

  test('that is lost says nothing, but its headers count', () => {
    const scene = new Scene();
    scene.ask(0, [LOGS]);
    scene.ask(200, [WORKERS]);
    const headers = { limit: 20, remaining: 9, resetMs: 500 };
    const given = scene.ask(
      300,
      [],
      [
        { grant: 1, at: 250 + AHEAD },
        { grant: 2, answer: { throttled: false }, headers, at: 250 + AHEAD },
      ],
    );
    expect(given.allowedPerSecond).toBeUndefined();
    scene.limiter.heard(LOGS, headers, 300);
    expect(scene.ask(400, [LOGS])).toMatchObject({ allowedPerSecond: 8 });
    scene.ask(500, [], [{ grant: 3, at: 450 + AHEAD }]);
    expect(scene.limiter.opensAt('deployments.heartbeat')).toBe(-Infinity);
  });

  test('of the oldest grant is not waited for if a thousand are open: a daemon that was killed leaves some', () => {
    const scene = new Scene();
    for (let count = 0; count <= 1_000; count += 1) scene.ask(count * 1_000, [LOGS]);
    scene.ask(2_000_000, [], [refused(1, 2_000_000)]);
    expect(scene.limiter.opensAt(LOGS)).toBe(-Infinity);
    scene.ask(2_000_000, [], [refused(2, 2_000_000)]);
    expect(scene.limiter.opensAt(LOGS)).toBe(2_003_000);
  });
});

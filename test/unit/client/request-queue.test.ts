/** The daemon's queue on virtual time, with a heart that answers as a test says. */
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Ask, Grants, Pass, Turn } from '../../../src/client/gate.ts';
import { RequestQueue } from '../../../src/client/request-queue.ts';
import { settlePromises, VirtualTime } from '../../support/virtual-time.ts';

const NEVER = new AbortController().signal;
const LOG: Turn = { everyMs: 1_000, need: 'log' };

class Scene {
  readonly time = new VirtualTime();
  readonly asked: Ask[] = [];
  /** Who was let in, in order. */
  readonly entered: string[] = [];
  readonly passes: Pass[] = [];
  readonly queue = new RequestQueue({
    ask: (ask) => void this.asked.push(ask),
    now: () => this.time.clock.mono(),
    setTimer: this.time.setTimer,
  });

  enter(operation: string, turn: Turn = LOG, signal = NEVER): void {
    void this.#wait(operation, turn, signal);
  }

  async #wait(operation: string, turn: Turn, signal: AbortSignal): Promise<void> {
    try {
      this.passes.push(await this.queue.enter(operation, turn, signal));
      this.entered.push(operation);
    } catch {
      this.entered.push(`${operation} aborted`);
    }
  }

  get last(): Ask {
    const last = this.asked.at(-1);
    if (!last) throw new Error('the heart was not asked');
    return last;
  }

  /** The heart answers the last message: these grants, numbered from 1. */
  async grant(operations: readonly string[], more: Partial<Grants> = {}): Promise<void> {
    const grants = operations.map((operation, index) => ({ grant: index + 1, operation }));
    this.queue.hear({ number: this.last.number, grants, at: this.time.clock.mono(), ...more });
    await settlePromises();
  }
}

describe('who is next', () => {
  test('is the one that has waited for the largest part of its interval', async () => {
    const scene = new Scene();
    scene.enter('first');
    scene.enter('slow', { everyMs: 60_000, need: 'log' });
    await scene.time.pass(2_000);
    scene.enter('fast', { everyMs: 1_000, need: 'log' });
    await scene.time.pass(500);
    await scene.grant(['first'], { againInMs: 1 });
    await scene.time.pass(2);
    // 2.5 s of 60 s are less than 0.5 s of 1 s.
    expect(scene.last.operations).toEqual(['fast', 'slow']);
    await scene.grant([], { againInMs: 1_000 });
    scene.enter('faster', { everyMs: 100, need: 'log' });
    await scene.time.pass(1_000);
    await scene.grant([], { againInMs: 1 });
    await scene.time.pass(2);
    expect(scene.last.operations).toEqual(['faster', 'fast', 'slow']);
  });

  test('is the most needed one of those that are equally overdue, and none waits twice as long for it', async () => {
    const scene = new Scene();
    scene.enter('first');
    for (const need of ['watch', 'log', 'endpoint'] as const) scene.enter(need, { everyMs: 1_000, need });
    await scene.time.pass(1_000);
    await scene.grant(['first'], { againInMs: 1 });
    await scene.time.pass(2);
    expect(scene.last.operations).toEqual(['log', 'endpoint', 'watch']);
    await scene.time.pass(1_000);
    await scene.grant([], { againInMs: 1 });
    scene.enter('late log', { everyMs: 1_000, need: 'log' });
    await scene.time.pass(1_050);
    await scene.grant([], { againInMs: 1 });
    await scene.time.pass(2);
    expect(scene.last.operations.slice(-2)).toEqual(['watch', 'late log']);
  });

  test('does not wait for a long interval the first time', async () => {
    const scene = new Scene();
    scene.enter('list', { everyMs: 3_600_000, need: 'watch' });
    await scene.time.pass(30_000);
    scene.enter('log', { everyMs: 1_000, need: 'log' });
    await scene.grant([], { againInMs: 900 });
    await scene.time.pass(1_000);
    expect(scene.last.operations).toEqual(['list', 'log']);
    await scene.grant(['list', 'log'], { againInMs: 900 });
    scene.enter('list', { everyMs: 3_600_000, need: 'watch' });
    await scene.time.pass(30_000);
    scene.enter('log', { everyMs: 1_000, need: 'log' });
    await scene.grant([], { againInMs: 900 });
    await scene.time.pass(1_000);
    expect(scene.last.operations).toEqual(['log', 'list']);
  });

  test('of the same operation is decided here when a grant comes', async () => {
    const scene = new Scene();
    scene.enter('logs', { everyMs: 5_000, need: 'log', who: '1' });
    await scene.time.pass(100);
    scene.enter('logs', { everyMs: 1_000, need: 'log', who: '2' });
    await scene.time.pass(100);
    await scene.grant(['logs']);
    // The one that comes more often has waited for more of its interval; the other one waits on.
    expect([...scene.entered, scene.queue.view().waiting]).toEqual(['logs', 1]);
    await scene.time.pass(60_000);
    expect(scene.queue.view().stretchRatio).toBeCloseTo((1.1 + 13.04 / 5) / 1.2, 1);
  });
});

describe('a grant', () => {
  test('lets one in, and its answer is told with the next message', async () => {
    const scene = new Scene();
    const { signal } = new AbortController();
    scene.enter('logs', LOG, signal);
    expect(scene.last).toEqual({ number: 1, operations: ['logs'], answers: [] });
    await scene.grant(['logs']);
    expect([scene.entered, getEventListeners(signal, 'abort')]).toEqual([['logs'], []]);
    await scene.time.pass(70);
    const headers = { limit: 20, remaining: 3, resetMs: 100 };
    scene.passes[0]?.answered({ throttled: true, retryAfterMs: 5 }, headers);
    expect(scene.last).toEqual({
      number: 2,
      operations: [],
      answers: [{ grant: 1, answer: { throttled: true, retryAfterMs: 5 }, headers, at: 70 }],
    });
    await scene.grant([]);
    scene.passes[0]?.lost();
    expect(scene.last.answers).toEqual([{ grant: 1, at: 70 }]);
  });

  test.each([
    [999, ['logs']],
    [1_000, []],
  ])('that is %d ms old is used, or not: %s', async (age, entered) => {
    const scene = new Scene();
    scene.enter('logs');
    await scene.time.pass(age);
    await scene.grant(['logs'], { at: 0 });
    expect(scene.entered).toEqual(entered);
    if (entered.length === 0)
      expect(scene.last).toMatchObject({ operations: ['logs'], answers: [{ grant: 1 }] });
  });

  test('for what nobody waits any more is given back', async () => {
    const scene = new Scene();
    const controller = new AbortController();
    scene.enter('logs', LOG, controller.signal);
    scene.enter('workers');
    const reason = new Error('Ctrl-C');
    controller.abort(reason);
    await expect(scene.queue.enter('logs', LOG, controller.signal)).rejects.toBe(reason);
    await scene.grant(['logs']);
    expect([scene.queue.view().waiting, scene.entered]).toEqual([1, ['logs aborted']]);
    expect(scene.last).toEqual({ number: 2, operations: ['workers'], answers: [{ grant: 1, at: 0 }] });
  });
});

describe('messages', () => {
  test('are one at a time, with 64 requests at most', async () => {
    const scene = new Scene();
    scene.enter('logs');
    for (let count = 0; count < 100; count += 1) scene.enter('workers');
    expect(scene.asked).toHaveLength(1);
    await scene.grant(['logs']);
    expect(scene.asked).toHaveLength(2);
    expect(scene.last.operations).toHaveLength(64);
  });

  test('come again when the heart has asked for that', async () => {
    const scene = new Scene();
    scene.enter('logs');
    await scene.grant([], { againInMs: 300 });
    await scene.time.pass(299);
    expect(scene.asked).toHaveLength(1);
    await scene.time.pass(2);
    expect(scene.asked).toHaveLength(2);
  });

  test('that the heart does not answer come again after 5 s, and its late answer is not heard', async () => {
    const scene = new Scene();
    scene.enter('logs');
    await scene.time.pass(4_999);
    expect(scene.asked).toHaveLength(1);
    await scene.time.pass(2);
    expect(scene.asked.map(({ number }) => number)).toEqual([1, 2]);
    await scene.grant(['logs'], { number: 1 });
    expect(scene.entered).toEqual([]);
    await scene.grant(['logs']);
    expect(scene.entered).toEqual(['logs']);
  });

  test('do not come sooner for another request of the same operation', async () => {
    const scene = new Scene();
    scene.enter('log');
    await scene.grant([], { againInMs: 500 });
    const asked = scene.asked.length;
    scene.enter('log');
    expect(scene.asked).toHaveLength(asked);
    scene.enter('other');
    expect(scene.last.operations).toContain('other');
  });

  test('end when nobody waits, or the queue is closed', async () => {
    const scene = new Scene();
    scene.enter('logs');
    await scene.grant(['logs']);
    await scene.time.pass(60_000);
    expect(scene.asked).toHaveLength(1);
    scene.enter('logs');
    await scene.grant([], { againInMs: 300 });
    scene.queue.close();
    await scene.time.pass(60_000);
    scene.enter('users');
    expect([scene.asked.length, scene.time.timers]).toEqual([2, 0]);
  });
});

describe('the view', () => {
  test('has what is wanted and allowed, and how far intervals are stretched', async () => {
    const scene = new Scene();
    const idle = {
      wantedPerSecond: 0,
      allowedPerSecond: undefined,
      stretchRatio: 1,
      closedMs: 0,
      waiting: 0,
    };
    expect(scene.queue.view()).toEqual(idle);
    scene.enter('logs', { everyMs: 1_000, need: 'log', who: '1' });
    await scene.time.pass(3_000);
    await scene.grant(['logs'], { allowedPerSecond: 0.5 });
    scene.enter('logs', { everyMs: 1_000, need: 'log', who: '2' });
    await scene.grant(['logs'], { allowedPerSecond: 0.5 });
    // One comes every 4 s instead of each second, the other one in time.
    expect(scene.queue.view()).toEqual({
      ...idle,
      wantedPerSecond: 2,
      allowedPerSecond: 0.5,
      stretchRatio: 2.5,
    });
    scene.enter('logs', { everyMs: 1_000, need: 'log', who: '2' });
    await scene.grant(['logs'], { closedMs: 700 });
    expect(scene.queue.view()).toMatchObject({ allowedPerSecond: undefined, closedMs: 700 });
  });

  test('has what nobody was granted yet', async () => {
    const scene = new Scene();
    await scene.time.pass(500);
    scene.enter('logs', { everyMs: 1_000, need: 'log' });
    await scene.time.pass(9_000);
    expect(scene.queue.view()).toMatchObject({ wantedPerSecond: 1, stretchRatio: 10, waiting: 1 });
  });

  test('forgets who does not come any more', async () => {
    const scene = new Scene();
    scene.enter('logs');
    await scene.time.pass(1_000);
    await scene.grant(['logs']);
    await scene.time.pass(64_000);
    expect(scene.queue.view().wantedPerSecond).toBe(1);
    await scene.time.pass(1);
    expect(scene.queue.view().wantedPerSecond).toBe(0);
  });
});

/** Faults of the demo, one after the other, on virtual time. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFaultPlan } from '../../../../src/cli/demo/demo.ts';
import type { Screen } from '../../../../src/cli/demo/screen.ts';
import { startEmulator, type Emulator } from '../../../../src/emulator/index.ts';

let emulator: Emulator;
const said: string[] = [];
const screen: Screen = {
  heading: (line) => said.push(line),
  event: (subject, text, tone) => said.push(`${subject} ${tone}: ${text}`),
  record: () => {},
};

beforeEach(async () => {
  said.length = 0;
  emulator = await startEmulator({ dialect: 'public', clock: 'frozen' });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await emulator.close();
});

/** So many lines have been said: a fault is lifted by real sockets, in no time of the demo's. */
async function until(lines: number): Promise<void> {
  while (said.length < lines) await new Promise((resolve) => setImmediate(resolve));
}

test('each fault is announced, lasts four seconds, and is over before the next', async () => {
  const controller = new AbortController();
  const plan = createFaultPlan(emulator, screen);
  const running = plan.run(controller.signal);
  await vi.advanceTimersByTimeAsync(4_999);
  expect([said, emulator.faults.list()]).toEqual([[], []]);
  await vi.advanceTimersByTimeAsync(1);
  expect(said).toEqual(['fault warn: the service refuses every connection, for 4 s']);
  expect(emulator.faults.list()).toMatchObject([{ kind: 'refused' }]);
  await vi.advanceTimersByTimeAsync(4_000);
  await until(2);
  expect([said[1], emulator.faults.list(), plan.report()]).toEqual([
    'fault warn: over',
    [],
    { injected: 1, survived: 1 },
  ]);
  await vi.advanceTimersByTimeAsync(11_999);
  expect(said).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  await until(3);
  expect(said[2]).toBe('fault warn: the service hangs: it takes requests and never answers, for 4 s');
  controller.abort();
  await running;
  expect([said[3], plan.report()]).toEqual(['fault warn: over', { injected: 2, survived: 2 }]);
});

test('a fault after which a deployment has expired was not survived, and the end lifts it', async () => {
  const controller = new AbortController();
  const plan = createFaultPlan(emulator, screen);
  const running = plan.run(controller.signal);
  await vi.advanceTimersByTimeAsync(5_000);
  await emulator.clock.advance(86_400_000);
  controller.abort();
  await running;
  expect(plan.report()).toEqual({ injected: 1, survived: 0 });
  expect(emulator.faults.list()).toEqual([]);
});

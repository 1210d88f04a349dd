import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listenForSignals } from '../../../../../src/heartbeat/process/main.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;

/** Those of the process that runs the tests, which hear nothing meanwhile. */
let others: [(typeof SIGNALS)[number], NodeJS.SignalsListener[]][];
const exits: unknown[] = [];
beforeEach(() => {
  others = SIGNALS.map((signal) => [signal, process.listeners(signal)]);
  for (const signal of SIGNALS) process.removeAllListeners(signal);
  exits.length = 0;
  vi.spyOn(process, 'exit').mockImplementation((code) => exits.push(code) as never);
});
afterEach(() => {
  vi.restoreAllMocks();
  for (const [signal, listeners] of others) {
    process.removeAllListeners(signal);
    for (const listener of listeners) process.on(signal, listener);
  }
});

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('%s tells the program to end, and a second one ends it at once with %i', async (signal, code) => {
  const { told } = listenForSignals();
  process.emit(signal, signal);
  await told;
  expect(exits).toEqual([]);
  process.emit(signal, signal);
  expect(exits).toEqual([code]);
});

test('whichever comes first, the second one ends it', () => {
  listenForSignals();
  process.emit('SIGINT', 'SIGINT');
  process.emit('SIGTERM', 'SIGTERM');
  expect(exits).toEqual([143]);
});

test('a request to quit tells it too, and is no signal', async () => {
  const signals = listenForSignals();
  signals.quit();
  await signals.told;
  process.emit('SIGTERM', 'SIGTERM');
  expect(exits).toEqual([]);
});

test('SIGHUP does what it is to do by then, and nothing before', async () => {
  const signals = listenForSignals();
  process.emit('SIGHUP', 'SIGHUP');
  let reloads = 0;
  signals.reload = () => (reloads += 1);
  process.emit('SIGHUP', 'SIGHUP');
  process.emit('SIGHUP', 'SIGHUP');
  expect(reloads).toBe(2);
  const first = await Promise.race([signals.told.then(() => 'told'), Promise.resolve('not told')]);
  expect(first).toBe('not told');
});

test('signals that are meant for others are taken and end nothing', () => {
  listenForSignals();
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
    expect(process.listenerCount(signal)).toBe(1);
    process.emit(signal, signal);
  }
  expect(exits).toEqual([]);
});

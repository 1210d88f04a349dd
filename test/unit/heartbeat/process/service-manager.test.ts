import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createServiceManager } from '../../../../src/heartbeat/process/system.ts';
import { NotifyProgram } from '../../../support/notify-program.ts';

let program: NotifyProgram;
let failures: Error[];
beforeEach(() => {
  program = new NotifyProgram();
  failures = [];
});
afterEach(() => {
  vi.useRealTimers();
  program[Symbol.dispose]();
});

/** What it tells belongs to the test that made it, also where its last program ends after that. */
function manager(watchdogMs?: number) {
  const own = failures;
  return createServiceManager({ watchdogMs }, (error) => own.push(error));
}
const soon = <T>(what: () => T) => expect.poll(what, { interval: 2 });
/** Virtual time for signs of life; programs take as long as they take. */
const fakeIntervals = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });

test('messages are sent one after the other, with what systemd asks for', async () => {
  program.close();
  const before = process.hrtime.bigint() / 1000n;
  const subject = manager();
  subject.reloading();
  subject.ready('keeping 2 deployments alive');
  await soon(program.begun).toHaveLength(1);
  const [reloading = ''] = program.begun();
  const [, sentAt = '0'] = /^RELOADING=1 MONOTONIC_USEC=(\d+)$/.exec(reloading) ?? [];
  expect(BigInt(sentAt)).toBeGreaterThanOrEqual(before);
  expect(BigInt(sentAt)).toBeLessThanOrEqual(process.hrtime.bigint() / 1000n);
  program.open();
  await soon(program.ended).toEqual([reloading, 'READY=1 STATUS=keeping 2 deployments alive']);
});

test('that the program stops is sent beside what is under way', async () => {
  program.close();
  const subject = manager();
  subject.ready('keeping 0 deployments alive');
  await soon(program.begun).toHaveLength(1);
  subject.stopping();
  const both = ['READY=1 STATUS=keeping 0 deployments alive', 'STOPPING=1 STATUS=stopping'];
  await soon(program.begun).toEqual(both);
  program.open();
  await soon(program.ended).toHaveLength(2);
});

test('a failure is told once, and again after one that went well', async () => {
  program.fails = true;
  const subject = manager();
  for (const status of ['1', '2', '3']) subject.ready(status);
  await soon(program.begun).toHaveLength(3);
  expect(failures).toHaveLength(1);
  program.fails = false;
  subject.ready('4');
  await soon(program.ended).toContain('READY=1 STATUS=4');
  subject.ready('5');
  await soon(program.ended).toContain('READY=1 STATUS=5');
  program.fails = true;
  subject.ready('6');
  await soon(() => failures).toHaveLength(2);
});

test('signs of life go out at each half of the time, one at once', async () => {
  fakeIntervals();
  manager(500).watch(() => true);
  vi.advanceTimersByTime(499);
  program.close();
  vi.advanceTimersByTime(1);
  await soon(program.begun).toEqual(['WATCHDOG=1']);
  vi.advanceTimersByTime(5_000);
  program.open();
  await soon(program.ended).toEqual(['WATCHDOG=1']);
  // What is under way is over a little later than its program.
  await soon(() => {
    if (program.begun().length === 1) vi.advanceTimersByTime(500);
    return program.begun();
  }).toEqual(['WATCHDOG=1', 'WATCHDOG=1']);
});

test('a program that does not live gives no sign of it', async () => {
  fakeIntervals();
  const subject = manager(500);
  subject.watch(() => false);
  vi.advanceTimersByTime(5_000);
  subject.ready('still');
  await soon(program.ended).toEqual(['READY=1 STATUS=still']);
  expect(program.begun()).toHaveLength(1);
});

test('a sign of life that fails is told, and the next one is sent', async () => {
  fakeIntervals();
  program.fails = true;
  manager(500).watch(() => true);
  await soon(() => {
    vi.advanceTimersByTime(500);
    return program.begun().length;
  }).toBeGreaterThan(2);
  expect(failures).toHaveLength(1);
});

test('without a watchdog no sign of life is sent', () => {
  fakeIntervals();
  manager().watch(() => true);
  expect(vi.getTimerCount()).toBe(0);
});

/** What happens to the program itself while it keeps many alive: it is stopped and goes on, its clock is set, it is ended. */
import { existsSync, globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { describeWith } from '../../support/optional.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Spread over the interval, so that what happens finds one at every point between two beats. */
const idsUpTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const listed = (ids: readonly number[], ttlMs: number) => ids.map((id) => `${id}@${ttlMs}ms`).join(',');
const seeded = (ids: readonly number[], ttlMs: number) => ids.map((id) => ({ id, ttl: ttlMs / 1000 }));
const beatsOf = (emulator: Emulator) => emulator.deployments.list().map(({ beats }) => beats);

test.concurrent('a process that is stopped for a third of the TTL and continues loses nothing', async () => {
  const [ids, ttlMs] = [idsUpTo(20), 20_000];
  await using emulator = await startEmulator({ seed: { deployments: seeded(ids, ttlMs) } });
  await using daemon = await startDaemonProcess({ ...serviceOf(emulator), DEPLOYMENTS: listed(ids, ttlMs) });
  const beats = () => beatsOf(emulator);
  for (const round of [1, 2]) {
    const before = beats();
    await until(() => beats().every((count, index) => count > (before[index] ?? 0)));
    daemon.child.kill('SIGSTOP');
    // What had left arrives, however busy this machine is.
    await delay(1_000);
    const stopped = beats();
    await delay(ttlMs / 3 - 1_000);
    expect(beats(), `round ${round}: it is stopped`).toEqual(stopped);
    daemon.child.kill('SIGCONT');
    await until(() => beats().every((count, index) => count > (stopped[index] ?? 0)));
  }
  const margins = emulator.deployments.list().map(({ minMarginMs }) => minMarginMs ?? 0);
  process.stdout.write(`stopped for T/3, TTL 20 s: closest approach ${Math.min(...margins)} ms\n`);
  expect(emulator.deployments.list().filter(({ expired }) => expired)).toEqual([]);
});

test.concurrent('SIGTERM under load leaves every deployment T − ε − A, by the books of the service', async () => {
  const [ids, groups, ttlMs] = [idsUpTo(50), [7, 8], 60_000];
  // ε and A of the heartbeat engine for this TTL.
  const [allowanceMs, attemptTimeoutMs] = [ttlMs / 100, 3_000];
  await using emulator = await startEmulator({
    seed: {
      deployments: seeded(ids, ttlMs),
      workergroups: groups.map((id) => ({ id, lines_per_second: 500 })),
    },
  });
  await using daemon = await startDaemonProcess({
    ...serviceOf(emulator),
    DEPLOYMENTS: listed(ids, ttlMs),
    WORKER_GROUPS: groups.join(','),
  });
  const scraping = new AbortController();
  const scraper = scrape(daemon.url, scraping.signal);
  await until(() => emulator.deployments.list().every(({ beats }) => beats >= 1));
  // Somewhere between the beats of each: the interval is 12 s.
  await delay(5_000 + 2_000 * Math.random());
  const before = emulator.deployments.list().map(({ expiresAtMs }) => (expiresAtMs ?? 0) - Date.now());
  daemon.child.kill('SIGTERM');
  expect(await daemon.exit).toBe(0);
  // By its own last words, not by when a busy machine told this process of its end.
  const [, time = ''] = await daemon.seen(/"time":"([^"]+)","msg":"stopped"/);
  const endedAt = Date.parse(time);
  scraping.abort();
  await scraper;
  const left = emulator.deployments.list().map(({ expiresAtMs }) => (expiresAtMs ?? 0) - endedAt);
  process.stdout.write(
    `SIGTERM, TTL 60 s: least remaining time ${Math.min(...before)} ms before, ${Math.min(...left)} ms after\n`,
  );
  // Else nothing had to be done.
  expect(Math.min(...before)).toBeLessThan(ttlMs - allowanceMs - attemptTimeoutMs);
  expect(Math.min(...left)).toBeGreaterThanOrEqual(ttlMs - allowanceMs - attemptTimeoutMs);
});

/** Up to 20 times a second, beside a thousand log lines. */
async function scrape(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await fetch(`${url}/metrics`, { signal }).then(
      (answer) => answer.text(),
      () => undefined,
    );
    await delay(50);
  }
}

const [FAKETIME = ''] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');

describeWith(
  'libfaketime',
  existsSync(FAKETIME),
  'install libfaketime',
)('a wall clock that is set', () => {
  test('forwards and back costs no deployment, and is said', async () => {
    const [ids, ttlMs] = [idsUpTo(10), 20_000];
    using folder = temporaryFolder();
    const clock = join(folder.path, 'clock');
    writeFileSync(clock, '+0\n');
    await using emulator = await startEmulator({ seed: { deployments: seeded(ids, ttlMs) } });
    await using daemon = await startDaemonProcess(
      { ...serviceOf(emulator), DEPLOYMENTS: listed(ids, ttlMs) },
      // The library fakes this process' wall clock and leaves its monotonic one alone.
      {
        LD_PRELOAD: FAKETIME,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        DONT_FAKE_MONOTONIC: '1',
      },
    );
    const beats = () => beatsOf(emulator);
    const sent = () => emulator.journal.count({ operation: 'deployments.heartbeat' });
    await until(() => beats().every((count) => count >= 2));
    for (const step of ['+3600', '-3600', '+0']) {
      const [before, countBefore] = [beats(), sent()];
      writeFileSync(clock, `${step}\n`);
      await until(() => beats().every((count, index) => count > (before[index] ?? 0)));
      await delay(2_000);
      // The beat that a step asks for, the next one, and no storm of them.
      expect(sent() - countBefore, step).toBeLessThanOrEqual(4 * ids.length);
    }
    expect(emulator.deployments.list().filter(({ expired }) => expired)).toEqual([]);
    await daemon.seen(/"byMs":3(?:600|599)\d{3},"msg":"the clock jumped/);
    await daemon.seen(/"byMs":-7(?:200|199)\d{3},"msg":"the clock jumped/);
  });
});

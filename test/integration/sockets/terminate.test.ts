import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';

const TTL_MS = 60_000;
/** ε and A of the heartbeat engine for this TTL. */
const ALLOWANCE_MS = TTL_MS / 100;
const ATTEMPT_TIMEOUT_MS = 3_000;
const IDS = Array.from({ length: 50 }, (_, index) => index + 1);
const GROUPS = [7, 8];

test('SIGTERM under load leaves every deployment T − ε − A, by the books of the service', async () => {
  await using emulator = await startEmulator({
    seed: {
      deployments: IDS.map((id) => ({ id, ttl: TTL_MS / 1000 })),
      workergroups: GROUPS.map((id) => ({ id, lines_per_second: 500 })),
    },
  });
  await using daemon = await startDaemonProcess({
    ...serviceOf(emulator),
    DEPLOYMENTS: IDS.map((id) => `${id}@${TTL_MS}ms`).join(','),
    WORKER_GROUPS: GROUPS.join(','),
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
  expect(Math.min(...before)).toBeLessThan(TTL_MS - ALLOWANCE_MS - ATTEMPT_TIMEOUT_MS);
  expect(Math.min(...left)).toBeGreaterThanOrEqual(TTL_MS - ALLOWANCE_MS - ATTEMPT_TIMEOUT_MS);
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

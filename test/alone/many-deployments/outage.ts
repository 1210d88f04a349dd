import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { until } from '../../support/daemon.ts';
import { startFaultProxy, type FaultMode } from '../../support/fault-proxy.ts';

const TTL_S = 20;
const OUTAGE_MS = 11_000;
const IDS = Array.from({ length: 200 }, (_, index) => index + 1);

/** A process for each, which has the service and the way to it besides: three at once are too much for one on a slow machine. */
export function testOutage(mode: FaultMode): void {
  test(`200 deployments with a TTL of 20 s and one outage of 11 s, ${mode.kind}: none expires`, async () => {
    await using emulator = await startEmulator({
      seed: { deployments: IDS.map((id) => ({ id, ttl: TTL_S })) },
    });
    await using proxy = await startFaultProxy(emulator.port);
    await using _ = await startDaemonProcess({
      API_KEY: emulator.apiKey,
      BASE_URL: proxy.url,
      DEPLOYMENTS: IDS.map((id) => `${id}@${TTL_S}s`).join(','),
    });
    const books = () => emulator.deployments.list();
    await until(() => books().every(({ beats }) => beats >= 2));
    const before = emulator.journal.count({ operation: 'deployments.heartbeat' });
    await proxy.switchTo(mode);
    await delay(OUTAGE_MS);
    const accepted = books().map(({ beats }) => beats);
    await proxy.switchTo({ kind: 'pass' });
    // A lapsed deployment gets no more heartbeats.
    await until(() =>
      books().every(({ beats, lapses }, index) => lapses > 0 || beats > (accepted[index] ?? 0)),
    );
    expect(books().filter(({ lapses }) => lapses > 0)).toEqual([]);
    const closest = Math.min(...books().map(({ minMarginMs }) => minMarginMs ?? 0));
    const beats = emulator.journal.count({ operation: 'deployments.heartbeat' }) - before;
    process.stdout.write(
      `200 deployments, ${mode.kind} for 11 s: closest approach ${(closest / 1000).toFixed(1)} s, ${beats} requests after it\n`,
    );
  }, 240_000);
}

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { until } from '../support/daemon.ts';
import { startFaultProxy, type FaultMode } from '../support/fault-proxy.ts';
import { startPilotlight } from '../support/process.ts';

const TTL_S = 20;
const OUTAGE_MS = 11_000;
const IDS = Array.from({ length: 200 }, (_, index) => index + 1);
const MODES: readonly FaultMode[] = [{ kind: 'refuse' }, { kind: 'hang-after-request' }, { kind: 'reset' }];

// One after the other: services and proxies of three outages at once are more than this process can do on a slow machine.
describe('200 deployments with a TTL of 20 s and one outage of 11 s', () => {
  test.each(MODES)('$kind: none expires', { timeout: 240_000 }, async (mode) => {
    await using emulator = await startEmulator({
      seed: { deployments: IDS.map((id) => ({ id, ttl: TTL_S })) },
    });
    await using proxy = await startFaultProxy(emulator.port);
    await using _ = startPilotlight(['run'], {
      PILOTLIGHT_API_KEY: emulator.apiKey,
      PILOTLIGHT_BASE_URL: proxy.url,
      PILOTLIGHT_DEPLOYMENTS: IDS.map((id) => `${id}@${TTL_S}s`).join(','),
      PILOTLIGHT_LISTEN: '127.0.0.1:0',
      PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
    });
    const books = () => emulator.deployments.list();
    await until(() => books().every(({ beats }) => beats >= 2));
    const before = emulator.journal.count({ operation: 'deployments.heartbeat' });
    await proxy.switchTo(mode);
    await delay(OUTAGE_MS);
    const accepted = books().map(({ beats }) => beats);
    await proxy.switchTo({ kind: 'pass' });
    await until(() => books().every(({ beats }, index) => beats > (accepted[index] ?? 0)));
    expect(books().filter(({ lapses }) => lapses > 0)).toEqual([]);
    const closest = Math.min(...books().map(({ minMarginMs }) => minMarginMs ?? 0));
    const beats = emulator.journal.count({ operation: 'deployments.heartbeat' }) - before;
    process.stdout.write(
      `200 deployments, ${mode.kind} for 11 s: closest approach ${(closest / 1000).toFixed(1)} s, ${beats} requests after it\n`,
    );
  });
});

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { startTestDaemon, until } from '../support/daemon.ts';
import { startFaultProxy, type FaultMode } from '../support/fault-proxy.ts';

const TTL_S = 20;
const OUTAGE_MS = 11_000;
const IDS = Array.from({ length: 200 }, (_, index) => index + 1);
const MODES: readonly FaultMode[] = [{ kind: 'refuse' }, { kind: 'hang-after-request' }, { kind: 'reset' }];

// One after the other: three services, proxies and hearts at once are more than a slow machine's core can do.
describe('200 deployments with a TTL of 20 s and one outage of 11 s', () => {
  test.each(MODES)('$kind: none expires', { timeout: 240_000 }, async (mode) => {
    await using emulator = await startEmulator({
      seed: { deployments: IDS.map((id) => ({ id, ttl: TTL_S })) },
    });
    await using proxy = await startFaultProxy(emulator.port);
    await using daemon = await startTestDaemon({
      API_KEY: emulator.apiKey,
      BASE_URL: proxy.url,
      DEPLOYMENTS: IDS.map((id) => `${id}@${TTL_S}s`).join(','),
    });
    const books = () => emulator.deployments.list();
    await until(() => books().every(({ beats }) => beats >= 2));
    const before = emulator.journal.count({ operation: 'deployments.heartbeat' });
    await proxy.switchTo(mode);
    await delay(OUTAGE_MS);
    await proxy.switchTo({ kind: 'pass' });
    // Past the TTL of every heartbeat from before the outage.
    await delay(TTL_S * 1000 - OUTAGE_MS + 500);
    expect(books().filter(({ expired }) => expired)).toEqual([]);
    const { deployments } = daemon.daemon.status();
    expect(deployments.filter(({ state }) => state !== 'healthy')).toEqual([]);
    const closest = Math.min(...books().map(({ minMarginMs }) => minMarginMs ?? 0));
    const beats = emulator.journal.count({ operation: 'deployments.heartbeat' }) - before;
    process.stdout.write(
      `200 deployments, ${mode.kind} for 11 s: closest approach ${(closest / 1000).toFixed(1)} s, ${beats} requests after it\n`,
    );
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { timingFor } from '../../../src/heartbeat/engine/formulas.ts';
import { startTestDaemon, until } from '../../support/daemon.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TTL_MS = 20_000;
const { backoff, tick, pause, attemptTimeout } = timingFor({ ttl: TTL_MS, interval: 'auto' });
const HEARTBEAT = { operation: 'deployments.heartbeat', id: 42 } as const;

// Whether the daemon learns of it before or after the file changes depends on where in the interval it falls.
test.concurrent.each([0.1, 3.5])(
  'a key that is reset %d s after a beat, and 3 s later is in the file',
  async (afterBeat) => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'key');
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_MS / 1000 }] } });
    writeFileSync(file, `${emulator.apiKey}\n`);
    await using tested = await startTestDaemon({
      API_KEY_FILE: file,
      BASE_URL: emulator.url,
      DEPLOYMENTS: `42@${TTL_MS}ms`,
    });
    // The first interval is a short one.
    await until(() => emulator.deployments.get(42).beats > 1);
    const heartbeats = (status: number, afterSeq: number) =>
      emulator.journal.entries({ ...HEARTBEAT, status, afterSeq });
    await delay(afterBeat * 1000);

    const afterSeq = emulator.journal.entries().at(-1)?.seq ?? 0;
    const resetAt = performance.now();
    emulator.apiKeys.reset('default', 'key-2');
    await delay(3_000);
    const refusedBefore = heartbeats(401, afterSeq).length;
    writeFileSync(file, 'key-2\n');
    const changedAt = Date.now();
    await until(() => heartbeats(200, afterSeq).length > 0);
    const [accepted] = heartbeats(200, afterSeq);
    const tookMs = (accepted?.atMs ?? Infinity) - changedAt;
    process.stdout.write(
      `key rotated ${afterBeat} s after a beat: ${refusedBefore} refused before, ${heartbeats(401, afterSeq).length} in all, accepted ${tookMs} ms after the file changed\n`,
    );

    // Refused before the file changed: the source is watched every B, and a beat leaves at once. Not yet: the
    // beat that is due finds out, reads the file, and the next one leaves as soon as the spacing allows.
    const bound = refusedBefore > 0 ? backoff : TTL_MS / 5 + backoff;
    expect(tookMs).toBeLessThan(bound + tick + pause + attemptTimeout);
    const refused = heartbeats(401, afterSeq);
    expect(refused.length).toBeLessThanOrEqual(1 + (performance.now() - resetAt) / 1000);
    for (const [index, { atMs }] of refused.slice(1).entries())
      expect(atMs - (refused[index]?.atMs ?? 0)).toBeGreaterThan(900);

    await until(() => emulator.deployments.get(42).beats >= 4);
    expect(emulator.deployments.get(42)).toMatchObject({ expired: false, lapses: 0 });
    // The service accepts a beat some milliseconds before the daemon hears of it.
    const deployment = () => tested.daemon.status().deployments[0];
    await until(() => deployment()?.state === 'healthy');
    expect(deployment()).toMatchObject({ lapses: 0 });
    expect(JSON.stringify(tested.messages)).not.toContain('key-2');
  },
);

import { existsSync, globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { describeWith } from '../../support/optional.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TTL_S = 20;
const IDS = Array.from({ length: 10 }, (_, index) => index + 1);
const [FAKETIME = ''] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');

describeWith(
  'libfaketime',
  existsSync(FAKETIME),
  'install libfaketime',
)('a wall clock that is set', () => {
  test('forwards and back costs no deployment, and is said', async () => {
    using folder = temporaryFolder();
    const clock = join(folder.path, 'clock');
    writeFileSync(clock, '+0\n');
    await using emulator = await startEmulator({
      seed: { deployments: IDS.map((id) => ({ id, ttl: TTL_S })) },
    });
    await using daemon = await startDaemonProcess(
      {
        ...serviceOf(emulator),
        DEPLOYMENTS: IDS.map((id) => `${id}@${TTL_S}s`).join(','),
      },
      // The library fakes this process' wall clock and leaves its monotonic one alone.
      {
        LD_PRELOAD: FAKETIME,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        DONT_FAKE_MONOTONIC: '1',
      },
    );
    const beats = () => emulator.deployments.list().map((deployment) => deployment.beats);
    const sent = () => emulator.journal.count({ operation: 'deployments.heartbeat' });
    await until(() => beats().every((count) => count >= 2));
    for (const step of ['+3600', '-3600', '+0']) {
      const [before, countBefore] = [beats(), sent()];
      writeFileSync(clock, `${step}\n`);
      await until(() => beats().every((count, index) => count > (before[index] ?? 0)));
      await delay(2_000);
      // The beat that a step asks for, the next one, and no storm of them.
      expect(sent() - countBefore, step).toBeLessThanOrEqual(4 * IDS.length);
    }
    expect(emulator.deployments.list().filter(({ expired }) => expired)).toEqual([]);
    await daemon.seen(/"byMs":3(?:600|599)\d{3},"msg":"the clock jumped/);
    await daemon.seen(/"byMs":-7(?:200|199)\d{3},"msg":"the clock jumped/);
  });
});

import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';

const TTL_MS = 20_000;
/** Spread over the interval, so that the stop finds one at every point between two beats. */
const IDS = Array.from({ length: 20 }, (_, index) => index + 1);

test('a process that is stopped for a third of the TTL and continues loses nothing', async () => {
  await using emulator = await startEmulator({
    seed: { deployments: IDS.map((id) => ({ id, ttl: TTL_MS / 1000 })) },
  });
  await using daemon = await startDaemonProcess({
    ...serviceOf(emulator),
    DEPLOYMENTS: IDS.map((id) => `${id}@${TTL_MS}ms`).join(','),
  });
  const beats = () => emulator.deployments.list().map((deployment) => deployment.beats);
  for (const round of [1, 2]) {
    const before = beats();
    await until(() => beats().every((count, index) => count > (before[index] ?? 0)));
    daemon.child.kill('SIGSTOP');
    await delay(100);
    const stopped = beats();
    await delay(TTL_MS / 3);
    expect(beats(), `round ${round}: it is stopped`).toEqual(stopped);
    daemon.child.kill('SIGCONT');
    await until(() => beats().every((count, index) => count > (stopped[index] ?? 0)));
  }
  const margins = emulator.deployments.list().map(({ minMarginMs }) => minMarginMs ?? 0);
  process.stdout.write(`stopped for T/3, TTL 20 s: closest approach ${Math.min(...margins)} ms\n`);
  expect(emulator.deployments.list().filter(({ expired }) => expired)).toEqual([]);
});

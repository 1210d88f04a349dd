/** A file system that hangs holds up no heartbeat, no signal and no end of the program. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { startPilotlight } from '../../support/process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** What the shell runs: the kernel asks /dev/fuse, and this process never reads there. */
const MOUNT =
  'exec 3<>/dev/fuse && mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none "$1" && echo mounted && sleep 600';

/** Needs root, and a kernel that has FUSE. */
const canHang =
  process.getuid?.() === 0 &&
  existsSync('/dev/fuse') &&
  spawnSync('bash', ['-c', 'exec 3<>/dev/fuse'], { stdio: 'ignore' }).status === 0;

/** From now on every look into the folder hangs, until it is disposed of: then what was there is there again. */
async function hang(folder: string): Promise<AsyncDisposable> {
  const child = spawn('bash', ['-c', MOUNT, 'bash', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  for await (const line of createInterface(child.stdout)) if (line === 'mounted') break;
  return {
    async [Symbol.asyncDispose]() {
      spawnSync('umount', ['-l', folder]);
      // With what it waits in.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    },
  };
}

const TTL_S = 20;
/** Three intervals. */
const LASTS_MS = 12_000;

function startService(): Promise<Emulator> {
  return startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_S }] } });
}

function arrivals(emulator: Emulator): number[] {
  return emulator.journal.entries({ operation: 'deployments.heartbeat' }).map(({ atMs }) => atMs);
}

/** The longest time between two heartbeats, ms. */
function longestGap(emulator: Emulator): number {
  const times = arrivals(emulator);
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
}

// Not required: some machines have no FUSE to install.
(canHang ? describe : describe.skip)('files that hang', () => {
  test.concurrent('at a reload: heartbeats go on, the old configuration stays, SIGTERM sends the last one', async () => {
    using folder = temporaryFolder();
    const files = join(folder.path, 'files');
    mkdirSync(files);
    writeFileSync(join(files, 'deployments'), `42@${TTL_S}s`);
    await using emulator = await startService();
    await using program = await startDaemonProcess({
      ...serviceOf(emulator),
      DEPLOYMENTS_FILE: join(files, 'deployments'),
    });
    await until(() => emulator.deployments.get(42).beats > 0);
    await using _hanging = await hang(files);
    program.child.kill('SIGHUP');
    await program.seen(/reload refused.*did not answer within 4 s|did not answer within 4 s.*reload refused/);
    await delay(LASTS_MS);
    expect(longestGap(emulator)).toBeLessThan(8_000);
    const endedAt = emulator.clock.now();
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
    // Unless one was accepted within the second before.
    expect(arrivals(emulator).at(-1)).toBeGreaterThan(endedAt - 1_000);
  });

  test.concurrent('under the key that the service refuses: the old one is sent again and again', async () => {
    using folder = temporaryFolder();
    const files = join(folder.path, 'files');
    mkdirSync(files);
    await using emulator = await startService();
    const { apiKey } = emulator;
    writeFileSync(join(files, 'key'), apiKey);
    await using program = await startDaemonProcess({
      API_KEY_FILE: join(files, 'key'),
      BASE_URL: emulator.url,
      DEPLOYMENTS: `42@${TTL_S}s`,
    });
    await until(() => emulator.deployments.get(42).beats > 0);
    await using _hanging = await hang(files);
    emulator.apiKeys.reset('default', 'another');
    await program.seen(/did not answer within 4 s/);
    emulator.apiKeys.reset('default', apiKey);
    const { beats } = emulator.deployments.get(42);
    await until(() => emulator.deployments.get(42).beats > beats + 1);
    expect(emulator.deployments.get(42).lapses).toBe(0);
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
    expect(program.stderr()).not.toContain('was killed');
  });

  test.concurrent('at the start: it is said, and SIGTERM ends the program', async () => {
    using folder = temporaryFolder();
    await using _hanging = await hang(folder.path);
    await using program = startPilotlight(['run'], {
      PILOTLIGHT_API_KEY: 'key',
      PILOTLIGHT_BASE_URL: 'http://127.0.0.1:1',
      PILOTLIGHT_DEPLOYMENTS_FILE: join(folder.path, 'deployments'),
    });
    await program.seen(/PILOTLIGHT_DEPLOYMENTS_FILE: .*it did not answer within 4 s/);
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
  });
});

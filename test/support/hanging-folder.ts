/** A folder whose files hang: a FUSE file system that nobody answers for. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** What the shell runs: the kernel asks /dev/fuse, and this process never reads there. */
const MOUNT =
  'exec 3<>/dev/fuse && mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none "$1" && echo mounted && sleep 600';

/** Needs root, and a kernel that has FUSE. */
export const canHang =
  process.getuid?.() === 0 &&
  existsSync('/dev/fuse') &&
  spawnSync('bash', ['-c', 'exec 3<>/dev/fuse'], { stdio: 'ignore' }).status === 0;

/** From now on every look into the folder hangs, until it is disposed of: then what was there is there again. */
export async function hang(folder: string): Promise<AsyncDisposable> {
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

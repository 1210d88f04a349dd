/** A STATE_DIR on a disk that is full for a while: a real file system, a real process. */
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { describeOnSmallDisk, smallDisk } from '../../support/small-disk.ts';

const GROUP = 7;

describeOnSmallDisk('a STATE_DIR', () => {
  test('on a full disk that is freed later: lines come all the while, and it says where they are', async () => {
    await using emulator = await startEmulator({
      seed: { workergroups: [{ id: GROUP, lines_per_second: 0, retained_lines: 10_000 }] },
    });
    using disk = smallDisk(32_768);
    const all = Array.from({ length: 3_000 }, (_, index) => `line ${index} ${'.'.repeat(500)}`);
    await using daemon = await startDaemonProcess({
      ...serviceOf(emulator),
      WORKER_GROUPS: String(GROUP),
      STATE_DIR: disk.path,
    });
    const durable = async (): Promise<string | undefined> =>
      /^pilotlight_log_spool_durable (\d)$/m.exec(await daemon.metrics())?.[1];
    const printed = (line: number) => until(() => daemon.stdout().includes(`"line ${line} `));
    emulator.workergroups.append(GROUP, all.slice(0, 1_000));
    await printed(999);
    expect(await durable()).toBe('1');
    disk.fill();
    emulator.workergroups.append(GROUP, all.slice(1_000, 2_000));
    await printed(1_999);
    expect(await durable()).toBe('0');
    await daemon.seen(/PILOTLIGHT_STATE_DIR cannot be used: log records are kept in memory/);
    disk.free();
    await daemon.seen(/log records are kept on disk/);
    expect(await durable()).toBe('1');
    // Whatever is killed now goes on where it was.
    process.kill(daemon.daemonPid(), 'SIGKILL');
    await daemon.seen(/pilotlight started[\s\S]*pilotlight started/);
    emulator.workergroups.append(GROUP, all.slice(2_000));
    await printed(2_999);
    const records = daemon
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LogRecord);
    expect(records.map((record) => 'line' in record && record.line)).toEqual(all);
    expect(records.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
  });
});

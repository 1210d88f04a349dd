/** Standard output on a disk that is full for a while: a real file system, a real process. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { until } from '../../support/daemon.ts';
import { startProgram } from '../../support/process.ts';
import { describeOnSmallDisk, smallDisk } from '../../support/small-disk.ts';
import { PROGRAM } from '../../support/program.ts';

const GROUP = 7;

describeOnSmallDisk('standard output', () => {
  test('on a full disk that is freed later goes on: the torn line is ended, every record is whole, none twice', async () => {
    await using emulator = await startEmulator({
      seed: { workergroups: [{ id: GROUP, lines_per_second: 0, retained_lines: 10_000 }] },
    });
    using disk = smallDisk(256);
    const output = join(disk.path, 'stdout');
    const node = [process.execPath, PROGRAM, 'run'];
    await using daemon = startProgram('sh', ['-c', 'exec "$0" "$@" >"$OUTPUT"', ...node], {
      OUTPUT: output,
      PILOTLIGHT_API_KEY: emulator.apiKey,
      PILOTLIGHT_BASE_URL: emulator.url,
      PILOTLIGHT_LISTEN: '127.0.0.1:0',
      PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
      PILOTLIGHT_WORKER_GROUPS: String(GROUP),
    });
    const written = (): string => (existsSync(output) ? readFileSync(output, 'utf8') : '');
    emulator.workergroups.append(GROUP, numbered(0, 500));
    await until(() => written().includes('line 499 '));
    disk.fill();
    emulator.workergroups.append(GROUP, numbered(500, 1_500));
    await daemon.seen(/log sink failed.*/);
    expect(written().endsWith('\n')).toBe(false);
    disk.free();
    // What was torn takes its room, so all of it fits only if nothing is written twice.
    await until(() => written().includes('line 1499 '));

    const [whole, torn] = read(written());
    expect(whole.map((record) => 'line' in record && record.line)).toEqual(numbered(0, 1_500));
    expect(torn).toHaveLength(1);
  });
});

function numbered(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `line ${from + index} ${'.'.repeat(23)}`);
}

/** Records, and what is none. */
function read(text: string): [records: LogRecord[], torn: string[]] {
  const [records, torn]: [LogRecord[], string[]] = [[], []];
  for (const line of text.trimEnd().split('\n')) {
    try {
      records.push(JSON.parse(line));
    } catch {
      torn.push(line);
    }
  }
  return [records, torn];
}

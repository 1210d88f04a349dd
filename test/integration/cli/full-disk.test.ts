/** Results onto a disk that has no room for all of them: a real file system, a real process. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startProgram } from '../../support/process.ts';
import { describeOnSmallDisk, smallDisk } from '../../support/small-disk.ts';
import { PROGRAM } from '../../support/program.ts';

describeOnSmallDisk('results', () => {
  // Written in one piece, of which a part fits.
  test.each(['logs 7 -f', 'logs 7 -f --json', 'openapi'])(
    'of pilotlight %s that a full disk takes a part of: it says so and fails',
    async (words) => {
      await using emulator = await startEmulator({
        seed: { workergroups: [{ id: 7, lines_per_second: 0, retained_lines: 10_000 }] },
      });
      const lines = Array.from({ length: 900 }, (_, index) => `line ${index} ${'.'.repeat(60)}`);
      emulator.workergroups.append(7, lines);
      using disk = smallDisk(32);
      const service = { PILOTLIGHT_API_KEY: emulator.apiKey, PILOTLIGHT_BASE_URL: emulator.url };
      const script = `exec "$0" "$1" ${words} >"$OUTPUT"`;
      const environment = { OUTPUT: join(disk.path, 'out'), ...service };
      await using program = startProgram('sh', ['-c', script, process.execPath, PROGRAM], environment);
      expect([await program.exit, program.stderr()]).toEqual([
        1,
        expect.stringMatching(/^error: the results cannot be written: ENOSPC.*\n$/),
      ]);
    },
  );
});

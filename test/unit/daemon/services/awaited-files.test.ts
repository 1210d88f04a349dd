import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configError, type ConfigProblem } from '../../../../src/config/problem.ts';
import { awaitFiles } from '../../../../src/daemon/services/reloading.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const OTHER = configError('PILOTLIGHT_A', 'x', 'a number', '');
const awaited = (file: string): ConfigProblem => ({
  ...configError('PILOTLIGHT_B_FILE', file, 'a file', ''),
  awaitedFile: file,
});

test('a file that was missing and is there by now is told', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'a');
  const found = { now: [awaited(path), awaited('/nowhere'), OTHER], loads: 0, times: 0 };
  async function load(): Promise<readonly ConfigProblem[]> {
    found.loads += 1;
    return found.now;
  }
  const end = awaitFiles(found.now, load, () => (found.times += 1), 20);
  await expect.poll(() => found.loads).toBe(1);
  expect(found.times).toBe(0);
  found.now = [awaited('/nowhere')];
  writeFileSync(path, 'there');
  await expect.poll(() => found.times).toBe(1);
  end();
});

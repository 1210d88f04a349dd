import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { watchFiles } from '../../../src/config/watched-files.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const EVERY_MS = 20;

/** Resolves with how often it was called by the time that it has been called `times` times, and a few looks more. */
function watching(paths: readonly string[]) {
  let calls = 0;
  const end = watchFiles(paths, () => (calls += 1), EVERY_MS);
  return {
    async settled(times: number): Promise<number> {
      await expect.poll(() => calls).toBe(times);
      await new Promise((resolve) => setTimeout(resolve, 5 * EVERY_MS));
      return calls;
    },
    [Symbol.dispose]: end,
  };
}

test('tells once of what changed before the first look, and of nothing while nothing changes', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'key');
  writeFileSync(path, 'key-1');
  using watched = watching([path]);
  writeFileSync(path, 'key-2');
  expect(await watched.settled(1)).toBe(1);
});

test('tells of a file that is written, replaced, removed and there again', async () => {
  using folder = temporaryFolder();
  const [path, other] = [join(folder.path, 'key'), join(folder.path, 'token')];
  writeFileSync(path, 'key-1');
  using watched = watching([path, other, path]);
  await watched.settled(1);
  writeFileSync(path, 'key-2');
  expect(await watched.settled(2)).toBe(2);
  writeFileSync(other, 'token');
  expect(await watched.settled(3)).toBe(3);
  rmSync(path);
  expect(await watched.settled(4)).toBe(4);
  writeFileSync(path, 'key-2');
  expect(await watched.settled(5)).toBe(5);
});

test('tells of nothing once it is ended', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'key');
  let calls = 0;
  const end = watchFiles([path], () => (calls += 1), EVERY_MS);
  end();
  writeFileSync(path, 'key');
  await new Promise((resolve) => setTimeout(resolve, 5 * EVERY_MS));
  expect(calls).toBe(0);
});

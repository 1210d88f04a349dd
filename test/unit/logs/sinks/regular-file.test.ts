import { execFileSync } from 'node:child_process';
import { constants, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NoRegularFile, openRegular } from '../../../../src/logs/sinks/regular-file.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const { O_APPEND, O_CREAT, O_RDONLY, O_WRONLY } = constants;

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'worker.log');
});
afterEach(() => folder[Symbol.dispose]());

test('a file is opened, or made for its owner alone', async () => {
  await using made = await openRegular(path, O_WRONLY | O_APPEND | O_CREAT);
  await made.appendFile('text');
  expect([statSync(path).size, statSync(path).mode & 0o777]).toEqual([4, 0o600]);
  symlinkSync(path, join(folder.path, 'link'));
  await using linked = await openRegular(join(folder.path, 'link'), O_RDONLY);
  expect((await linked.readFile()).toString()).toBe('text');
});

test.each<[string, number, (path: string) => void]>([
  ['a folder', O_WRONLY | O_APPEND, (at) => mkdirSync(at)],
  ['a folder that is read', O_RDONLY, (at) => mkdirSync(at)],
  ['a pipe that nobody reads', O_WRONLY | O_APPEND, (at) => execFileSync('mkfifo', [at])],
  ['a pipe that is read', O_RDONLY, (at) => execFileSync('mkfifo', [at])],
  ['a device', O_WRONLY, (at) => symlinkSync('/dev/null', at)],
])('%s is refused, for a person to see', async (_what, flags, put) => {
  put(path);
  const error = await openRegular(path, flags).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(NoRegularFile);
  expect(error).toMatchObject({
    code: 'no_regular_file',
    actor: 'user',
    message: `PILOTLIGHT_LOG_FILE is no regular file: ${path}`,
  });
});

test('what fails otherwise is told as it is', async () => {
  await expect(openRegular(path, O_RDONLY)).rejects.toMatchObject({ code: 'ENOENT' });
  writeFileSync(path, '');
  await expect(openRegular(join(path, 'within'), O_RDONLY)).rejects.toMatchObject({ code: 'ENOTDIR' });
});

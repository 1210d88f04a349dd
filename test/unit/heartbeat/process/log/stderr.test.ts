import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStderr } from '../../../../../src/heartbeat/process/log/stderr.ts';
import { describeWith } from '../../../../support/optional.ts';
import { canMount, smallDisk } from '../../../../support/small-disk.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const LONG_MS = 30_000;

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
const open: number[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'stderr');
});
afterEach(() => {
  for (const fd of open.splice(0)) closeSync(fd);
  folder[Symbol.dispose]();
});

function opened(flags: number | string): number {
  const fd = openSync(path, flags);
  open.push(fd);
  return fd;
}

/** A named pipe that takes 64 KiB, as that of a container's output does. */
function pipe(): { readonly reader: number; readonly writer: number } {
  execFileSync('mkfifo', [path]);
  const reader = opened(O_RDONLY | O_NONBLOCK);
  return { reader, writer: opened(O_WRONLY | O_NONBLOCK) };
}

/** What waits in the pipe. */
function taken(reader: number): string {
  const bytes = Buffer.alloc(1024 * 1024);
  try {
    return bytes.subarray(0, readSync(reader, bytes)).toString();
  } catch {
    return '';
  }
}

test('lines are written in their order, and a flush waits for all of them', async () => {
  const stderr = openStderr(opened('w'));
  await stderr.flush(LONG_MS);
  for (let number = 1; number <= 100; number += 1) stderr.write(`line ${number}\n`);
  await Promise.all([stderr.flush(LONG_MS), stderr.flush(LONG_MS)]);
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`);
  expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
});

test('a pipe that nobody reads holds up nothing; what fits comes whole, and what does not is counted', async () => {
  const { reader, writer } = pipe();
  const stderr = openStderr(writer);
  const line = (number: number): string => `${String(number).padStart(1_023, '.')}\n`;
  // 1 KiB is under way, and 256 KiB wait.
  for (let number = 1; number <= 300; number += 1) stderr.write(line(number));
  await stderr.flush(1);
  let text = '';
  await expect.poll(() => (text += taken(reader)).length, { interval: 5 }).toBe(257 * 1024);
  expect(text).toBe(Array.from({ length: 257 }, (_, index) => line(index + 1)).join(''));
  await stderr.flush(LONG_MS);

  stderr.write('after\n');
  stderr.write('and after\n');
  await stderr.flush(LONG_MS);
  const [said = '', ...rest] = taken(reader).split('\n');
  expect(JSON.parse(said)).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
    dropped: 43,
    msg: 'standard error did not take all messages',
  });
  expect(rest).toEqual(['after', 'and after', '']);
});

test('what could not be written is counted too, and the next line is written', async () => {
  const { reader, writer } = pipe();
  closeSync(reader);
  open.splice(open.indexOf(reader), 1);
  const stderr = openStderr(writer);
  stderr.write('lost\n');
  await stderr.flush(LONG_MS);
  const next = opened(O_RDONLY | O_NONBLOCK);
  stderr.write('next\n');
  await stderr.flush(LONG_MS);
  expect(taken(next)).toMatch(/^\{"level":"warn",.*"dropped":1,.*\}\nnext\n$/);
});

describeWith(
  'mount',
  canMount,
  'the rights to mount',
)('a full disk', () => {
  test('takes the next line when it has room again, on a line of its own', async () => {
    using disk = smallDisk(64);
    path = join(disk.path, 'stderr');
    const stderr = openStderr(opened('a'));
    stderr.write(`${'x'.repeat(2_000)}\n`);
    await stderr.flush(LONG_MS);
    disk.fill();
    stderr.write(`${'y'.repeat(5_000)}\n`);
    await stderr.flush(LONG_MS);
    disk.free();
    stderr.write('after\n');
    await stderr.flush(LONG_MS);
    const [whole, torn, said = '', ...rest] = readFileSync(path, 'utf8').split('\n');
    expect([whole, torn]).toEqual(['x'.repeat(2_000), 'y'.repeat(4_096 - 2_001)]);
    expect(JSON.parse(said)).toMatchObject({ level: 'warn', dropped: 1 });
    expect(rest).toEqual(['after', '']);
  });
});

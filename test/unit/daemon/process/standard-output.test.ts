import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { standardOutput } from '../../../../src/daemon/process/standard-output.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const NEVER = new AbortController().signal;

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
const open: number[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'stdout');
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

test.each([
  ['whole', 'before\n', 'before\none\ntwo\n'],
  ['torn', 'bef', 'bef\none\ntwo\n'],
  ['empty', '', 'one\ntwo\n'],
])('behind what is %s each line is one of its own', async (_what, before, after) => {
  writeFileSync(path, before);
  const output = standardOutput(opened('a'));
  await output.write(['one', 'two'], NEVER);
  expect(readFileSync(path, 'utf8')).toBe(after);
});

test('a full pipe is waited for, and has every byte once', async () => {
  execFileSync('mkfifo', [path]);
  const reader = opened(O_RDONLY | O_NONBLOCK);
  const output = standardOutput(opened(O_WRONLY | O_NONBLOCK));
  const lines = Array.from({ length: 300 }, (_, index) => String(index).padStart(999, '.'));
  let isWritten = false;
  const written = output.write(lines, NEVER).then(() => (isWritten = true));
  let text = '';
  const bytes = Buffer.alloc(1024 * 1024);
  await expect
    .poll(
      () => {
        try {
          text += bytes.subarray(0, readSync(reader, bytes)).toString();
        } catch {
          // Nothing is there for now.
        }
        return isWritten && text.length;
      },
      { interval: 2 },
    )
    .toBe(300_000);
  await written;
  expect(text).toBe(`${lines.join('\n')}\n`);
});

test('a pipe that nobody reads is waited for until it is told to end', async () => {
  execFileSync('mkfifo', [path]);
  opened(O_RDONLY | O_NONBLOCK);
  const output = standardOutput(opened(O_WRONLY | O_NONBLOCK));
  const ending = new AbortController();
  const written = output.write(['x'.repeat(100_000)], ending.signal);
  setTimeout(() => ending.abort(new Error('the end')), 10);
  await expect(written).rejects.toThrow();
  await expect(output.write(['more'], ending.signal)).rejects.toThrow('the end');
});

test('what fails otherwise is told', async () => {
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  const output = standardOutput(opened(O_WRONLY | O_NONBLOCK));
  closeSync(reader);
  await expect(output.write(['lost'], NEVER)).rejects.toThrow('EPIPE');
});

import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { standardOutput } from '../../../../src/daemon/process/standard-output.ts';
import { openedFile, taken, type OpenedFile } from '../../../support/opened-file.ts';
import { describeOnSmallDisk, smallDisk } from '../../../support/small-disk.ts';

const NEVER = new AbortController().signal;

const bytesOf = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''));

let file: OpenedFile;
beforeEach(() => void (file = openedFile('stdout')));
afterEach(() => file[Symbol.dispose]());

test.each([
  ['whole', 'before\n', 'before\none\ntwo\n'],
  ['torn', 'bef', 'bef\none\ntwo\n'],
  ['empty', '', 'one\ntwo\n'],
])('behind what is %s each line is one of its own', async (_what, before, after) => {
  writeFileSync(file.path, before);
  const output = standardOutput(file.open('a'));
  await output.write(bytesOf(['one', 'two']), NEVER);
  expect(readFileSync(file.path, 'utf8')).toBe(after);
});

test('whoever looks at the last line leaves nothing open', () => {
  writeFileSync(file.path, 'torn');
  const fd = file.open('a');
  const open = (): number => readdirSync('/proc/self/fd').length;
  const before = open();
  standardOutput(fd);
  expect(open()).toBe(before);
});

test('a full pipe is waited for, and has every byte once', async () => {
  const { reader, writer } = file.pipe();
  const output = standardOutput(writer);
  const lines = Array.from({ length: 300 }, (_, index) => String(index).padStart(999, '.'));
  let isWritten = false;
  const written = output.write(bytesOf(lines), NEVER).then(() => (isWritten = true));
  let text = '';
  await expect
    .poll(
      () => {
        text += taken(reader);
        return isWritten && text.length;
      },
      { interval: 2 },
    )
    .toBe(300_000);
  await written;
  expect(text).toBe(`${lines.join('\n')}\n`);
});

test('a pipe that nobody reads is waited for until it is told to end', async () => {
  const output = standardOutput(file.pipe().writer);
  const ending = new AbortController();
  const written = output.write(bytesOf(['x'.repeat(100_000)]), ending.signal);
  setTimeout(() => ending.abort(new Error('the end')), 10);
  await expect(written).rejects.toThrow();
  await expect(output.write(bytesOf(['more']), ending.signal)).rejects.toThrow('the end');
});

test('what fails otherwise is told', async () => {
  const { reader, writer } = file.pipe();
  const output = standardOutput(writer);
  file.close(reader);
  await expect(output.write(bytesOf(['lost']), NEVER)).rejects.toThrow('EPIPE');
});

describeOnSmallDisk('a disk', () => {
  test('that is full and freed later: the torn line is ended, every line is whole, none twice', async () => {
    using disk = smallDisk(64);
    const path = join(disk.path, 'stdout');
    const fd = openSync(path, 'a');
    onTestFinished(() => closeSync(fd));
    const output = standardOutput(fd);
    const lines = Array.from({ length: 500 }, (_, index) => `line ${index} ${'.'.repeat(90)}`);
    await output.write(bytesOf(lines.slice(0, 10)), NEVER);
    disk.fill();
    // The page that these have begun has room for some more.
    const rest = bytesOf(lines.slice(10));
    await expect(output.write(rest, NEVER)).rejects.toThrow('ENOSPC');
    expect(readFileSync(path, 'utf8').endsWith('\n')).toBe(false);
    disk.free();
    await output.write(rest, NEVER);
    const written = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    expect(written.filter((line) => lines.includes(line))).toEqual(lines);
    expect(written).toHaveLength(lines.length + 1);
  });
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { standardOutput } from '../../../../src/daemon/process/standard-output.ts';
import { openedFile, taken, type OpenedFile } from '../../../support/opened-file.ts';

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

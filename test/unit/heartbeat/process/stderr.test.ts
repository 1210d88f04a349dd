import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openStderr } from '../../../../src/heartbeat/process/log.ts';
import { openedFile, taken, type OpenedFile } from '../../../support/opened-file.ts';
import { describeOnSmallDisk, smallDisk } from '../../../support/small-disk.ts';

const LONG_MS = 30_000;

let file: OpenedFile;
beforeEach(() => void (file = openedFile('stderr')));
afterEach(() => file[Symbol.dispose]());

test('lines are written in their order, and a flush waits for all of them', async () => {
  const stderr = openStderr(file.open('w'));
  await stderr.flush(LONG_MS);
  for (let number = 1; number <= 100; number += 1) stderr.write(`line ${number}\n`);
  await Promise.all([stderr.flush(LONG_MS), stderr.flush(LONG_MS)]);
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`);
  expect(readFileSync(file.path, 'utf8')).toBe(lines.join(''));
});

test('a pipe that nobody reads holds up nothing; what fits comes whole, and what does not is counted', async () => {
  const { reader, writer } = file.pipe();
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

test('all that were lost are counted, also those that were to be told of meanwhile', async () => {
  const { reader, writer } = file.pipe();
  file.close(reader);
  const stderr = openStderr(writer);
  // One by itself, two together, and two more, each with the word of how many are lost.
  for (const line of ['1', '2', '3']) stderr.write(`${line}\n`);
  await stderr.flush(LONG_MS);
  for (const line of ['4', '5']) {
    stderr.write(`${line}\n`);
    await stderr.flush(LONG_MS);
  }
  const next = file.open(constants.O_RDONLY | constants.O_NONBLOCK);
  stderr.write('next\n');
  await stderr.flush(LONG_MS);
  expect(taken(next)).toMatch(/^\{"level":"warn",.*"dropped":5,.*\}\nnext\n$/);
});

test('a flush that has ended leaves no timer behind, for the process would wait for it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const stderr = openStderr(file.open('w'));
  stderr.write('line\n');
  await stderr.flush(LONG_MS);
  expect(vi.getTimerCount()).toBe(0);
});

describeOnSmallDisk('a full disk', () => {
  test('takes the next line when it has room again, on a line of its own', async () => {
    using disk = smallDisk(64);
    const path = join(disk.path, 'stderr');
    const fd = openSync(path, 'a');
    const stderr = openStderr(fd);
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
    closeSync(fd);
  });
});

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { endTornLine, indexOfLastLine } from '../../../../src/logs/sinks/last-record.ts';
import { toJsonLine } from '../../../../src/logs/sinks/stdout.ts';
import { record } from '../../../support/log-records.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';

const CHUNK = 64 * 1024;
const LINES = [1, 2, 3].map((seq) => toJsonLine(record(seq)));
const [ONE = '', TWO = '', THREE = ''] = LINES;
/** A record of ours that does not come again. */
const OTHER = toJsonLine(record(9, 'x'.repeat(300)));

let folder: ReturnType<typeof memoryFolder>;
let path: string;
beforeEach(() => {
  folder = memoryFolder();
  path = join(folder.path, 'worker.log');
});
afterEach(() => folder[Symbol.dispose]());

const text = (): string => readFileSync(path, 'utf8');

describe('the end of a file', () => {
  test.each<[string, string, string]>([
    ['nothing', '', ''],
    ['whole lines', 'other\nlines\n', 'other\nlines\n'],
    ['a line end alone', '\n', '\n'],
    ['a torn record that comes again', `${ONE}${TWO.slice(0, -1)}`, ONE],
    ['its first character', `${ONE}{`, ONE],
    ['a torn record that does not come again', `${ONE}${OTHER.slice(0, 200)}`, ONE],
    ['a torn record and nothing else', OTHER.slice(0, 100), ''],
    ['what somebody else wrote', `${ONE}torn by another`, `${ONE}torn by another\n`],
    ['what somebody else wrote at first', 'torn', 'torn\n'],
    ['what begins as no record does, but longer', `${ONE}${'{'.repeat(200)}`, `${ONE}${'{'.repeat(200)}\n`],
    [
      'a line end before a long torn one',
      `${ONE}${'y'.repeat(3 * CHUNK)}`,
      `${ONE}${'y'.repeat(3 * CHUNK)}\n`,
    ],
    ['a torn record of many chunks', `${ONE}${OTHER.slice(0, 100)}${'z'.repeat(2 * CHUNK)}`, ONE],
    [
      'a line end where a chunk begins',
      `${'a'.repeat(10)}\n${'{'.padEnd(CHUNK - 1, 'b')}`,
      `${'a'.repeat(10)}\n${'{'.padEnd(CHUNK - 1, 'b')}\n`,
    ],
    ['a first line that is empty', `\n${TWO.slice(0, 20)}`, '\n'],
  ])('%s is left as whole lines', async (_what, before, after) => {
    writeFileSync(path, before);
    expect(await endTornLine(path, LINES)).toBe(Buffer.byteLength(after));
    expect(text()).toBe(after);
  });

  test('of a record in other letters is cut off by its bytes', async () => {
    const line = toJsonLine(record(1, 'ü'.repeat(20)));
    writeFileSync(path, Buffer.from(line).subarray(0, line.length + 5));
    expect(await endTornLine(path, [line])).toBe(0);
    expect(text()).toBe('');
  });

  test('is left as it is also where nothing comes next', async () => {
    writeFileSync(path, ONE);
    expect(await endTornLine(path, [])).toBe(ONE.length);
    expect(text()).toBe(ONE);
  });

  test('is nothing where there is no file, and an error where there is none to be read', async () => {
    expect(await endTornLine(path, LINES)).toBe(0);
    mkdirSync(path);
    await expect(endTornLine(path, LINES)).rejects.toThrow('is no regular file');
  });
});

describe('the last line of a file among the next ones', () => {
  test.each<[string, string, number]>([
    ['nothing', '', -1],
    ['the first', `before\n${ONE}`, 0],
    ['the second', `${ONE}${TWO}`, 1],
    ['the last', `${ONE}${TWO}${THREE}`, 2],
    ['the whole file', TWO, 1],
    ['another', OTHER, -1],
    ['one without its end', ONE.slice(0, -1), -1],
    ['one with something behind it', `${ONE}\n`, -1],
  ])('%s', async (_what, content, index) => {
    writeFileSync(path, content);
    expect(await indexOfLastLine(path, LINES)).toBe(index);
  });

  test('is compared by its bytes, however long the others are', async () => {
    const [short, long] = [toJsonLine(record(1, 'ü')), toJsonLine(record(2, 'ö'.repeat(500)))];
    writeFileSync(path, `${'x'.repeat(2_000)}\n${long}`);
    expect(await indexOfLastLine(path, [short, long])).toBe(1);
    writeFileSync(path, short);
    expect(await indexOfLastLine(path, [short, long])).toBe(0);
  });

  test('is none where there is no file', async () => {
    expect(await indexOfLastLine(path, LINES)).toBe(-1);
  });
});

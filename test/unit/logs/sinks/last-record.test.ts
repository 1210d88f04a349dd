import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { endTornLine, indexOfLastLine } from '../../../../src/logs/sinks/file.ts';
import { toJsonLine } from '../../../../src/logs/sinks/stdout.ts';
import { test } from '../../../support/log-folder.ts';
import { record } from '../../../support/log-records.ts';

const CHUNK = 64 * 1024;
const LINES = [1, 2, 3].map((seq) => toJsonLine(record(seq)));
const [ONE = '', TWO = '', THREE = ''] = LINES;
/** A record of ours that does not come again. */
const OTHER = toJsonLine(record(9, 'x'.repeat(300)));
const OTHERS_JSON = '{"time":"2025-01-01T00:00:00.000000Z","message":"hello';

describe('the end of a file', () => {
  test.for<[string, string, string]>([
    ['nothing', '', ''],
    ['whole lines', 'other\nlines\n', 'other\nlines\n'],
    ['a line end alone', '\n', '\n'],
    ['a torn record that comes again', `${ONE}${TWO.slice(0, -1)}`, ONE],
    ['its first character', `${ONE}{`, ONE],
    ['its first word', `${ONE}{"tim`, ONE],
    ['a torn record that does not come again', `${ONE}${OTHER.slice(0, 200)}`, ONE],
    ['a torn record and nothing else', OTHER.slice(0, 100), ''],
    ['what somebody else wrote', `${ONE}torn by another`, `${ONE}torn by another\n`],
    ['what somebody else wrote at first', 'torn', 'torn\n'],
    ['a character of somebody else', '[', '[\n'],
    ['JSON of somebody else', OTHERS_JSON, `${OTHERS_JSON}\n`],
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
  ])('%s is left as whole lines', async ([, before, after], { path }) => {
    writeFileSync(path, before);
    expect(await endTornLine(path, LINES)).toBe(Buffer.byteLength(after));
    expect(readFileSync(path, 'utf8')).toBe(after);
  });

  test('of a record in other letters is cut off by its bytes', async ({ path }) => {
    const line = toJsonLine(record(1, 'ü'.repeat(20)));
    writeFileSync(path, Buffer.from(line).subarray(0, line.length + 5));
    expect(await endTornLine(path, [line])).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  test('is left as it is also where nothing comes next', async ({ path }) => {
    writeFileSync(path, ONE);
    expect(await endTornLine(path, [])).toBe(ONE.length);
    expect(readFileSync(path, 'utf8')).toBe(ONE);
  });

  test('is nothing where there is no file, and an error where there is none to be read', async ({ path }) => {
    expect(await endTornLine(path, LINES)).toBe(0);
    mkdirSync(path);
    await expect(endTornLine(path, LINES)).rejects.toThrow('is not a regular file');
    writeFileSync(`${path}.1`, '');
    await expect(endTornLine(join(`${path}.1`, 'within'), LINES)).rejects.toThrow('ENOTDIR');
  });
});

describe('the last line of a file among the next ones', () => {
  test.for<[string, string, number]>([
    ['nothing', '', -1],
    ['the first', `before\n${ONE}`, 0],
    ['the second', `${ONE}${TWO}`, 1],
    ['the last', `${ONE}${TWO}${THREE}`, 2],
    ['the whole file', TWO, 1],
    ['another', OTHER, -1],
    ['one without its end', ONE.slice(0, -1), -1],
    ['one with something behind it', `${ONE}\n`, -1],
  ])('%s', async ([, content, index], { path }) => {
    writeFileSync(path, content);
    expect(await indexOfLastLine(path, LINES)).toBe(index);
  });

  test('is compared by its bytes, however long the others are', async ({ path }) => {
    const [short, long] = [toJsonLine(record(1, 'ü')), toJsonLine(record(2, 'ö'.repeat(500)))];
    writeFileSync(path, `${'x'.repeat(2_000)}\n${long}`);
    expect(await indexOfLastLine(path, [short, long])).toBe(1);
    writeFileSync(path, short);
    expect(await indexOfLastLine(path, [short, long])).toBe(0);
  });

  test('is none where there is no file', async ({ path }) => {
    expect(await indexOfLastLine(path, LINES)).toBe(-1);
  });
});

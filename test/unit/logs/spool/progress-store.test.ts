import * as sqlite from 'node:sqlite';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SpoolFile } from '../../../../src/logs/spool/spool-file.ts';
import { hashed } from '../../../../src/logs/tail/line-hash.ts';
import type { GroupProgress } from '../../../../src/logs/tail/group.ts';
import { extendedBy, rewrittenFrom, type LineWindow } from '../../../../src/logs/tail/window.ts';
import { progressAt, windowOf } from '../../../support/log-records.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';

let folder: ReturnType<typeof memoryFolder>;
let file: SpoolFile;
/** What the file has opened: one. */
const opened: sqlite.DatabaseSync[] = [];
beforeAll(() => {
  folder = memoryFolder();
  class Seen extends sqlite.DatabaseSync {
    constructor(...options: ConstructorParameters<typeof sqlite.DatabaseSync>) {
      super(...options);
      opened.push(this);
    }
  }
  file = new SpoolFile({ ...sqlite, DatabaseSync: Seen }, join(folder.path, 'spool.sqlite'));
  // Nothing of it need outlive a crash, and a disk is slow.
  opened[0]?.exec('PRAGMA synchronous = OFF');
});
afterAll(() => {
  file.close();
  folder[Symbol.dispose]();
});

const GOOD = {
  epoch: 1,
  seq: 2,
  time: 3,
  ceiling: 10_000,
  linesPerSecond: 0.5,
  streams: { '': { from: 0, endsLines: true } },
};
const POLL = {
  tail: 200,
  now: 1_700_000_000_000,
  roundTripMs: 20,
  texts: [['', { lines: ['a'], unended: 'b' }]],
};

/** What is read where this is stored. */
function reading(body: unknown): GroupProgress | undefined {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  opened[0]?.prepare('INSERT OR REPLACE INTO progress VALUES (7, ?)').run(text);
  return file.progress.read(7);
}

describe('what a spool of ours wrote is read:', () => {
  test.each<[string, object]>([
    ['as little as there may be', {}],
    [
      'all that there may be',
      {
        bytesPerLine: 80,
        sizeLimit: { fits: 1, fails: 2, isSure: true },
        unsettled: [POLL],
        passed: { '': [{ at: 1, hashes: [2, 3] }] },
        began: { at: 1, levels: [] },
      },
    ],
    [
      'a line that has not ended',
      {
        streams: {
          info: {
            from: 5,
            endsLines: false,
            shown: 3,
            size: 40,
            cutAt: 9,
            pending: { text: 'p', taken: 0, since: 1 },
          },
        },
      },
    ],
    ['a text without one', { unsettled: [{ ...POLL, texts: [['', { lines: [] }]] }] }],
    ['of an earlier version', { time: undefined, ceiling: undefined, linesPerSecond: undefined }],
  ])('%s', (_what, more) => {
    const { streams, ...rest } = { ...GOOD, ...more };
    const read = reading({ ...rest, streams });
    expect(read).toMatchObject(JSON.parse(JSON.stringify(rest)) as object);
    expect(Object.keys(read?.streams ?? {})).toEqual(Object.keys(streams));
  });
});

describe('what nobody here wrote is not gone on from:', () => {
  const stream = (more: object) => ({ streams: { '': { from: 0, endsLines: true, ...more } } });
  const poll = (more: object) => ({ unsettled: [{ ...POLL, ...more }] });

  test.each<[string, object]>([
    ['no streams', { streams: undefined }],
    ['streams that are none', { streams: [] }],
    ['an epoch that is none', { epoch: 'one' }],
    ['an epoch below 0', { epoch: -1 }],
    ['a number that is no whole one', { seq: 1.5 }],
    ['a number that is missing', { seq: undefined }],
    ['a ceiling that is none', { ceiling: null }],
    ['a ceiling below 0', { ceiling: -1 }],
    ['a time that is none', { time: '3' }],
    ['a rate that is none', { linesPerSecond: 'fast' }],
    ['a line’s length that is none', { bytesPerLine: '80' }],
    ['a limit that is none', { sizeLimit: 5 }],
    ['a limit of limits', { sizeLimit: { fits: {} } }],
    ['polls that are none', { unsettled: {} }],
    ['passed answers that are none', { passed: 5 }],
    ['a level whose passed answers are none', { passed: { '': {} } }],
    ['a passed answer without hashes', { passed: { '': [{ at: 1 }] } }],
    ['a passed answer whose hashes are none', { passed: { '': [{ at: 1, hashes: ['a'] }] } }],
    ['a passed answer whose time is none', { passed: { '': [{ at: 'now', hashes: [1] }] } }],
    ['a poll that is none', { unsettled: [5] }],
    ['a poll without texts', poll({ texts: undefined })],
    ['a poll whose tail is none', poll({ tail: 'all' })],
    ['a poll whose time is none', poll({ now: 'now' })],
    ['a poll of a time that no date has', poll({ now: 8_640_000_000_000_001 })],
    ['a poll whose round trip is none', poll({ roundTripMs: null })],
    ['a text without a level', poll({ texts: [5] })],
    ['a text that is none', poll({ texts: [['', 'a']] })],
    ['a text whose lines are none', poll({ texts: [['', { lines: 'a' }]] })],
    ['a text with a line that is none', poll({ texts: [['', { lines: [5] }]] })],
    ['a text whose last line is none', poll({ texts: [['', { lines: [], unended: 5 }]] })],
    ['a stream that is none', { streams: { '': 5 } }],
    ['a stream that begins nowhere', stream({ from: -1 })],
    ['a stream that begins within a line', stream({ from: 0.5 })],
    ['a stream of a size that is none', stream({ size: {} })],
    ['a stream that was cut at no place', stream({ cutAt: [] })],
    ['a last line that is none', stream({ pending: 5 })],
    ['a last line without a text', stream({ pending: { taken: 0 } })],
    ['a last line with something in it', stream({ pending: { text: 'p', taken: {} } })],
  ])('%s', (_what, more) => {
    expect(() => reading({ ...GOOD, ...more })).toThrow('what is stored of worker group 7 is none');
  });

  test.each(['null', '[]', '5', '"text"'])('%s', (text) => {
    expect(() => reading(text)).toThrow('is none');
  });

  test('no JSON at all', () => {
    expect(() => reading('{')).toThrow(SyntaxError);
  });
});

test('of a group that was never followed nothing is known', () => {
  expect(file.progress.read(6)).toBeUndefined();
});

describe('a window', () => {
  const lines = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => `line ${from + index}`);
  const wholeOf = (window: LineWindow): GroupProgress => ({
    ...progressAt(1),
    streams: {
      '': { window, endsLines: true },
      info: { window: windowOf(['of another level']), endsLines: false },
    },
  });

  test('is read as it was written, whatever was there before', () => {
    let window = windowOf([]);
    // Few lines, then so many that they are packed, then a rewriting of the last ones.
    for (const count of [10, 3, 500, 0, 7, 2_000]) {
      window = extendedBy(window, hashed(lines(window.from + window.hashes.length, count)));
      file.progress.write(7, wholeOf(window));
      expect(file.progress.read(7)).toEqual(wholeOf(window));
    }
    window = rewrittenFrom(window, 2_000, hashed(lines(9_000, 5)));
    file.progress.write(7, wholeOf(window));
    expect(file.progress.read(7)).toEqual(wholeOf(window));
  });

  test('that began elsewhere takes the place of another', () => {
    file.progress.write(7, wholeOf(extendedBy(windowOf([]), hashed(lines(0, 600)))));
    file.progress.write(8, progressAt(1, ['of another group']));
    const other = wholeOf(windowOf(['a', 'b']));
    file.progress.replace(7, other);
    expect([file.progress.read(7), file.progress.read(8)]).toEqual([
      other,
      progressAt(1, ['of another group']),
    ]);
  });
});

import * as sqlite from 'node:sqlite';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SpoolFile } from '../../../../src/logs/spool/spool-file.ts';
import type { GroupProgress } from '../../../../src/logs/follower/group.ts';
import { EMPTY_STREAM, type Window } from '../../../../src/logs/follower/stream.ts';
import { hashesOf } from '../../../../src/logs/text.ts';
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

const { window: _, ...EMPTY } = EMPTY_STREAM;
const STREAM = { ...EMPTY, from: 0 };
const GOOD = { epoch: 1, seq: 2, time: 3, bytesPerLine: 80, streams: { '': STREAM } };

/** What is read where this is stored. */
function reading(body: unknown): GroupProgress | undefined {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  opened[0]?.prepare('INSERT OR REPLACE INTO progress VALUES (7, ?)').run(text);
  return file.progress.read('workergroup/7');
}

describe('what this version wrote is read:', () => {
  const stream = {
    ...STREAM,
    size: 40,
    came: [[1, 2]],
    pending: { text: 'p', taken: 0, since: 1 },
    cap: { lines: 1, bytes: 2 },
    wipes: { low: 1, high: null, count: 1 },
  };
  test.each<[string, object]>([
    ['as little as there may be', {}],
    [
      'all that there may be',
      {
        unit: 'bytes',
        linesPerSecond: 0.5,
        limit: { fits: 1, fails: 2, strikes: 3, retryAt: 4, waitMs: 5 },
        began: { at: 1, levels: [] },
        streams: { info: stream },
      },
    ],
  ])('%s', (_what, more) => {
    const { streams, ...rest } = { ...GOOD, ...more };
    const read = reading({ ...rest, streams });
    expect(read).toMatchObject(JSON.parse(JSON.stringify(rest)) as object);
    const [[level, { from: place, ...kept }] = ['', STREAM]] = Object.entries(streams);
    expect(read?.streams[level]).toEqual({ ...kept, window: { from: place, hashes: new Float64Array() } });
  });
});

describe('an older version kept the text of lines:', () => {
  const OLD = { epoch: 4, seq: 9, time: 17, ceiling: 250, linesPerSecond: 0 };
  const streams = (more: object) => ({ streams: { info: { from: 5, endsLines: true, ...more } } });

  test('a long line is known by its hash', () => {
    const long = 'x'.repeat(500);
    const lines = ['short', `\u0001${hashesOf([long])[0]} 500 ${long.slice(-128)}`];
    for (const [index, line] of lines.entries())
      opened[0]?.prepare('INSERT INTO window_line VALUES (7, ?, ?, ?)').run('info', 5 + index, line);
    const read = reading({ ...OLD, ...streams({}) });
    expect(read).toMatchObject({ epoch: 4, seq: 9, time: 17, linesPerSecond: undefined });
    expect(read?.streams['info']?.window.hashes).toEqual(hashesOf(['short', long]));
    if (read) file.progress.write('workergroup/7', read);
    expect(file.progress.read('workergroup/7')).toEqual(read);
  });

  test.each([
    [{ text: 'half', taken: 2, since: 8 }, 2],
    [{ text: 'half', delivered: true, since: 8 }, 4],
    [{ text: 'half', delivered: false, since: 8 }, 0],
  ])('a last line %j', (pending, taken) => {
    expect(reading({ ...OLD, ...streams({ pending }) })?.streams['info']?.pending).toEqual({
      text: 'half',
      since: 8,
      taken,
    });
  });
});

describe('what this version did not write is not read:', () => {
  const stream = (more: object) => ({ streams: { '': { ...STREAM, ...more } } });

  test.each<[string, object]>([
    ['no streams', { streams: undefined }],
    ['streams in a list', { streams: [5] }],
    ['an epoch in words', { epoch: 'one' }],
    ['an epoch below 0', { epoch: -1 }],
    ['a fraction as a number', { seq: 1.5 }],
    ['a number that is missing', { seq: undefined }],
    ['a time in words', { time: '3' }],
    ['a rate in words', { linesPerSecond: 'fast' }],
    ['a line’s length in words', { bytesPerLine: '80' }],
    ['another unit', { unit: 'words' }],
    ['a limit in a number', { limit: 5 }],
    ['a stream in a number', { streams: { '': 5 } }],
    ['a stream without a place', stream({ from: -1 })],
    ['a stream that begins within a line', stream({ from: 0.5 })],
    ['a stream with a flag in words', stream({ isWhole: 'yes' })],
    ['a stream without times', stream({ came: undefined })],
    ['a stream with times in words', stream({ came: [['now', 1]] })],
    ['a last line in a number', stream({ pending: 5 })],
    ['a last line without a text', stream({ pending: { taken: 0 } })],
    ['a last line with something in it', stream({ pending: { text: 'p', taken: {} } })],
  ])('%s', (_what, more) => {
    expect(() => reading({ ...GOOD, ...more })).toThrow('of workergroup/7 cannot be read');
  });

  test.each(['null', '[]', '5', '"text"'])('%s', (text) => {
    expect(() => reading(text)).toThrow('cannot be read');
  });

  test('no JSON at all', () => {
    expect(() => reading('{')).toThrow(SyntaxError);
  });

  test('a row that has fewer hashes than it says', () => {
    file.progress.write('workergroup/9', progressAt(1, ['a', 'b', 'c']));
    opened[0]?.exec('UPDATE window_hashes SET lines = 4 WHERE workergroup_id = 9');
    expect(() => file.progress.read('workergroup/9')).toThrow('the hashes of a log window cannot be read');
  });
});

test('of a group that was never followed nothing is known', () => {
  expect(file.progress.read('workergroup/6')).toBeUndefined();
});

describe('a window', () => {
  const lines = (from: number, count: number) =>
    Array.from({ length: count }, (_line, index) => `line ${from + index}`);
  const wholeOf = (window: Window): GroupProgress => ({
    ...progressAt(1),
    streams: {
      '': { ...EMPTY_STREAM, window },
      info: { ...EMPTY_STREAM, window: windowOf(['of another level']) },
    },
  });

  test('is read as it was written, whatever was there before', () => {
    const all: string[] = [];
    file.progress.replace('workergroup/7', wholeOf(windowOf([])));
    // Few lines, then many, then a window that slides, then one with new places.
    for (const count of [10, 3, 500, 0, 7, 2_000]) {
      all.push(...lines(all.length, count));
      const from = Math.max(0, all.length - 600);
      const whole = wholeOf(windowOf(all.slice(from), from));
      file.progress.write('workergroup/7', whole);
      expect(file.progress.read('workergroup/7')).toEqual(whole);
    }
    const rewritten = wholeOf(windowOf(lines(9_000, 5), all.length));
    file.progress.write('workergroup/7', rewritten);
    expect(file.progress.read('workergroup/7')).toEqual(rewritten);
  });

  test('that began elsewhere takes the place of another', () => {
    file.progress.write('workergroup/7', wholeOf(windowOf(lines(0, 600))));
    file.progress.write('workergroup/8', progressAt(1, ['of another group']));
    const other = wholeOf(windowOf(['a', 'b']));
    file.progress.replace('workergroup/7', other);
    expect([file.progress.read('workergroup/7'), file.progress.read('workergroup/8')]).toEqual([
      other,
      progressAt(1, ['of another group']),
    ]);
  });
});

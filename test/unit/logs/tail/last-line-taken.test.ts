/** The line that is being written, where others follow it, or come late. */
import { describe, expect, test } from 'vitest';
import { pendingLine } from '../../../../src/logs/tail/last/last-line.ts';
import { hashed } from '../../../../src/logs/tail/line-hash.ts';
import type { Reading, Stream, Taken } from '../../../../src/logs/tail/stream.ts';
import { takeTail } from '../../../../src/logs/tail/take-tail.ts';
import { READ_AT, readingOf, windowOf } from '../../../support/log-records.ts';

const KREAD_ATN = Array.from({ length: 9 }, (_, index) => `line ${index}`);
const half = (taken: number, since = READ_AT - 60_000) => pendingLine('half', since, taken);

/** All of the log, without a rate. */
function take(
  known: Partial<Stream>,
  lines: readonly string[],
  unended?: string,
  over: Partial<Reading> = {},
): Taken {
  const outcome = takeTail(
    { window: windowOf(KREAD_ATN), endsLines: true, whole: true, ...known },
    readingOf(lines, { text: { lines, ...(unended !== undefined && { unended }) }, ...over }),
  );
  if (outcome.kind !== 'taken') throw new Error(outcome.kind);
  return outcome;
}

describe('where others follow', () => {
  test('the rest of it is delivered, or all where nothing was', () => {
    const [rest, all] = [4, 0].map((taken) =>
      take({ pending: half(taken) }, [...KREAD_ATN, 'half done', 'next']),
    );
    expect(rest).toMatchObject({ lines: [' done', 'next'], continues: 0 });
    expect(all?.lines).toEqual(['half done', 'next']);
    expect(all).not.toHaveProperty('continues');
    for (const outcome of [rest, all]) {
      expect(outcome?.stream).not.toHaveProperty('departed');
      expect(outcome).not.toHaveProperty('parting');
    }
  });

  test('and it is not among them, it departs, if it was delivered', () => {
    expect(take({ pending: half(4) }, [...KREAD_ATN, 'next']).stream.departed).toEqual(half(4, READ_AT));
    expect(take({ pending: half(0) }, [...KREAD_ATN, 'next']).stream).not.toHaveProperty('departed');
    expect(take({ pending: half(4) }, [...KREAD_ATN, 'next']).lines).toEqual(['next']);
  });

  describe('and lines may be missing between, of a service that joins them', () => {
    const same = { window: windowOf(['a', 'a', 'a', 'a']), endsLines: false };
    const follow = (known: Partial<Stream>, next: string) =>
      take({ ...same, ...known }, ['a', 'a', 'a', 'a', next], 'begun', { tail: 6, widest: 6 });

    test('it is delivered as it was seen', () => {
      const outcome = follow({ pending: half(0) }, 'next');
      expect(outcome).toMatchObject({ parting: 'half', lines: ['next'], gap: { reason: 'ambiguous' } });
      expect(outcome.stream.departed).toEqual(half(4, READ_AT));
    });

    test('unless it was delivered, or goes on, or there is none, or the service ends its lines', () => {
      expect(follow({ pending: half(4) }, 'next')).not.toHaveProperty('parting');
      expect(follow({ pending: half(0) }, 'half done')).not.toHaveProperty('parting');
      expect(follow({}, 'next')).not.toHaveProperty('parting');
      expect(follow({ pending: half(0), endsLines: true }, 'next')).not.toHaveProperty('parting');
    });
  });
});

describe('where nothing follows', () => {
  test('it is delivered once it has rested, where the service joins its lines', () => {
    const outcome = take({ pending: half(0), endsLines: false }, KREAD_ATN, 'half');
    expect(outcome).toMatchObject({ lines: ['half'], stream: { pending: { taken: 4 } } });
    expect(take({ pending: half(0) }, KREAD_ATN, 'half').lines).toEqual([]);
  });

  test('but late lines come, it is delivered after them', () => {
    const late = KREAD_ATN.toSpliced(4, 0, 'late');
    const outcome = take({ pending: half(2), endsLines: false }, late, 'half');
    expect(outcome).toMatchObject({ lines: ['late', 'lf'], continues: 1, lateDepth: 6 });
    expect(take({ pending: half(0), endsLines: false }, late, 'half')).toMatchObject({
      lines: ['late', 'half'],
    });
    expect(take({ pending: half(0), endsLines: false }, late, 'half')).not.toHaveProperty('continues');
  });
});

describe('among late lines', () => {
  const late = (known: Partial<Stream>, line: string, ...after: string[]) =>
    take(known, [...KREAD_ATN.toSpliced(-1, 0, line), ...after]);

  test('may be the last line that was delivered, or the rest of it', () => {
    const outcome = late({ pending: half(4) }, 'half done');
    expect(outcome).toMatchObject({ lines: [' done'], continues: 0 });
    expect(outcome.stream).not.toHaveProperty('pending');
    expect(late({ pending: half(4) }, 'half').lines).toEqual([]);
    expect(late({ pending: half(0) }, 'half').lines).toEqual(['half']);
  });

  test('or one that departed within a minute, once', () => {
    const departed = half(4, READ_AT - 59_999);
    const outcome = late({ departed }, 'half done', 'next');
    expect(outcome).toMatchObject({ lines: [' done', 'next'], continues: 0 });
    expect(outcome.stream).not.toHaveProperty('departed');
    const other = late({ departed }, 'other');
    expect(other.lines).toEqual(['other']);
    expect(other.stream.departed).toEqual(departed);
  });

  test('the last one is not, and departs where others follow', () => {
    expect(late({ pending: half(4) }, 'late', 'next').stream.departed).toEqual(half(4, READ_AT));
    expect(late({ pending: half(4) }, 'late').stream).not.toHaveProperty('departed');
  });

  test('of a view that lacks the last ones, its end says nothing', () => {
    const window = Array.from({ length: 12 }, (_, index) => `line ${index}`);
    const seen = ['cut', ...window.slice(3, 10).toSpliced(3, 0, 'late')];
    const pending = half(0);
    const outcome = take({ window: windowOf(window), pending }, seen, undefined, { tail: 10, widest: 10 });
    expect(outcome.lines).toEqual(['late']);
    expect(outcome.stream.pending).toEqual(pending);
  });
});

describe('lines that were delivered beside the window', () => {
  const passed = Array.from({ length: 6 }, (_, index) => `passed ${index}`);
  const past = [{ at: READ_AT, hashes: hashed(passed).hashes, isFollowed: false, isPassed: true }];
  const after = (known: Partial<Stream>, ...fresh: readonly string[]) =>
    take(known, [...KREAD_ATN, ...fresh], undefined, { past });

  test('are not delivered again, nor what stands above them', () => {
    expect(after({}, 'lost', ...passed, 'next').lines).toEqual(['next']);
    expect(after({}, 'lost', ...passed, 'next')).not.toHaveProperty('continues');
    expect(after({}, ...passed).lines).toEqual([]);
    expect(after({}, 'other', 'next').lines).toEqual(['other', 'next']);
  });

  test('but the rest of a line that was begun is', () => {
    const pending = half(4);
    const outcome = after({ pending }, 'half done', 'lost', ...passed, 'next');
    expect(outcome).toMatchObject({ lines: [' done', 'next'], continues: 0 });
    const begun = pendingLine('pass', READ_AT, 4);
    expect(after({ pending: begun }, 'lost', ...passed, 'next')).toMatchObject({
      lines: ['lost', 'ed 0', ...passed.slice(1), 'next'],
      continues: 1,
    });
    expect(after({ pending: begun }, ...passed, 'next')).toMatchObject({
      lines: ['ed 0', ...passed.slice(1), 'next'],
      continues: 0,
    });
  });
});

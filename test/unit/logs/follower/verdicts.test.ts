/** What a view is to the known lines: the verdicts, as pictures (test/support/log-pictures.ts). */
import { describe, expect, test } from 'vitest';
import { FORGOTTEN } from '../../../../src/logs/follower/group.ts';
import { linesOf } from '../../../support/log-polls.ts';
import { expectPicture, Pictured } from '../../../support/log-pictures.ts';

describe('a view that continues the known lines', () => {
  test.each([
    ['brings its new lines', 'whole a b c → a b c \n whole a b c d e → d e'],
    ['need not reach to the top', 'whole a b c d → a b c d \n full b c d e f → e f'],
    ['counts from its second line: the first may be cut', 'whole a b cc d → a b cc d \n full c d → more'],
    [
      'is asked for more if few lines join it to many new ones',
      'whole a b c d e f → a b c d e f \n full a b c d e f g h i j k l m n o p q r → more',
    ],
    ['may repeat lines of before', 'whole a b c → a b c \n whole a b c a b c → a b c'],
    ['may be of one line that repeats', 'whole a a a → a a a \n whole a a a a a → a a'],
    [
      'may lack the last known line, which comes back',
      'whole a b c d → a b c d \n whole a b c e → e \n whole a b c d e f → f',
    ],
    [
      'may lack lines between others, which come back',
      'whole a b c d e f → a b c d e f \n whole a c e f → - \n whole a c e f g → g \n whole a b c d e f g h → h',
    ],
    [
      'is asked for more if it may join them in several places',
      'whole a b c d a b c d a b c d → a b c d a b c d a b c d \n full d a b c d a b c d → more',
    ],
    ['may begin with an empty log', 'whole → - \n whole a b → a b'],
  ])('%s', (_name, picture) => void expectPicture(picture));
});

describe('late lines', () => {
  test.each([
    ['come with new ones', 'whole a b c d → a b c d \n whole a b X c d e → X e'],
    ['in a view that does not reach the top', 'whole a b c d e f → a b c d e f \n full c d X e f g → X g'],
    [
      'between known ones are new, and known from then on',
      'whole a b c d → a b c d \n whole a X b c d → X \n whole a X b c d → -',
    ],
    ['above the first line of a whole log', 'whole b c d → b c d \n whole a b c d → a'],
    [
      'and one that another answer lacks again',
      'whole a b c → a b c \n whole a X b c → X \n whole a b c d → d',
    ],
    [
      'behind lines that repeat',
      'whole a p q r p q r b p q r p q r → a p q r p q r b p q r p q r \n full a p q r p q r b L p q r p q r n → L n',
    ],
    [
      'in a log of few different lines',
      'whole b a b b c a a c b d b b → b a b b c a a c b d b b \n full a b b c a X a c b d b b n → X n',
    ],
    ['that only changed places are not new', 'whole a b c d → a b c d \n whole b a c d e → e'],
  ])('%s', (_name, picture) => void expectPicture(picture));
});

describe('an older view', () => {
  test.each([
    ['is held, and asked again', 'whole a b c d → a b c d \n whole a b → held \n whole a b c d e → e'],
    ['is not another log before backends lag no more', 'whole a b c → a b c \n +11 whole a b → held'],
    [
      'may end within a view that is full',
      'whole a b c d e f g → a b c d e f g \n full b c d e → held \n full d e f g h → h',
    ],
    [
      'with a late line brings it with a newer view',
      'whole a b c d → a b c d \n whole a X b → held \n whole a X b c d → X',
    ],
  ])('%s', (_name, picture) => void expectPicture(picture));

  test('of lines that were there for half a minute is another log in the same words; and the one before, in one leap, if backends lag', () => {
    expectPicture(`
      whole a b c d e f g h i j k l m n → a b c d e f g h i j k l m n
      +40 whole a b c d e f g h i j k l m n → -
      +11 whole a b                     → (reset 0) a b
      whole a b c d e f g h i j k l m n → c d e f g h i j k l m n
      +1 whole a b                      → held
      +1 whole a b c d e f g h i j k l m n → -
      +40 whole a b c d e f g h i j k l m n → -
      +11 whole a b                     → (reset 0) a b
      +1 whole a b c d e f g h i j k l m n → held
      +1 whole a b c                    → c
    `);
  });

  test('that only grows, six times, is a log that began again in the same words', () => {
    expectPicture(`
      whole a b c d e f g h i → a b c d e f g h i
      +1 whole a         → held
      +1 whole a b       → held
      +1 whole a b c     → held
      +1 whole a b c d   → held
      +1 whole a b c d e → held
      +1 whole a b c d e f → (reset ?) a b c d e f
    `);
  });

  test('is one of a backend that lags once the lines were seen again: it is held for as long as backends lag', () => {
    expectPicture(`
      whole a b c d e f g h i → a b c d e f g h i
      +1 whole a         → held
      +1 whole a b c d e f g h i → -
      +1 whole a         → held
      +1 whole a b       → held
      +1 whole a b c     → held
      +1 whole a b c d   → held
      +1 whole a b c d e → held
      +1 whole a b c d e f → held
      +1 whole a b c d e f g → held
      +30 whole a b c d e f g → (reset ?) a b c d e f g
    `);
  });
});

describe('a whole view that does not fit', () => {
  test.each([
    ['is a log that began again', 'whole a b c d → a b c d \n whole p q → (reset ?) p q \n whole p q r → r'],
    [
      'if it is much shorter, whatever of the last words it begins with',
      'whole a b c d e f g h i j k l m n o p q r s t → a b c d e f g h i j k l m n o p q r s t \n whole q r s t u → (reset ?) q r s t u',
    ],
    [
      'with few of its words, though in their order',
      'whole a b c d e f g h i j k l → a b c d e f g h i j k l \n whole a f l x y z → (reset ?) a f l x y z',
    ],
    [
      'with the first words of the one before',
      'whole a b c d e f g → a b c d e f g \n whole a p q r s t u v w → (reset ?) a p q r s t u v w',
    ],
    [
      'with all that the one before said at its start',
      'whole a b c d e f 1 2 3 4 5 6 7 → a b c d e f 1 2 3 4 5 6 7 \n whole a b c d e f x y → (reset ?) a b c d e f x y',
    ],
  ])('%s', (_name, picture) => void expectPicture(picture));

  test('of the log before, from a backend that lags, is held', () => {
    const { records } = expectPicture(`
      whole a b c d   → a b c d
      +2 whole p q r  → (reset ?) p q r
      +2 whole a b c d → held
      +2 whole p q r s → s
      +31 whole a b c d → (reset ?) a b c d
    `);
    expect(records.map(({ epoch }) => epoch)).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3]);
  });

  test('what was being written when its log ended is delivered before the gap', () => {
    expectPicture('whole a b las… → a b \n whole p q → las (reset ?) p q');
  });
});

describe('a full view that does not fit', () => {
  test('is asked for more', () => {
    expectPicture('whole a b c → a b c \n full p q r → more');
  });

  /** Of 8 MB. */
  const burst = Array.from({ length: 70_000 }, (_, line) => `${line} ${'x'.repeat(110)}\n`);

  test('is an overrun if more lines came than the service keeps: how many is unknown', () => {
    const pictured = expectPicture('whole a b c → a b c');
    const { records } = pictured.answer(burst.join(''), burst.length, 5_000);
    expect(records[0]).toMatchObject({ gap: { reason: 'overrun', lost_min: 0, lost_estimate: null } });
    expect(records).toHaveLength(1 + burst.length);
  });

  test.each([
    ['a few letters', 'cond'],
    ['more than is remembered of it', `${'y'.repeat(300)} second`],
  ])('and does not bring the end of the last known line again: %s', (_name, top) => {
    const pictured = new Pictured();
    pictured.answer(`first\nsecond\n${'y'.repeat(400)} second\n`);
    const { records } = pictured.answer(`${top}\n${burst.join('')}`, burst.length + 1, 5_000);
    expect(records).toHaveLength(1 + burst.length);
  });

  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, line) => `line ${from + line}\n`).join('');

  test('is paired at the end of many known lines', () => {
    const pictured = new Pictured();
    pictured.answer(lines(0, 2_000));
    const { records } = pictured.answer(`${lines(1_970, 1_995)}late\n${lines(1_995, 2_001)}`, 32);
    expect(linesOf(records)).toEqual(['late', 'line 2000']);
    expect(pictured.answer(lines(500, 530), 31).stale).toBe(true);
  });

  test('of a service that caps its answers is an overrun, and no log that began again', () => {
    const pictured = new Pictured();
    pictured.answer(lines(0, 1_000));
    // The oldest lines are gone, and less came than was asked for.
    expect(pictured.answer(lines(10, 1_010), undefined, 10_000).records).toHaveLength(10);
    const { records } = pictured.answer(lines(9_000, 10_000), undefined, 8_000_000);
    expect(records[0]).toMatchObject({ gap: { reason: 'overrun', lost_estimate: 7_000 } });
    expect(pictured.state.progress.epoch).toBe(1);
  });

  test.each([
    ['1,000 lines', undefined, lines(0, 1_000), 'overrun'],
    ['1,000 lines, and began in its midst', 3, lines(0, 1_000), 'overrun'],
    ['16 KB', undefined, `${'x'.repeat(15_999)}\n`, 'overrun'],
    ['less', undefined, lines(0, 999), 'reset'],
  ])('of a service whose cap was never seen is an overrun too if it has %s', (_what, tail, text, reason) => {
    const pictured = new Pictured({ start: 'end' });
    pictured.answer('a\nb\n', tail);
    expect(pictured.answer(text).records[0]).toMatchObject({ gap: { reason } });
    expect(pictured.state.progress.streams['']?.capBytes === undefined).toBe(reason === 'reset');
  });
});

test('one gap stands for a stretch of lines that cannot be told apart, and the rate bounds it', () => {
  const pictured = new Pictured();
  const health = (count: number) => 'GET /health\n'.repeat(count);
  pictured.answer(health(30));
  // Two lines each second.
  for (let second = 0; second < 20; second++) pictured.answer(health(32 + 2 * second), undefined, 1_000);
  const wide = pictured.answer(health(70), 71, 1_000);
  expect([wide.records, wide.next.delayMs]).toEqual([[], 0]);
  // So many bytes were asked for that more would not help.
  const text = health(50_000);
  const { records } = pictured.answer(text, 50_001, 1_000);
  const gaps = records.filter((record) => 'gap' in record);
  expect(gaps).toMatchObject([{ gap: { reason: 'ambiguous', lost_min: 0 } }]);
  const [estimate = 0] = gaps.map(({ gap }) => gap.lost_estimate ?? 0);
  expect(estimate).toBeGreaterThan(1);
  expect(estimate).toBeLessThan(10);
  expect(pictured.answer(text, 50_001, 1_000).records).toEqual([]);
});

describe('the first sight', () => {
  test('of a full view is asked for more; from the end on nothing is delivered', () => {
    expectPicture('full a b c → more');
    expectPicture('full a b c d → - \n full b c d e → e', new Pictured({ start: 'end' }));
    expectPicture('full b c d → - \n whole a b c d e → e', new Pictured({ start: 'end' }));
  });

  test('of an empty log is a beginning, but an endpoint has no empty log', () => {
    expectPicture('whole → - \n whole a b → a b', new Pictured({ start: 'end' }));
    const source = { kind: 'endpoint', id: 31, name: 'chat' } as const;
    expectPicture('whole → - \n whole a b → - \n whole a b c → c', new Pictured({ start: 'end', source }));
  });

  test('after the spool was lost begins with a gap, and an epoch of its own', () => {
    const { records } = expectPicture(
      'whole a b → (reset ?) a b',
      new Pictured({ epoch: 900, mark: FORGOTTEN }),
    );
    expect(records.map(({ epoch }) => epoch)).toEqual([900, 900, 900]);
  });
});

test('nothing moves for an answer without lines', () => {
  const pictured = expectPicture('whole a b → a b \n whole → - \n whole a b c → c');
  expect(pictured.answer('\n \n').records).toEqual([]);
  const moved = ['a\nb\nc\n', 'a\nb\nc\nd', 'a\nb\nc\n'].map((text) => pictured.answer(text).moved);
  expect(moved).toEqual([false, true, false]);
  // That following has begun is stored.
  expect(new Pictured({ start: 'end' }).answer('').moved).toBe(true);
});

test('a later process goes on from what was stored', () => {
  const { state, now } = expectPicture('whole a b d → a b d \n whole a b c d → c');
  // A late line gives all lines new places.
  expect(state.progress.streams['']?.window.from).toBe(3);
  const later = new Pictured({ progress: state.progress });
  later.now = now;
  const { records } = expectPicture('whole a b c d e → e', later);
  expect(records).toMatchObject([{ epoch: 1, seq: 5, line: 'e' }]);
});

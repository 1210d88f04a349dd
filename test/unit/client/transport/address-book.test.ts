import { describe, expect, test } from 'vitest';
import { AddressBook } from '../../../../src/client/transport/address-book.ts';

const MINUTES = 60_000;

/** A book of these addresses, looked up at 0. */
function bookOf(...addresses: readonly string[]): AddressBook {
  const book = new AddressBook();
  book.resolved(addresses, 0);
  return book;
}

/** `a b | c`: good ones before the bar. */
function order(book: AddressBook, now: number, subject?: string, busy?: readonly string[]): string {
  const all = book.order(now, subject, new Set(busy));
  const named = (isGood: boolean) =>
    all.flatMap(({ address, good }) => (good === isGood ? [address] : [])).join(' ');
  return `${named(true)} | ${named(false)}`;
}

describe('the order', () => {
  test('is the resolver’s while nothing is known', () => {
    expect(order(bookOf('b', 'a', 'c'), 1)).toBe('b a c | ');
  });

  test('has those that failed last, the one that failed longest ago first', () => {
    const book = bookOf('a', 'b', 'c');
    book.failed('a', 'timeout', 10);
    book.failed('b', 'refused', 20);
    expect(order(book, 30)).toBe('c | a b');
    book.failed('c', 'tls', 25);
    book.failed('a', 'timeout', 30);
    expect(order(book, 30)).toBe(' | b c a');
    book.worked('c', 30);
    expect(order(book, 30)).toBe('c | b a');
  });

  test('forgets a failure after some minutes, and then one exchange alone tries the address', () => {
    const book = bookOf('a', 'b');
    book.failed('a', 'timeout', 0);
    expect(order(book, 5 * MINUTES - 1)).toBe('b | a');
    expect(order(book, 5 * MINUTES)).toBe('a b | ');
    book.trying('a', 5 * MINUTES);
    expect(order(book, 5 * MINUTES)).toBe('b | a');
    book.worked('a', 5 * MINUTES);
    expect(order(book, 5 * MINUTES)).toBe('a b | ');
  });

  test('has addresses last that another attempt about the same subject uses', () => {
    const book = bookOf('a', 'b', 'c');
    book.failed('b', 'timeout', 10);
    expect(order(book, 20, 'x', ['a'])).toBe('c | b a');
    expect(order(book, 20, 'x', ['a', 'c'])).toBe(' | b a c');
  });

  test('has an address that does not know the subject behind others, for this subject alone', () => {
    const book = bookOf('a', 'b');
    book.refused('a', 'x', 10);
    expect([order(book, 20, 'x'), order(book, 20, 'y')]).toEqual(['b | a', 'a b | ']);
    // What it knows of others does not matter.
    book.worked('a', 20, 'y');
    book.failed('b', 'timeout', 20);
    expect(order(book, 30, 'x')).toBe(' | a b');
    book.worked('a', 30, 'x');
    expect(order(book, 30, 'x')).toBe('a | b');
    book.refused('a', 'x', 40);
    expect(order(book, 40 + 5 * MINUTES, 'x')).toBe('a b | ');
  });
});

test('an address that does not know what another one knows is avoided by all', () => {
  const book = bookOf('a', 'b');
  book.refused('a', 'x', 10);
  book.worked('b', 20, 'x');
  expect(order(book, 30, 'y')).toBe('b | a');
  expect(book.states(0)[0]).toEqual({
    address: 'a',
    listed: true,
    failure: { reason: 'not-found', since: 20 },
  });
});

describe('a new answer of the resolver', () => {
  test('keeps what is known, in the new order', () => {
    const book = bookOf('a', 'b', 'c');
    book.failed('b', 'timeout', 10);
    book.resolved(['b', 'c', 'a'], 20);
    expect(order(book, 20)).toBe('c a | b');
  });

  test('without an address leaves it as the last resort, and forgets it after some minutes', () => {
    const book = bookOf('a', 'b');
    book.resolved(['b'], 10);
    expect(order(book, 10)).toBe('b | a');
    book.failed('b', 'timeout', 20);
    expect(order(book, 20)).toBe(' | a b');
    book.failed('a', 'timeout', 30);
    book.failed('b', 'timeout', 40);
    expect(order(book, 40)).toBe(' | b a');
    expect(book.states(0).map(({ address, listed }) => [address, listed])).toEqual([
      ['b', true],
      ['a', false],
    ]);
    book.resolved(['b'], 5 * MINUTES);
    expect(book.size).toBe(1);
  });
});

describe('an idle connection', () => {
  test('is used unless a better address is known', () => {
    const book = bookOf('a', 'b');
    for (const address of ['a', 'b', 'unknown']) expect(book.accepts(address, 1)).toBe(true);
    book.failed('a', 'status 503', 10);
    expect([book.accepts('a', 20), book.accepts('b', 20)]).toEqual([false, true]);
    book.failed('b', 'status 503', 20);
    expect([book.accepts('a', 20), book.accepts('b', 20)]).toEqual([true, false]);
    book.worked('b', 20);
    book.refused('b', 'x', 30);
    expect([book.accepts('b', 30, 'x'), book.accepts('b', 30, 'y')]).toEqual([false, true]);
  });
});

test('the next connection waits longer where connecting takes long, and longest for a bad address', () => {
  const book = bookOf('a', 'b');
  const good = { address: 'a', good: true };
  const waits = () => [book.patience(good), book.patience({ ...good, good: false })];
  expect(waits()).toEqual([250, 2_000]);
  book.connected(400);
  expect(waits()).toEqual([800, 2_000]);
  book.connected(9_000);
  expect(waits()).toEqual([2_000, 2_000]);
});

test('says what failed last, and since when nothing has worked', () => {
  const book = bookOf('a', 'b');
  book.failed('a', 'refused', 10);
  book.failed('a', 'timeout', 20);
  const failure = { reason: 'timeout', since: 1_010 };
  expect(book.states(1_000)).toEqual([
    { address: 'a', listed: true, failure },
    { address: 'b', listed: true },
  ]);
});

test('what is kept is bounded', () => {
  const book = bookOf('a', 'b');
  for (let subject = 0; subject <= 10_000; subject += 1) book.refused('a', subject, 10);
  const firstOf = (subject: number) => book.order(20, subject)[0]?.address;
  expect([firstOf(0), firstOf(1), firstOf(10_000)]).toEqual(['a', 'b', 'b']);
  for (let round = 0; round < 100; round += 1) book.resolved([`x${round}`, 'a'], round);
  expect(book.size).toBe(32);
  book.resolved(
    Array.from({ length: 100 }, (_, index) => `y${index}`),
    200,
  );
  expect(book.size).toBe(32);
});

import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  AddressBook,
  createLookup,
  type Lookup,
  type Resolve,
} from '../../../../src/client/transport/address-book.ts';
import type { LookupAddress, LookupOptions } from 'node:dns';

const MINUTES = 60_000;

afterEach(() => vi.useRealTimers());

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
  expect(book.states(0)[0]).toEqual({ address: 'a', failure: { reason: 'not-found', since: 20 } });
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
    book.resolved(['b'], 5 * MINUTES);
    expect(book.size).toBe(1);
  });
});

test('an idle connection is used unless a better address is known', () => {
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

test('what is said of an address that is gone changes nothing', () => {
  const book = bookOf('a');
  book.failed('gone', 'timeout', 1);
  book.refused('gone', 'x', 1);
  book.worked('gone', 1, 'x');
  book.trying('gone', 1);
  expect(book.states(0)).toEqual([{ address: 'a' }]);
});

test('says what failed last, and since when nothing has worked', () => {
  const book = bookOf('a', 'b');
  book.failed('a', 'refused', 10);
  book.failed('a', 'timeout', 20);
  const failure = { reason: 'timeout', since: 1_010 };
  expect(book.states(1_000)).toEqual([{ address: 'a', failure }, { address: 'b' }]);
});

test('the refusals that are kept are bounded', () => {
  const book = bookOf('a', 'b');
  for (let subject = 0; subject <= 10_000; subject += 1) book.refused('a', subject, 10);
  const firstOf = (subject: number) => book.order(20, subject)[0]?.address;
  expect([firstOf(0), firstOf(1), firstOf(10_000)]).toEqual(['a', 'b', 'b']);
});

const FIRST = [{ address: '192.0.2.1', family: 4 }];
const SECOND = [{ address: '192.0.2.2', family: 4 }];

/** A resolver whose next answers are given in advance; without one it does not answer. */
function resolver(...answers: (readonly LookupAddress[] | Error)[]): Resolve {
  return (_hostname, _options, callback) => {
    const answer = answers.shift();
    if (answer instanceof Error) callback(answer, []);
    else if (answer) callback(null, [...answer]);
  };
}

type Answer = string | readonly LookupAddress[];

function ask(
  lookup: Lookup,
  hostname = 'service.test',
  options: LookupOptions = { all: true },
): Promise<Answer> {
  return new Promise((resolve, reject) =>
    lookup(hostname, options, (error, address) => (error ? reject(error) : resolve(address))),
  );
}

/** A resolver that is asked and answers when the test says so. */
function heldResolver() {
  const questions: { hostname: string; options: LookupOptions; answer: Parameters<Resolve>[2] }[] = [];
  const resolve: Resolve = (hostname, options, answer) => questions.push({ hostname, options, answer });
  return { questions, lookup: createLookup(resolve) };
}

test('a name that stops resolving keeps the addresses that it had last', async () => {
  const lookup = createLookup(resolver(FIRST, SECOND, new Error('ENOTFOUND'), [], new Error('ENOTFOUND')));
  expect(await ask(lookup)).toEqual(FIRST);
  for (let count = 0; count < 4; count += 1) expect(await ask(lookup)).toEqual(SECOND);
});

test('a name that never resolved is an error, whatever other names did', async () => {
  const lookup = createLookup(resolver(FIRST, new Error('ENOTFOUND')));
  await ask(lookup);
  await expect(ask(lookup, 'other.test')).rejects.toThrow('ENOTFOUND');
});

test('without `all` the answer is one address and its family, as Node wants it then', async () => {
  const lookup = createLookup(resolver(FIRST, new Error('ENOTFOUND')));
  const callback = vi.fn<Parameters<Lookup>[2]>();
  lookup('service.test', {}, callback);
  lookup('service.test', { all: false }, callback);
  expect(callback.mock.calls).toEqual([
    [null, '192.0.2.1', 4],
    [null, '192.0.2.1', 4],
  ]);
});

test('a name is asked for once, however many wait, and all of them get the answer', async () => {
  const { questions, lookup } = heldResolver();
  const answers = [ask(lookup), ask(lookup), ask(lookup, 'service.test', {})];
  const other = ask(lookup, 'other.test');
  expect(questions.map(({ hostname }) => hostname)).toEqual(['service.test', 'other.test']);
  expect(questions.map(({ options }) => options)).toEqual([{ all: true }, { all: true }]);
  questions[1]?.answer(Object.assign(new Error('ENOTFOUND')), []);
  await expect(other).rejects.toThrow('ENOTFOUND');
  questions[0]?.answer(null, FIRST);
  expect(await Promise.all(answers)).toEqual([FIRST, FIRST, '192.0.2.1']);
  void ask(lookup);
  expect(questions).toHaveLength(3);
});

test('addresses of one family are not given to who asks for the other', async () => {
  const { questions, lookup } = heldResolver();
  const first = ask(lookup, 'service.test', { all: true, family: 4 });
  const second = ask(lookup, 'service.test', { all: true, family: 6 });
  expect(questions).toHaveLength(2);
  questions[0]?.answer(null, FIRST);
  questions[1]?.answer(null, [{ address: '2001:db8::1', family: 6 }]);
  expect(await first).toEqual(FIRST);
  expect(await second).toEqual([{ address: '2001:db8::1', family: 6 }]);
});

test('who stops waiting hears nothing, leaves no timer and no listener, and others wait on', async () => {
  vi.useFakeTimers();
  const { questions, lookup } = heldResolver();
  const known = ask(lookup);
  questions[0]?.answer(null, FIRST);
  await known;
  const controller = new AbortController();
  const removed = vi.spyOn(controller.signal, 'removeEventListener');
  const gone = vi.fn<Parameters<Lookup>[2]>();
  lookup('service.test', { all: true }, gone, controller.signal);
  const other = ask(lookup);
  expect(vi.getTimerCount()).toBe(2);
  controller.abort();
  expect(vi.getTimerCount()).toBe(1);
  expect(removed).toHaveBeenCalled();
  questions[1]?.answer(null, SECOND);
  expect(await other).toEqual(SECOND);
  lookup('service.test', { all: true }, gone, controller.signal);
  expect([vi.getTimerCount(), gone.mock.calls.length, questions.length]).toEqual([0, 0, 2]);
});

test('addresses that come with an error are not taken', async () => {
  const { questions, lookup } = heldResolver();
  const asked = ask(lookup);
  questions[0]?.answer(Object.assign(new Error('EAI_AGAIN')), FIRST);
  await expect(asked).rejects.toThrow('EAI_AGAIN');
  const again = ask(lookup);
  questions[1]?.answer(null, []);
  await expect(again).rejects.toMatchObject({ code: 'ENODATA', message: 'service.test has no address' });
});

test('a resolver is waited for half a second where an address is known, and its late answer is the next one', async () => {
  vi.useFakeTimers();
  const { questions, lookup } = heldResolver();
  const first = ask(lookup);
  questions[0]?.answer(null, FIRST);
  await first;
  const answered = vi.fn<(answer: Answer) => void>();
  void ask(lookup).then(answered);
  await vi.advanceTimersByTimeAsync(499);
  expect(answered).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(answered).toHaveBeenCalledWith(FIRST);
  questions[1]?.answer(null, SECOND);
  void ask(lookup).then(answered);
  await vi.advanceTimersByTimeAsync(500);
  expect(answered).toHaveBeenLastCalledWith(SECOND);
});

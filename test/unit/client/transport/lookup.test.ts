import type { LookupAddress, LookupOptions } from 'node:dns';
import { expect, test, vi } from 'vitest';
import { createLookup, type Lookup, type Resolve } from '../../../../src/client/transport/lookup.ts';

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
  const questions: { hostname: string; answer: Parameters<Resolve>[2] }[] = [];
  const resolve: Resolve = (hostname, _options, answer) => questions.push({ hostname, answer });
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
  try {
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
  } finally {
    vi.useRealTimers();
  }
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
  try {
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
  } finally {
    vi.useRealTimers();
  }
});

test('the names that were asked for last are known, 64 of them', async () => {
  const { questions, lookup } = heldResolver();
  const learn = async (name: string) => {
    const asked = ask(lookup, name);
    questions.at(-1)?.answer(null, FIRST);
    await asked;
  };
  for (let index = 0; index < 64; index += 1) await learn(`${index}.test`);
  // Asked for again, it is the last one.
  await learn('0.test');
  await learn('64.test');
  const failing = (name: string) => {
    const asked = ask(lookup, name);
    questions.at(-1)?.answer(Object.assign(new Error('ENOTFOUND')), []);
    return asked;
  };
  expect(await failing('0.test')).toEqual(FIRST);
  expect(await failing('2.test')).toEqual(FIRST);
  await expect(failing('1.test')).rejects.toThrow('ENOTFOUND');
});

import type { LookupAddress } from 'node:dns';
import { expect, test } from 'vitest';
import { createLookup, type Resolve } from '../../../src/client/lookup.ts';

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

function ask(lookup: ReturnType<typeof createLookup>, hostname = 'service.test'): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) =>
    lookup(hostname, {}, (error, addresses) => (error ? reject(error) : resolve(addresses))),
  );
}

test('a name that stops resolving keeps the addresses that it had last', async () => {
  const lookup = createLookup(resolver(FIRST, SECOND, new Error('ENOTFOUND'), []));
  expect(await ask(lookup)).toEqual(FIRST);
  expect(await ask(lookup)).toEqual(SECOND);
  expect(await ask(lookup)).toEqual(SECOND);
  expect(await ask(lookup)).toEqual(SECOND);
});

test('a resolver that does not answer is not waited for where an address is known', async () => {
  const lookup = createLookup(resolver(FIRST));
  await ask(lookup);
  expect(await ask(lookup)).toEqual(FIRST);
});

test('a name that never resolved is an error, whatever other names did', async () => {
  const lookup = createLookup(resolver(FIRST, new Error('ENOTFOUND')));
  await ask(lookup);
  await expect(ask(lookup, 'other.test')).rejects.toThrow('ENOTFOUND');
});

test('the system resolves', async () => {
  expect((await ask(createLookup(), 'localhost')).length).toBeGreaterThan(0);
});

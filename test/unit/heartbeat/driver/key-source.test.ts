import { expect, test } from 'vitest';
import { KeySource, type Key } from '../../../../src/heartbeat/driver/ports.ts';

/** A source that answers in turn; its time limit fires when `expire` is called. */
function sourceOf(...answers: readonly (() => Promise<string>)[]) {
  const heard: Key[] = [];
  const limits: number[] = [];
  let turn = 0;
  let cancelled = 0;
  let expire: () => void = () => {};
  const source = new KeySource(
    'first',
    {
      readKey: () => (answers[turn++] ?? (() => Promise.reject(new Error('no more'))))(),
      setTimer: (ms, fn) => {
        limits.push(ms);
        expire = fn;
        return () => (cancelled += 1);
      },
    },
    (key) => heard.push(key),
  );
  return { source, heard, limits, counts: () => ({ turn, cancelled }), expire: () => expire() };
}

const says = (text: string) => () => Promise.resolve(text);
const hangs = () => new Promise<string>(() => {});

test('a new key counts; the same, none, and what fails do not', async () => {
  const { source, heard, limits, counts } = sourceOf(
    says('first'),
    says(''),
    () => Promise.reject(new Error('gone')),
    says('second'),
    says('third'),
  );
  expect(source.key).toEqual({ value: 'first', generation: 1 });
  for (let reads = 0; reads < 3; reads += 1) await source.read();
  expect(heard).toEqual([]);
  await source.read();
  await source.read();
  expect(heard).toEqual([
    { value: 'second', generation: 2 },
    { value: 'third', generation: 3 },
  ]);
  expect(source.key).toBe(heard[1]);
  expect(limits).toEqual([10_000, 10_000, 10_000, 10_000, 10_000]);
  expect(counts()).toEqual({ turn: 5, cancelled: 5 });
});

test('two who ask at once wait for one read', async () => {
  const { source, heard, counts } = sourceOf(says('second'), says('third'));
  await Promise.all([source.read(), source.read()]);
  expect([heard.length, counts().turn]).toEqual([1, 1]);
});

test('whoever knows of a change does not go by a read that began before it', async () => {
  const older = Promise.withResolvers<string>();
  const { source, heard } = sourceOf(() => older.promise, says('second'));
  const reads = [source.read(), source.readAnew()];
  older.resolve('first');
  await Promise.all(reads);
  expect(heard).toEqual([{ value: 'second', generation: 2 }]);
});

test('a read that hangs is given up, at its limit or at the end, and changes nothing', async () => {
  const { source, heard, expire } = sourceOf(hangs, hangs, says('second'));
  const first = source.read();
  expire();
  await first;
  const second = source.read();
  source.stop();
  await second;
  expect(heard).toEqual([]);
  await source.read();
  expect(heard).toHaveLength(1);
  source.stop();
});

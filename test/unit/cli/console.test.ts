import { afterEach, expect, test, vi } from 'vitest';
import { createInterrupts, READER_LEFT, untilAborted } from '../../../src/cli/console.ts';

const exits: (number | undefined)[] = [];
function listenForExits(): void {
  exits.length = 0;
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    exits.push(code as number | undefined);
    return undefined as never;
  });
}
afterEach(() => vi.restoreAllMocks());

const listeners = () => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');

test.each(['SIGINT', 'SIGTERM'] as const)(
  'the first %s ends the work in order, the second one at once',
  async (signal) => {
    listenForExits();
    const before = listeners();
    const { interruptible } = createInterrupts();
    const work = interruptible(async (ending) => {
      expect(listeners()).toBe(before + 2);
      await untilAborted(ending);
      process.emit(signal);
      return 'ended in order';
    });
    expect(exits).toEqual([]);
    process.emit(signal);
    expect(await work).toBe('ended in order');
    expect([exits, listeners()]).toEqual([[130], before]);
  },
);

test('a reader that leaves ends work in order, and the process where there is none', async () => {
  listenForExits();
  const { interruptible, readerLeft } = createInterrupts();
  const work = interruptible(async (ending) => {
    await untilAborted(ending);
    return ending.reason as unknown;
  });
  readerLeft();
  expect([await work, exits]).toEqual([READER_LEFT, []]);
  readerLeft();
  expect(exits).toEqual([undefined]);
  await expect(interruptible(() => Promise.reject(new Error('it failed')))).rejects.toThrow('it failed');
  readerLeft();
  expect(exits).toHaveLength(2);
});

test('what is over already is not waited for', async () => {
  await expect(untilAborted(AbortSignal.abort())).resolves.toBeUndefined();
});

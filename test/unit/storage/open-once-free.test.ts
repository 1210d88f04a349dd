import { expect, test } from 'vitest';
import { FileInUse, openOnceFree } from '../../../src/storage/database-file.ts';
import { VirtualClock } from '../../support/log-time.ts';

const { signal } = new AbortController();

function inUse(): never {
  throw new FileInUse('it is in use');
}

test('a file that another process has is waited for, five seconds and no longer', async () => {
  const clock = new VirtualClock(0);
  let tries = 0;
  const opened = openOnceFree(() => ((tries += 1), inUse()), clock, signal).catch((error: unknown) => error);
  await clock.advance(4_999);
  expect(tries).toBe(25);
  await clock.advance(1);
  expect([tries, await opened]).toEqual([26, expect.any(FileInUse)]);
});

test('it is opened once it is free', async () => {
  const clock = new VirtualClock(0);
  const opened = openOnceFree(() => (clock.now() < 400 ? inUse() : 'open'), clock, signal);
  await clock.advance(400);
  expect(await opened).toBe('open');
});

test('another error is thrown at once, and so is the reason of the signal', async () => {
  const clock = new VirtualClock(0);
  const broken = (): never => {
    throw new Error('broken');
  };
  await expect(openOnceFree(broken, clock, signal)).rejects.toThrow('broken');
  await expect(openOnceFree(inUse, clock, AbortSignal.abort(new Error('stopping')))).rejects.toThrow(
    'stopping',
  );
});

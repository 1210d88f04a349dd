import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openLogSpool } from '../../../../../src/daemon/services/logs/spool.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

const options = { sinks: ['stdout'], isRestart: false, observe: () => expect.unreachable() };

test('a spool on disk is looked after until it is released, and not once it is closed', async () => {
  using folder = temporaryFolder();
  const { spool, durable, release } = await openLogSpool({ ...options, directory: folder.path });
  vi.advanceTimersByTime(60_000);
  expect(durable()).toBe(true);
  release();
  spool.close();
  vi.advanceTimersByTime(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

test('one in memory needs no care, and nobody asked whether it lasts', async () => {
  const { spool, durable } = await openLogSpool({ ...options, directory: undefined });
  expect([durable(), vi.getTimerCount()]).toEqual([undefined, 0]);
  spool.close();
});

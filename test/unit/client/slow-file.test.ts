/** A pipe without a writer is a file that hangs. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readSlowFile } from '../../../src/client/slow-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('a file that hangs is given up after 4 s, and looked at once until it answers', async () => {
  using folder = temporaryFolder();
  const pipe = join(folder.path, 'pipe');
  spawnSync('mkfifo', [pipe]);
  const looks = vi.fn<() => void>();
  const read = async (signal?: AbortSignal): Promise<string> => {
    const reading = readSlowFile(pipe, looks, signal).catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(4_000);
    return reading;
  };
  for (let time = 0; time < 3; time += 1) {
    expect(await read()).toBe('it did not answer within 4 s');
    await expect.poll(() => looks.mock.calls.length).toBe(1);
  }
  expect(await read(AbortSignal.abort(new Error('enough')))).toBe('enough');
  const answered = readSlowFile(pipe, looks);
  writeFileSync(pipe, 'text');
  expect(await answered).toMatch(/^(text)?$/);
  expect(vi.getTimerCount()).toBe(0);
});

import { describe, expect, test } from 'vitest';
import { LineOutput } from '../../../../src/logs/sinks/stdout.ts';

const NEVER = new AbortController().signal;

const bytesOf = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''));

/** A descriptor that takes so many bytes at a time, and fails where it is to take none. */
function descriptor(takes: number[] = []) {
  const parts: Buffer[] = [];
  const written = {
    calls: 0,
    get text() {
      return Buffer.concat(parts).toString();
    },
  };
  const write = (bytes: Buffer): Promise<number> => {
    written.calls += 1;
    const most = takes.shift() ?? Infinity;
    if (most === 0) return Promise.reject(new Error('ENOSPC'));
    const taken = bytes.subarray(0, Math.min(bytes.length, most));
    parts.push(taken);
    return Promise.resolve(taken.length);
  };
  return { written, write };
}

describe('after a failure', () => {
  test.each([
    ['before the first byte', [0], 'one\ntwo\nthree\n'],
    ['within a line', [2, 0], 'on\none\ntwo\nthree\n'],
    ['before a line’s end', [3, 0], 'one\ntwo\nthree\n'],
    ['behind a line’s end', [4, 0], 'one\ntwo\nthree\n'],
    ['within a later line', [6, 0], 'one\ntw\ntwo\nthree\n'],
    ['before the last line’s end', [13, 0], 'one\ntwo\nthree\n'],
    ['twice within a line', [2, 0, 3, 0], 'on\non\none\ntwo\nthree\n'],
    ['and another before a line’s end', [3, 0, 1, 0], 'one\ntwo\nthree\n'],
  ])('%s the same lines go on where they were torn', async (_what, takes, text) => {
    const { written, write } = descriptor([...takes]);
    const output = new LineOutput(write);
    const lines = bytesOf(['one', 'two', 'three']);
    for (let tries = 0; ; tries += 1) {
      if (tries > 5) throw new Error('it never ends');
      const isDone = await output.write(lines, NEVER).then(
        () => true,
        () => false,
      );
      if (isDone) break;
    }
    expect(written.text).toBe(text);
  });

  test('other lines are written from their beginning', async () => {
    const { written, write } = descriptor([4, 0]);
    const output = new LineOutput(write);
    await expect(output.write(bytesOf(['one', 'two']), NEVER)).rejects.toThrow('ENOSPC');
    await output.write(bytesOf(['one', 'two']), NEVER);
    expect(written.text).toBe('one\none\ntwo\n');
  });

  test('the same lines come whole once they were written', async () => {
    const { written, write } = descriptor([4, 0]);
    const output = new LineOutput(write);
    const lines = bytesOf(['one', 'two']);
    await expect(output.write(lines, NEVER)).rejects.toThrow('ENOSPC');
    await output.write(lines, NEVER);
    await output.write(lines, NEVER);
    expect(written.text).toBe('one\ntwo\none\ntwo\n');
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { LogRecord } from '../../../src/logs/record.ts';

const CHILD = fileURLToPath(new URL('../../support/log-blocked-child.ts', import.meta.url));

test('a pipe that nobody reads stops neither process nor memory bound, and what it missed is counted', async () => {
  const child = spawn(process.execPath, [CHILD], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = await once(child.stderr, 'data');
  const { records = 0, lag = 0, dropped }: Record<string, number> = JSON.parse(String(said[0]));
  expect(lag).toBeLessThan(25_000);

  const lines = (await text(child.stdout)).trimEnd().split('\n');
  const seqs = lines.map((line) => {
    const { seq }: LogRecord = JSON.parse(line);
    return seq;
  });
  expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
  expect(new Set(seqs).size).toBe(seqs.length);
  expect(dropped).toBe(records - seqs.length);
  expect(seqs.at(-1)).toBe(records);
});

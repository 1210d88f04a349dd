/** What a file sink has written, put together as a person would: rotated files by number, then the file itself. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { LogRecord } from '../../src/logs/record.ts';

export function rotatedFiles(path: string): readonly string[] {
  const prefix = `${basename(path)}.`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && !name.endsWith('.partial'))
    .toSorted((one, other) => numberOf(one) - numberOf(other));
}

export function readLogFiles(path: string): readonly LogRecord[] {
  const rotated = rotatedFiles(path).map((name) => {
    const bytes = readFileSync(join(dirname(path), name));
    return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  });
  const current = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const lines = [...rotated, current].join('').split('\n');
  if (lines.pop() !== '') throw new Error('the last line has no end');
  return lines.map((line): LogRecord => JSON.parse(line));
}

function numberOf(name: string): number {
  return Number(/\.(\d+)(?:\.gz)?$/.exec(name)?.[1]);
}

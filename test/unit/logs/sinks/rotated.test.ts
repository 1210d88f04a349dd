import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Archives } from '../../../../src/logs/sinks/archives.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';

const NEVER = new AbortController().signal;

let folder: ReturnType<typeof memoryFolder>;
let path: string;
beforeEach(() => {
  folder = memoryFolder();
  path = join(folder.path, 'worker.log');
});
afterEach(() => folder[Symbol.dispose]());

const put = (suffix: string, text = `text of ${suffix}`, mode = 0o600): void =>
  writeFileSync(path + suffix, text, { mode });
const names = (): string[] => readdirSync(folder.path).toSorted();
const unpacked = (suffix: string): string => gunzipSync(readFileSync(path + suffix)).toString();
const archives = (maxFiles = 2): Archives => new Archives({ path, maxFiles });

test('a file gets the number after the highest, also where that is compressed, and its mode is told', async () => {
  put('');
  chmodSync(path, 0o640);
  expect(await archives().rotate()).toBe(0o640);
  expect(names()).toEqual(['worker.log.1']);
  put('.9.gz');
  put('.10');
  put('');
  await archives().rotate();
  expect(names()).toEqual(['worker.log.1', 'worker.log.10', 'worker.log.11', 'worker.log.9.gz']);
  expect(readFileSync(`${path}.11`, 'utf8')).toBe('text of ');
});

test('files of others have no number', async () => {
  for (const suffix of ['', '.0', '.01', '.1x', '.1.gz.partial', '.gz', '-5', '.2.bz2']) put(suffix);
  writeFileSync(join(folder.path, 'other.log.7'), '');
  await archives().rotate();
  expect(names()).toContain('worker.log.1');
});

test('the newest is known as long as it is not compressed', async () => {
  expect(await archives().newestPlain()).toBeUndefined();
  put('.9');
  put('.10');
  mkdirSync(`${path}.11`);
  expect(await archives().newestPlain()).toBe(`${path}.10`);
  put('.12.gz');
  expect(await archives().newestPlain()).toBeUndefined();
});

test('those that are too many go, and the others are compressed, each with its mode', async () => {
  for (const number of [8, 9, 10, 11]) put(`.${number}`);
  chmodSync(`${path}.11`, 0o644);
  put('.8.gz.partial');
  put('.7.gz');
  await archives().tidy(NEVER);
  expect(names()).toEqual(['worker.log.10.gz', 'worker.log.11.gz']);
  expect([unpacked('.10.gz'), unpacked('.11.gz')]).toEqual(['text of .10', 'text of .11']);
  expect([statSync(`${path}.10.gz`).mode & 0o777, statSync(`${path}.11.gz`).mode & 0o777]).toEqual([
    0o600, 0o644,
  ]);
});

test('what is compressed stays as it is, and one that a kill left beside it goes', async () => {
  put('.1.gz', 'not to be looked at');
  put('.2.gz', 'whole');
  put('.2', 'left');
  put('.2.gz.partial', 'torn');
  await archives().tidy(NEVER);
  expect(names()).toEqual(['worker.log.1.gz', 'worker.log.2.gz', 'worker.log.2.gz.partial']);
  expect(readFileSync(`${path}.1.gz`, 'utf8')).toBe('not to be looked at');
  expect(readFileSync(`${path}.2.gz`, 'utf8')).toBe('whole');
});

test('a torn one is written anew', async () => {
  put('.1');
  put('.1.gz.partial', 'torn, and longer than what comes');
  await archives().tidy(NEVER);
  expect(names()).toEqual(['worker.log.1.gz']);
  expect(unpacked('.1.gz')).toBe('text of .1');
});

test('at the end nothing more is begun', async () => {
  put('.1');
  await expect(archives().tidy(AbortSignal.abort(new Error('the end')))).rejects.toThrow('the end');
  expect(names()).toEqual(['worker.log.1']);
});

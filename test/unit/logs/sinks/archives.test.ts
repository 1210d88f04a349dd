import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { Archives } from '../../../../src/logs/sinks/archives.ts';
import { test } from '../../../support/log-folder.ts';
import { NEVER } from '../../../support/log-records.ts';

const put = (path: string, ...suffixes: readonly string[]): void => {
  for (const suffix of suffixes) writeFileSync(path + suffix, `text of ${suffix}`, { mode: 0o600 });
};
/** What stands behind the name of the file. */
const suffixes = (path: string): readonly string[] =>
  readdirSync(dirname(path))
    .map((name) => name.replace('worker.log', ''))
    .toSorted();
const unpacked = (path: string): string => gunzipSync(readFileSync(path)).toString();
const modeOf = (path: string): number => statSync(path).mode & 0o777;
const archives = (path: string): Archives => new Archives({ path, maxFiles: 2 });

test('a file gets the number after the highest, compressed or not; its mode is told', async ({ path }) => {
  put(path, '');
  chmodSync(path, 0o640);
  expect(await archives(path).rotate()).toBe(0o640);
  expect(suffixes(path)).toEqual(['.1']);
  put(path, '.9.gz', '.10', '');
  await archives(path).rotate();
  expect(suffixes(path)).toEqual(['.1', '.10', '.11', '.9.gz']);
  expect(readFileSync(`${path}.11`, 'utf8')).toBe('text of ');
});

test('files of others have no number', async ({ folder, path }) => {
  put(path, '', '.0', '.01', '.1x', '.1.gz.partial', '.gz', '-5', '.2.bz2', '.old');
  writeFileSync(join(folder, 'other.log.7'), '');
  await archives(path).rotate();
  expect(suffixes(path)).toContain('.1');
  const before = suffixes(path).filter((suffix) => !suffix.startsWith('.1'));
  await archives(path).tidy(NEVER);
  expect(suffixes(path)).toEqual([...before, '.1.gz', '.1x'].toSorted());
});

test.for<[string, (path: string) => void]>([
  ['a pipe that nobody writes', (path) => execFileSync('mkfifo', [path])],
  ['a folder', (path) => mkdirSync(path)],
  ['a link to itself', (path) => symlinkSync(path, path)],
])('%s under a number is passed over and stays, and nothing waits for it', async ([, make], { path }) => {
  make(`${path}.2`);
  const { ino } = lstatSync(`${path}.2`);
  expect(await archives(path).newestPlain()).toBeUndefined();
  put(path, '');
  await archives(path).rotate();
  await archives(path).tidy(NEVER);
  expect(suffixes(path)).toEqual(['.2', '.3.gz']);
  expect(lstatSync(`${path}.2`).ino).toBe(ino);
});

test('the newest is known as long as it is not compressed', async ({ path }) => {
  expect(await archives(path).newestPlain()).toBeUndefined();
  put(path, '.9', '.10');
  mkdirSync(`${path}.11`);
  expect(await archives(path).newestPlain()).toBe(`${path}.10`);
  put(path, '.12.gz');
  expect(await archives(path).newestPlain()).toBeUndefined();
});

test('those that are too many go, and the others are compressed, each with its mode', async ({ path }) => {
  put(path, '.8', '.9', '.10', '.11', '.8.gz.partial', '.7.gz');
  chmodSync(`${path}.11`, 0o644);
  await archives(path).tidy(NEVER);
  expect(suffixes(path)).toEqual(['.10.gz', '.11.gz']);
  expect(['.10.gz', '.11.gz'].map((suffix) => unpacked(path + suffix))).toEqual([
    'text of .10',
    'text of .11',
  ]);
  expect(['.10.gz', '.11.gz'].map((suffix) => modeOf(path + suffix))).toEqual([0o600, 0o644]);
});

test('what is compressed stays as it is, and one that a kill left beside it goes', async ({ path }) => {
  put(path, '.1.gz', '.2.gz', '.2', '.2.gz.partial');
  await archives(path).tidy(NEVER);
  expect(suffixes(path)).toEqual(['.1.gz', '.2.gz', '.2.gz.partial']);
  expect(readFileSync(`${path}.1.gz`, 'utf8')).toBe('text of .1.gz');
  expect(readFileSync(`${path}.2.gz`, 'utf8')).toBe('text of .2.gz');
});

test('a torn one is written anew', async ({ path }) => {
  put(path, '.1');
  writeFileSync(`${path}.1.gz.partial`, 'torn, and longer than what comes '.repeat(10));
  await archives(path).tidy(NEVER);
  expect(suffixes(path)).toEqual(['.1.gz']);
  expect(unpacked(`${path}.1.gz`)).toBe('text of .1');
});

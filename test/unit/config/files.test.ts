/** Files of the configuration that change while they are read, and afterwards. */
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readComplete, readText, watchFiles } from '../../../src/config/files.ts';
import { isAwaited, loadHeartConfig, loadHeartSlowly } from '../../../src/config/load-heart.ts';
import { loadConfig, loadConfigSlowly } from '../../../src/config/load.ts';
import { describeProblem, errorsIn } from '../../../src/config/problem.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const WHOLE = 'PILOTLIGHT_API_KEY=key\nPILOTLIGHT_BASE_URL=https://a\nPILOTLIGHT_DEPLOYMENTS=42,43';
const WORDS = 'changed just now, and the last line has no line end: it may still be being written';
const NOW = 10_000;
const PATH = '/etc/environment';

afterEach(() => void vi.useRealTimers());

/** A file in virtual time, changed at these moments. */
function fileOf(changes: readonly (readonly [atMs: number, text: string])[], isFile = true) {
  vi.useFakeTimers({ now: NOW });
  // A change in the future counts if it is the only one.
  const newest = () => changes.findLast(([at]) => at <= Date.now()) ?? changes.at(-1) ?? [0, ''];
  const stat = () => ({ isFile, mtimeMs: newest()[0], mode: 0 });
  const pause = (ms: number) => void vi.setSystemTime(Date.now() + ms);
  return {
    read: () =>
      readComplete(
        PATH,
        Object.assign(() => newest()[1], { stat }),
      ),
    readPatiently: () =>
      readComplete(
        PATH,
        Object.assign(() => newest()[1], { stat, pause }),
      ),
    waitedMs: () => Date.now() - NOW,
  };
}

test.each([
  ['cut in a line', WHOLE.slice(0, -1)],
  ['empty, as it is before its first line is written', ''],
  ['cut before the end of a line', WHOLE.slice(0, WHOLE.lastIndexOf('\n'))],
])('a file that is %s is read again before it is believed', (_, cut) => {
  const { read, readPatiently } = fileOf([
    [9_900, cut],
    [10_300, `${cut}P`],
    [11_200, `${WHOLE}\n`],
  ]);
  expect(read()).toBeUndefined();
  expect(readPatiently()).toBe(`${WHOLE}\n`);
});

test.each([
  ['a line end at its end', [[9_999, `${WHOLE}\n`]], true],
  ['a change that was a second ago', [[9_000, WHOLE]], true],
  ['a clock that was set back', [[3_600_000, WHOLE]], true],
  ['a pipe', [[9_999, WHOLE]], false],
] as const)('%s makes a file complete at once', (_, changes, isFile) => {
  const { read, waitedMs } = fileOf(changes, isFile);
  expect([read()?.trimEnd(), waitedMs()]).toEqual([WHOLE, 0]);
});

test('a file without that end is complete once it has not changed for a second', () => {
  const { readPatiently, waitedMs } = fileOf([[9_900, WHOLE]]);
  expect([readPatiently(), waitedMs()]).toEqual([WHOLE, 900]);
});

test('a file that goes on changing is not waited for without end', () => {
  const { readPatiently, waitedMs } = fileOf(
    Array.from({ length: 1_000 }, (_, index) => [9_950 + index * 100, 'A']),
  );
  expect(readPatiently()).toBeUndefined();
  expect(waitedMs()).toBeLessThan(6_000);
});

test('the heart does not wait, and tries again as for a file that is missing', () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'environment');
  writeFileSync(file, WHOLE);
  // A file's time is finer than the clock's.
  utimesSync(file, 1_000.0007, 1_000.0007);
  vi.useFakeTimers({ now: 1_000_000 });
  const { settings, problems } = loadHeartConfig({ PILOTLIGHT_ENV_FILE: file });
  expect([settings, isAwaited(problems)]).toEqual([undefined, true]);
  expect(loadConfig({ PILOTLIGHT_ENV_FILE: file }, readText).isBeingWritten).toBe(true);
  expect(problems.map((problem) => describeProblem(problem)).join('\n')).toContain(WORDS);
  utimesSync(file, 0, 0);
  expect(loadHeartConfig({ PILOTLIGHT_ENV_FILE: file }).settings?.deployments).toHaveLength(2);
});

test('files are read the same without blocking: one that names another, a large one, a folder', async () => {
  using folder = temporaryFolder();
  const [file, large] = [join(folder.path, 'environment'), join(folder.path, 'large')];
  const names = `PILOTLIGHT_METRICS_TOKEN_FILE=${large}\nPILOTLIGHT_API_KEY_FILE=${folder.path}\n`;
  writeFileSync(file, `PILOTLIGHT_BASE_URL=https://a\n${names}`, { mode: 0o644 });
  writeFileSync(large, 'x'.repeat(1024 * 1024 + 1));
  const env = { PILOTLIGHT_ENV_FILE: file };
  const [ofKey, ofToken] = errorsIn((await loadConfigSlowly(env)).problems);
  expect(ofKey).toMatch(/_API_KEY_FILE: .*it is a folder; Docker/);
  expect(ofToken).toContain('has 1048577 bytes; the limit is 1048576');
  expect(await loadHeartSlowly(env)).toEqual(loadHeartConfig(env));
});

test('secrets of the environment do not take the place of those in a file that cannot be read', () => {
  const { secrets } = loadConfig({
    PILOTLIGHT_ENV_FILE: '/nowhere',
    PILOTLIGHT_METRICS_TOKEN: 'of-yesterday',
  });
  expect(secrets).toEqual({});
});

const EVERY_MS = 20;

/** Resolves with how often it was called by the time that it has been called `times` times, and a few looks more. */
function watching(paths: readonly string[]) {
  let calls = 0;
  const end = watchFiles(paths, () => (calls += 1), EVERY_MS);
  return {
    async settled(times: number): Promise<number> {
      await expect.poll(() => calls).toBe(times);
      await new Promise((resolve) => setTimeout(resolve, 5 * EVERY_MS));
      return calls;
    },
    [Symbol.dispose]: end,
  };
}

test('tells once of what changed before the first look, and of nothing while nothing changes', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'key');
  writeFileSync(path, 'key-1');
  using watched = watching([path]);
  writeFileSync(path, 'key-2');
  expect(await watched.settled(1)).toBe(1);
});

test('tells of a file that is written, replaced, removed and there again', async () => {
  using folder = temporaryFolder();
  const [path, other] = [join(folder.path, 'key'), join(folder.path, 'token')];
  writeFileSync(path, 'key-1');
  using watched = watching([path, other, path]);
  await watched.settled(1);
  writeFileSync(path, 'key-2');
  expect(await watched.settled(2)).toBe(2);
  writeFileSync(other, 'token');
  expect(await watched.settled(3)).toBe(3);
  rmSync(path);
  expect(await watched.settled(4)).toBe(4);
  writeFileSync(path, 'key-2');
  expect(await watched.settled(5)).toBe(5);
});

test('tells of nothing once it is ended', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'key');
  const watched = watching([path]);
  watched[Symbol.dispose]();
  writeFileSync(path, 'key');
  expect(await watched.settled(0)).toBe(0);
});

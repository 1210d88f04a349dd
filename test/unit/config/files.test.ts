/** Files of the configuration that change while they are read, and afterwards. */
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readComplete, watchFiles } from '../../../src/config/files.ts';
import { isAwaited, loadHeartConfig, loadHeartSlowly } from '../../../src/config/load-heart.ts';
import { loadConfig, loadConfigSlowly } from '../../../src/config/load.ts';
import { describeProblem, errorsIn } from '../../../src/config/problem.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const WHOLE = 'PILOTLIGHT_API_KEY=key\nPILOTLIGHT_BASE_URL=https://a\nPILOTLIGHT_DEPLOYMENTS=42,43';
const WORDS = 'changed just now, and the last line has no line end: it may still be being written';
const NOW = 10_000;
const PATH = '/etc/environment';

afterEach(() => void vi.useRealTimers());

/** A file whose last change was `ageMs` ago, as a process that runs for long reads it. */
function read(text: string, ageMs: number, isFile = true): string | undefined {
  vi.useFakeTimers({ now: NOW });
  const stat = () => ({ isFile, mtimeMs: NOW - ageMs, mode: 0 });
  return readComplete(
    PATH,
    Object.assign(() => text, { stat, isWary: true }),
  );
}

test.each([
  ['cut in a line', WHOLE.slice(0, -1)],
  ['empty, as it is before its first line is written', ''],
  ['cut before the end of a line', WHOLE.slice(0, WHOLE.lastIndexOf('\n'))],
])('a file that is %s is not believed until it has not changed for a second', (_, cut) => {
  expect([read(cut, 0), read(cut, 999), read(cut, 1_000)]).toEqual([undefined, undefined, cut]);
});

test.each([
  ['a line end at its end', `${WHOLE}\n`, 1, true],
  ['a clock that was set back', WHOLE, -3_600_000, true],
  ['a pipe', WHOLE, 1, false],
])('%s makes a file complete at once', (_, text, ageMs, isFile) => {
  expect(read(text, ageMs, isFile)).toBe(text);
});

test('a long process tries again, as for a file that is missing; a command reads what is there', async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'environment');
  writeFileSync(file, WHOLE);
  // A file's time is finer than the clock's.
  utimesSync(file, 1_000.0007, 1_000.0007);
  vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] });
  const env = { PILOTLIGHT_ENV_FILE: file };
  const { settings, problems } = await loadHeartSlowly(env);
  expect([settings, isAwaited(problems)]).toEqual([undefined, true]);
  const loading = loadConfigSlowly(env);
  expect(problems.map((problem) => describeProblem(problem)).join('\n')).toContain(WORDS);
  expect(loadConfig(env).settings?.deployments).toHaveLength(2);
  utimesSync(file, 0, 0);
  expect((await loading).settings?.deployments).toHaveLength(2);
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

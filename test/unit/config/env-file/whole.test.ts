/** A file that is being written: what is there by now may be half of it, and be valid all the same. */
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readWhole } from '../../../../src/config/env-file/whole.ts';
import { isAwaited, loadHeartConfig } from '../../../../src/config/load-heart.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { describeProblem } from '../../../../src/config/problem.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const WHOLE = 'PILOTLIGHT_API_KEY=key\nPILOTLIGHT_BASE_URL=https://a\nPILOTLIGHT_DEPLOYMENTS=42,43';
const WORDS = 'it has just changed and its last line has no end: it may still be being written';

/** A file in virtual time, changed at these moments. */
function fileOf(changes: readonly (readonly [atMs: number, text: string])[], isFile = true) {
  let now = 10_000;
  // The last one counts even where it is of the future.
  const newest = () => changes.findLast(([at]) => at <= now) ?? changes.at(-1) ?? [0, ''];
  const stat = () => ({ isFile, mtimeMs: newest()[0], mode: 0 });
  const read = (mayWait: boolean): string =>
    readWhole(
      '/etc/environment',
      Object.assign(() => newest()[1], { stat }),
      mayWait,
      {
        now: () => now,
        pause: (ms) => void (now += ms),
      },
    );
  return { read, waitedMs: () => now - 10_000 };
}

test.each([
  ['cut in a line', WHOLE.slice(0, -1)],
  ['empty, as it is before its first line is written', ''],
  ['cut before the end of a line', WHOLE.slice(0, WHOLE.lastIndexOf('\n'))],
])('one that is %s is read again before it is believed', (_, cut) => {
  const { read } = fileOf([
    [9_900, cut],
    [10_300, `${cut}P`],
    [11_200, `${WHOLE}\n`],
  ]);
  expect(() => read(false)).toThrow(WORDS);
  expect(read(true)).toBe(`${WHOLE}\n`);
});

test.each([
  ['a line end that is there', [[9_999, `${WHOLE}\n`]], true],
  ['a change that was a second ago', [[9_000, WHOLE]], true],
  ['a clock that was set back', [[3_600_000, WHOLE]], true],
  ['a pipe', [[9_999, WHOLE]], false],
] as const)('%s makes it whole at once', (_, changes, isFile) => {
  const { read, waitedMs } = fileOf(changes, isFile);
  expect([read(false).trimEnd(), waitedMs()]).toEqual([WHOLE, 0]);
});

test('without that end it is whole once it has not changed for a second', () => {
  const { read, waitedMs } = fileOf([[9_900, WHOLE]]);
  expect([read(true), waitedMs()]).toEqual([WHOLE, 900]);
});

test('whoever goes on writing is not waited for without end', () => {
  const { read, waitedMs } = fileOf(Array.from({ length: 1_000 }, (_, index) => [9_950 + index * 100, 'A']));
  expect(() => read(true)).toThrow(WORDS);
  expect(waitedMs()).toBeLessThan(6_000);
});

test('the heart waits for nobody, and tries again as for a file that is missing', () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'environment');
  const { settings, problems } = loadHeartConfig({ PILOTLIGHT_ENV_FILE: file }, () => {
    writeFileSync(file, WHOLE);
    return WHOLE;
  });
  expect([settings, isAwaited(problems)]).toEqual([undefined, true]);
  expect(problems.map((problem) => describeProblem(problem)).join('\n')).toContain(WORDS);
  utimesSync(file, 0, 0);
  expect(loadHeartConfig({ PILOTLIGHT_ENV_FILE: file }).settings?.deployments).toHaveLength(2);
});

test('secrets of the environment do not take the place of those in a file that cannot be read', () => {
  const { secrets } = loadConfig({
    PILOTLIGHT_ENV_FILE: '/nowhere',
    PILOTLIGHT_METRICS_TOKEN: 'of-yesterday',
  });
  expect(secrets).toEqual({});
});

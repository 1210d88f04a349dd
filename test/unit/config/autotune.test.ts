import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { describeProblem } from '../../../src/config/problem.ts';

function load(env: Record<string, string>) {
  return loadConfig({
    PILOTLIGHT_API_KEY: 'key',
    PILOTLIGHT_BASE_URL: 'https://console.example.com',
    ...env,
  });
}

test('nothing is changed unless it is asked for, and then only what bounds name', () => {
  expect(load({}).settings).toMatchObject({ autotune: 'off', autotuneBounds: {} });
  const bounds = { chat: { target_util: [0.6, 0.9] } };
  const { settings, problems } = load({
    PILOTLIGHT_AUTOTUNE: 'apply',
    PILOTLIGHT_AUTOTUNE_BOUNDS: JSON.stringify(bounds),
  });
  expect(settings).toMatchObject({ autotune: 'apply', autotuneBounds: bounds });
  expect(problems).toEqual([]);
});

test('whatever is wrong with the bounds is said at once, and then nothing is changed at all', () => {
  const { settings, problems, off } = load({
    PILOTLIGHT_AUTOTUNE: 'apply',
    PILOTLIGHT_AUTOTUNE_BOUNDS:
      '{"chat":{"target_utli":[0.6,0.9],"target_util":[0,0.9],"cold_workers":[5,1]}}',
  });
  expect(problems.map((problem) => describeProblem(problem))).toEqual([
    expect.stringMatching(/AUTOTUNE_BOUNDS\.chat\.target_utli.*did you mean target_util\?/),
    expect.stringMatching(
      /AUTOTUNE_BOUNDS\.chat\.target_util\[0\]: got 0; allowed: a number above 0 and at most 1/,
    ),
    expect.stringMatching(/AUTOTUNE_BOUNDS\.chat\.cold_workers: got \[5,1\].*write \[1, 5\]/),
  ]);
  expect(off).toEqual(['autotune']);
  expect(settings).toMatchObject({ autotune: 'off', autotuneBounds: {} });
});

test('a word that is none of the two switches it off', () => {
  const { settings, problems } = load({ PILOTLIGHT_AUTOTUNE: 'on' });
  expect(problems).toHaveLength(1);
  expect(settings?.autotune).toBe('off');
});

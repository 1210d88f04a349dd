import { describe, expect, test } from 'vitest';
import { parseBounds } from '../../../../src/scaling/autotune/bounds.ts';

function problemsOf(value: unknown): string[] {
  const { bounds, problems } = parseBounds(JSON.stringify(value));
  expect(bounds === undefined).toBe(problems.length > 0);
  return problems.map(({ at, got, allowed, message }) => `${at}: ${got}; ${allowed}; ${message}`);
}

describe('bounds of steering', () => {
  test('are what a person wrote, by endpoint and parameter', () => {
    const written = { chat: { target_util: [0.6, 0.9], cold_workers: [0, 8] }, 'chat#2': {} };
    expect(parseBounds(JSON.stringify(written))).toEqual({ bounds: written, problems: [] });
  });

  test('one value alone may be allowed, which holds a parameter where it is', () => {
    expect(problemsOf({ chat: { min_load: [100, 100] } })).toEqual([]);
  });

  test('an unknown parameter is told with the nearest one that can be steered', () => {
    expect(problemsOf({ chat: { target_utli: [0.6, 0.9] } })).toEqual([
      '.chat.target_utli: [0.6,0.9]; target_util, cold_mult, cold_workers, min_load, min_cold_load; no parameter that can be steered; did you mean target_util?',
    ]);
    expect(problemsOf({ chat: { max_queue_time: [1, 2] } })[0]).toMatch(/no parameter that can be steered$/);
  });

  test('max_workers is never moved, and it says why', () => {
    expect(problemsOf({ chat: { max_workers: [1, 40] } })[0]).toMatch(/steering never raises it/);
  });

  test.each([
    ['target_util', [0, 0.9], '.chat.target_util[0]: 0; a number above 0 and at most 1'],
    ['target_util', [0.5, 1.01], '.chat.target_util[1]: 1.01; a number above 0 and at most 1'],
    ['cold_workers', [1, 2.5], '.chat.cold_workers[1]: 2.5; an integer of at least 0'],
    ['cold_workers', [-1, 2], '.chat.cold_workers[0]: -1; an integer of at least 0'],
    ['min_load', ['0', 2], '.chat.min_load[0]: "0"; a number of at least 0'],
    ['cold_mult', [null, 2], '.chat.cold_mult[0]: null; a number of at least 0'],
  ])('%s takes what the service would take: %j', (name, bound, problem) => {
    expect(problemsOf({ chat: { [name]: bound } })[0]).toContain(problem);
  });

  test('a number that is too large for any is told as what it is', () => {
    const { problems } = parseBounds('{"chat":{"min_load":[0,1e999]}}');
    expect(problems.map(({ at, got }) => [at, got])).toEqual([['.chat.min_load[1]', 'Infinity']]);
  });

  test.each([
    ['{"chat":{"min_load":[0,9]},"chat":{"min_load":[0,5]}}', '.chat'],
    ['{"chat":{"min_load":[0,9],"min_load":[0,5]}}', '.chat.min_load'],
  ])('nothing is written twice, of which one would not hold: %s', (text, place) => {
    const { bounds, problems } = parseBounds(text);
    expect([bounds, problems.map(({ at, message }) => [at, message])]).toEqual([
      undefined,
      [[place, 'only the last of them would hold']],
    ]);
  });

  test('the least stands first', () => {
    expect(problemsOf({ chat: { cold_workers: [8, 1] } })).toEqual([
      '.chat.cold_workers: [8,1]; the least first, then the most; write [1, 8]',
    ]);
  });

  test.each([[[0.5]], [[0.5, 0.6, 0.7]], [0.5], [{ min: 0.5, max: 0.9 }], [null]])(
    'a bound is two numbers, and not %j',
    (bound) => {
      expect(problemsOf({ chat: { target_util: bound } })).toEqual([
        `.chat.target_util: ${JSON.stringify(bound)}; [least, most]; such as [0.6, 0.9]`,
      ]);
    },
  );

  test('every problem is told at once', () => {
    const wrong = { chat: { target_util: [0, 2], cold: [1, 2] }, ' ': {}, code: 7 };
    const names = 'target_util, cold_mult, cold_workers, min_load, min_cold_load';
    expect(problemsOf(wrong)).toEqual([
      expect.stringMatching(/^\.chat\.target_util\[0\]: 0; a number above 0/),
      expect.stringMatching(/^\.chat\.target_util\[1\]: 2; a number above 0/),
      expect.stringMatching(/^\.chat\.cold: \[1,2\]; /),
      '. : " "; the label of an endpoint, as metrics have it; no endpoint is called so',
      `.code: 7; an object of parameters: ${names}; each parameter has [least, most]`,
    ]);
  });

  test.each(['', '[]', '7', 'null', '{"chat":'])('%j is no object of endpoints', (text) => {
    const { bounds, problems } = parseBounds(text);
    expect(bounds).toBeUndefined();
    expect(problems.map(({ at, got }) => [at, got])).toEqual([['', text]]);
    expect(problems[0]?.allowed).toMatch(/^a JSON object such as/);
  });
});

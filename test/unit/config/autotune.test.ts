import { describe, expect, test } from 'vitest';
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
    PILOTLIGHT_ENDPOINTS: 'chat',
    PILOTLIGHT_AUTOTUNE: 'apply',
    PILOTLIGHT_AUTOTUNE_BOUNDS: JSON.stringify(bounds),
    PILOTLIGHT_STATE_DIR: '/state',
  });
  expect(settings).toMatchObject({ autotune: 'apply', autotuneBounds: bounds });
  expect(problems).toEqual([]);
});

test('whatever is wrong with the bounds is said at once, and then nothing is changed at all', () => {
  const { settings, problems, off } = load({
    PILOTLIGHT_ENDPOINTS: 'chat',
    PILOTLIGHT_AUTOTUNE: 'apply',
    PILOTLIGHT_STATE_DIR: '/state',
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

test('asked for without bounds, or without an endpoint that is watched, it says that nothing is changed', () => {
  const said = (env: Record<string, string>) =>
    load({ PILOTLIGHT_AUTOTUNE: 'apply', PILOTLIGHT_STATE_DIR: '/state', ...env }).problems.map((problem) =>
      describeProblem(problem),
    );
  const watched = { PILOTLIGHT_ENDPOINTS: 'chat' };
  const bounds = { PILOTLIGHT_AUTOTUNE_BOUNDS: '{"chat":{"target_util":[0.6,0.9]}}' };
  expect(said({ ...watched, ...bounds })).toEqual([]);
  expect(said({ ...watched, ...bounds, PILOTLIGHT_FLEET_INTERVAL: '1m' })).toEqual([]);
  expect(said({ ...watched, ...bounds, PILOTLIGHT_FLEET_INTERVAL: '2m' })).toEqual([
    'warning: PILOTLIGHT_FLEET_INTERVAL: got 120s; allowed: 1m at most; PILOTLIGHT_AUTOTUNE is apply, but ' +
      'endpoints are not looked at each minute: nothing is changed',
  ]);
  expect(said(watched)).toEqual([
    expect.stringMatching(
      /^warning: PILOTLIGHT_AUTOTUNE_BOUNDS: is not set; .*no bounds say what may be changed/,
    ),
  ]);
  expect(said({ ...watched, PILOTLIGHT_AUTOTUNE_BOUNDS: '{"chat":{}}' })).toEqual([
    expect.stringMatching(
      /^warning: PILOTLIGHT_AUTOTUNE_BOUNDS\.chat: got {}; .*no parameter is named in it/,
    ),
  ]);
  expect(said(bounds)).toEqual([
    expect.stringMatching(/^warning: PILOTLIGHT_ENDPOINTS: .*no endpoint is watched/),
  ]);
  expect(load({ PILOTLIGHT_AUTOTUNE: 'apply' }).settings?.autotune).toBe('apply');
});

test('asked for with nowhere to keep what was changed, it says that nothing is changed', () => {
  const said = (env: Record<string, string>) =>
    load({
      PILOTLIGHT_ENDPOINTS: 'chat',
      PILOTLIGHT_AUTOTUNE: 'apply',
      PILOTLIGHT_AUTOTUNE_BOUNDS: '{"chat":{"target_util":[0.6,0.9]}}',
      ...env,
    }).problems.map((problem) => describeProblem(problem));
  expect(said({})).toEqual([
    'warning: PILOTLIGHT_STATE_DIR: is not set; allowed: path; PILOTLIGHT_AUTOTUNE is apply, but nothing that ' +
      'outlives the process keeps what was changed: nothing is changed (PILOTLIGHT_REDIS_URL does as well)',
  ]);
  expect(said({ PILOTLIGHT_AUTOTUNE: 'off' })).toEqual([]);
  expect(said({ PILOTLIGHT_STATE_DIR: '/state' })).toEqual([]);
  expect(said({ PILOTLIGHT_REDIS_URL: 'redis://redis' })).toEqual([]);
  // What is wrong with one of them is told as such.
  expect(said({ PILOTLIGHT_REDIS_URL: 'redis' })).toEqual([expect.stringMatching(/REDIS_URL: got/)]);
});

describe('bounds of an endpoint that nobody watches', () => {
  const said = (endpoints: string, ...labels: readonly string[]) =>
    load({
      PILOTLIGHT_AUTOTUNE: 'apply',
      PILOTLIGHT_STATE_DIR: '/state',
      PILOTLIGHT_ENDPOINTS: endpoints,
      PILOTLIGHT_AUTOTUNE_BOUNDS: JSON.stringify(
        Object.fromEntries(labels.map((label) => [label, { target_util: [0.3, 0.9] }])),
      ),
    }).problems.map((problem) => describeProblem(problem));

  test('are told, with the name that may be meant', () => {
    expect(said('chat,draw', 'Chat')).toEqual([
      'warning: PILOTLIGHT_AUTOTUNE_BOUNDS.Chat: got {"target_util":[0.3,0.9]}; allowed: an endpoint that ' +
        'PILOTLIGHT_ENDPOINTS names: chat, draw; it is not watched: nothing of it is changed; did you mean chat?',
    ]);
    for (const label of ['chat#', 'chat#2b', 'chat#2#3'])
      expect(said('chat', label)).toEqual([
        expect.stringMatching(/it is not watched: nothing of it is changed/),
      ]);
    expect(said('chat', 'chat', 'else')).toEqual([expect.stringMatching(/BOUNDS\.else: .*is changed$/)]);
  });

  test('are told in a line that fits a terminal, however long the names are', () => {
    const [words = ''] = said('c'.repeat(20_000), 'chat');
    expect(words).toMatch(/: c+… \(20\d\d\d characters\); it is not watched/);
    expect(words.length).toBeLessThan(1_500);
  });

  test.each([
    ['all', 'Chat'],
    ['draw,31', 'chat'],
    ['chat', 'chat#2'],
    ['chat', 'chat#12'],
  ])('are not known to be where %s is watched, and %s bounded', (endpoints, label) => {
    expect(said(endpoints, label)).toEqual([]);
  });
});

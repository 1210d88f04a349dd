/** Names with our prefix that nothing reads: a leftover of an earlier version, or a misspelt one. */
import { describe, expect, test } from 'vitest';
import { loadHeartConfig } from '../../../src/config/load-heart.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { describeProblem, inCheck } from '../../../src/config/problem.ts';
import { prefixed } from '../../support/settings.ts';

/** Without the prefix. */
const COMPLETE = { API_KEY: 'a-key', BASE_URL: 'https://service.example', DEPLOYMENTS: '42' };

/** `env` without the prefix; a file has the text `42`. */
function load(env: Readonly<Record<string, string>>) {
  const environment = prefixed(env);
  const readFile = () => '42';
  const all = loadConfig(environment, readFile);
  return {
    ...all,
    words: all.problems.map((problem) => describeProblem(problem)),
    heart: loadHeartConfig(environment, readFile),
  };
}

function manyUnknown(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`NOTHING_LIKE_IT_${index}`, '1']));
}

describe('an unknown name', () => {
  test('is a warning with the nearest known name, and ends nothing', () => {
    const { settings, words, heart, daemonProblems, off } = load({ ...COMPLETE, LOG_LEVLE: 'debug' });
    expect(words).toEqual([
      'warning: PILOTLIGHT_LOG_LEVLE: got a value; allowed: a known variable: see pilotlight run --help; ' +
        'no such variable; did you mean PILOTLIGHT_LOG_LEVEL?',
    ]);
    expect(settings?.deployments).toMatchObject([{ id: 42 }]);
    expect(heart).toMatchObject({ settings: { logLevel: 'info' }, problems: [] });
    expect([daemonProblems.map(inCheck), off]).toMatchObject([[{ severity: 'error' }], []]);
  });

  test('that is close to none is said to be unknown, and does not show its value', () => {
    const { words } = load({ ...COMPLETE, SOMETHING_ELSE_ENTIRELY: 's3cret' });
    expect(words).toEqual([expect.stringMatching(/; no such variable$/)]);
    expect(words.join()).not.toContain('s3cret');
  });

  test('does not hide that the file of a secret is waited for', () => {
    const env = { PILOTLIGHT_API_KEY_FILE: '/not/there', PILOTLIGHT_BASE_URL: 'https://service.example' };
    expect(loadHeartConfig({ ...env, PILOTLIGHT_LOG_LEVLE: 'debug' }).settings).toMatchObject({ apiKey: '' });
  });
});

describe('an unknown name that is close to one without which nothing is kept alive', () => {
  const { API_KEY, BASE_URL, DEPLOYMENTS } = COMPLETE;
  test.each<[name: string, nearest: string, missing: string, rest: Record<string, string>]>([
    ['DEPLOYMENT', 'DEPLOYMENTS', 'DEPLOYMENTS', { API_KEY, BASE_URL }],
    ['DEPLOYMENTS_FLIE', 'DEPLOYMENTS_FILE', 'DEPLOYMENTS', { API_KEY, BASE_URL }],
    ['DEPLOYMENT', 'DEPLOYMENTS', 'DEPLOYMENTS', { API_KEY, BASE_URL, DEPLOYMENTS: '' }],
    ['APIKEY', 'API_KEY', 'API_KEY', { BASE_URL, DEPLOYMENTS }],
    ['API_KEYFILE', 'API_KEY_FILE', 'API_KEY', { BASE_URL, DEPLOYMENTS }],
    ['BASE_ULR', 'BASE_URL', 'BASE_URL', { API_KEY, DEPLOYMENTS }],
    ['DEPLOYMENT', 'DEPLOYMENTS', 'DEPLOYMENTS', { API_KEY, BASE_URL, DEPLOYMENTS: ' ' }],
    // Another one is closer, but it is no slip in that one's name.
    ['DEPLOYMENT_NAME', 'DEPLOYMENTS', 'DEPLOYMENTS', { API_KEY, BASE_URL }],
    ['DEPLOYMENT', 'DEPLOYMENTS', 'DEPLOYMENTS', { ...manyUnknown(60), API_KEY, BASE_URL }],
  ])('ends the start while that one is not set: %s', (name, nearest, missing, rest) => {
    const { settings, words, heart } = load({ ...rest, [name]: 'x' });
    expect([settings, heart.settings]).toEqual([undefined, undefined]);
    expect(words).toContainEqual(
      `error: PILOTLIGHT_${name}: got a value; allowed: a known variable: see pilotlight run --help; ` +
        `no such variable; did you mean PILOTLIGHT_${nearest}? PILOTLIGHT_${missing} is not set, ` +
        'and nothing is kept alive without it',
    );
  });

  test.each<[name: string, rest: Record<string, string>]>([
    ['DEPLOYMENT', COMPLETE],
    ['DEPLOYMENTS_FLIE', COMPLETE],
    ['DEPLOYMENT', { API_KEY, BASE_URL, DEPLOYMENTS_FILE: '/run/deployments' }],
    ['DEPLOYMENTS_FLIE', { API_KEY, BASE_URL, DEPLOYMENTS_FILE: '/run/deployments' }],
    ['APIKEY', { API_KEY_FILE: '/run/key', BASE_URL, DEPLOYMENTS }],
    // Closer to another one.
    ['DEPLOYMENT_TLL', { API_KEY, BASE_URL }],
    ['ENDPOINT', { API_KEY, BASE_URL }],
  ])('is a warning while that one is set, or another one is closer: %s, %j', (name, rest) => {
    const { settings, words } = load({ ...rest, [name]: 'x' });
    expect(settings).toBeDefined();
    expect(words).toEqual([expect.stringMatching(`^warning: PILOTLIGHT_${name}: .*did you mean`)]);
  });
});

test('names of others are not ours, and those that Kubernetes made are ignored', () => {
  const links = {
    SERVICE_HOST: '10.0.0.1',
    SERVICE_PORT: '9847',
    SERVICE_PORT_METRICS: '9847',
    PORT: 'tcp://10.0.0.1:80',
    PORT_9847_TCP: 'tcp://10.0.0.1:9847',
    PORT_9847_TCP_ADDR: '10.0.0.1',
  };
  const { heart } = load({ ...COMPLETE, ...links, OTHER_PORT: '80' });
  expect(heart.ignoredNames).toEqual(Object.keys(links).map((name) => `PILOTLIGHT_${name}`));
  // The prefix alone does not make it similar to API_KEY.
  expect(heart.tolerated).toMatchObject([{ variable: 'PILOTLIGHT_OTHER_PORT', message: 'no such variable' }]);
  const others = { PATH: '/bin', MY_PILOTLIGHT_: '1', PILOTLIGHT_EMPTY_NAME: '' };
  const { ignoredNames, tolerated } = loadHeartConfig(others);
  expect([ignoredNames, tolerated]).toEqual([[], []]);
});

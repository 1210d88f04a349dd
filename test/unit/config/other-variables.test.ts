import { describe, expect, test } from 'vitest';
import type { ReadFile } from '../../../src/config/files.ts';
import { loadHeartConfig } from '../../../src/config/load-heart.ts';
import {
  daemonEnvironment,
  environmentOfOthers,
  serviceManagerSettings,
} from '../../../src/config/other-variables.ts';
import { describeProblem } from '../../../src/config/problem.ts';

function problemsOf(environment: Record<string, string>, readFile: ReadFile) {
  const minimal = { PILOTLIGHT_API_KEY: 'a-key', PILOTLIGHT_BASE_URL: 'https://service.example' };
  return loadHeartConfig({ ...minimal, ...environment }, readFile).problems;
}

describe('the way to the service', () => {
  const certificate = () => 'x\n-----BEGIN CERTIFICATE-----\n';

  test('may go through a proxy of three kinds', () => {
    for (const proxy of ['http://p:1', 'https://p:1', 'socks5://p:1', ''])
      expect(problemsOf({ HTTPS_PROXY: proxy }, certificate)).toEqual([]);
    expect(problemsOf({ http_proxy: 'ftp://p' }, certificate)).toEqual([
      expect.objectContaining({ severity: 'error', variable: 'http_proxy', got: 'ftp://p' }),
    ]);
    expect(problemsOf({ HTTP_PROXY: 'user:secret@p' }, certificate)).toEqual([
      expect.objectContaining({ severity: 'error', got: 'an address with a user in it' }),
    ]);
  });

  test('is warned of where a file of certificates has none, or is not there', () => {
    const environment = { NODE_EXTRA_CA_CERTS: '/ca.pem' };
    expect(problemsOf(environment, certificate)).toEqual([]);
    expect(problemsOf(environment, () => 'x')).toEqual([
      expect.objectContaining({ severity: 'warning', message: 'there is no certificate in it' }),
    ]);
    const missing = () => {
      throw new Error('no such file');
    };
    expect(problemsOf(environment, missing)).toEqual([
      expect.objectContaining({ severity: 'warning', got: '/ca.pem', message: 'no such file' }),
    ]);
    expect(problemsOf({ NODE_EXTRA_CA_CERTS: '' }, missing)).toEqual([]);
  });

  test('what others understand and this program ignores is said', () => {
    const said = problemsOf(
      { ALL_PROXY: 'socks5://p:1', no_proxy: 'a.example, *.b.example,10.0.0.0/8 127.0.0.*' },
      () => '',
    ).map((problem) => describeProblem(problem));
    expect(said).toEqual([
      'warning: ALL_PROXY: got a value; allowed: HTTPS_PROXY or HTTP_PROXY; this variable is not read',
      expect.stringMatching(/^warning: no_proxy: got 10\.0\.0\.0\/8; .*this entry matches nothing$/),
      expect.stringMatching(/^warning: no_proxy: got 127\.0\.0\.\*; /),
    ]);
  });
});

describe('what systemd says', () => {
  const NOTIFY_SOCKET = '/run/notify';

  test('is nothing without a socket', () => {
    expect(serviceManagerSettings({}, 7)).toBeUndefined();
    expect(serviceManagerSettings({ NOTIFY_SOCKET: '', WATCHDOG_USEC: '20000000' }, 7)).toBeUndefined();
  });

  test.each([
    [{}, undefined],
    [{ WATCHDOG_USEC: '20000000' }, 10_000],
    [{ WATCHDOG_USEC: '20000000', WATCHDOG_PID: '' }, 10_000],
    [{ WATCHDOG_USEC: '20000000', WATCHDOG_PID: '7' }, 10_000],
    [{ WATCHDOG_USEC: '20000000', WATCHDOG_PID: '8' }, undefined],
    [{ WATCHDOG_USEC: '0' }, undefined],
    [{ WATCHDOG_USEC: 'soon' }, undefined],
  ])('of a watchdog in %j: every %s ms', (environment, watchdogMs) => {
    expect(serviceManagerSettings({ NOTIFY_SOCKET, ...environment }, 7)).toEqual({ watchdogMs });
  });
});

test("the daemon has the heart's environment, and where that bounds what malloc keeps, a bound of its own", () => {
  const environment = { PATH: '/bin', MALLOC_ARENA_MAX: '1' };
  expect(daemonEnvironment(environment)).toBe(environment);
  expect(daemonEnvironment({ ...environment, MALLOC_MMAP_THRESHOLD_: '32768' })).toEqual({
    ...environment,
    MALLOC_MMAP_THRESHOLD_: '131072',
  });
});

test('a child process that is configured otherwise gets none of our variables', () => {
  const environment = { PATH: '/bin', MY_PILOTLIGHT_: '1', PILOTLIGHT_API_KEY: 'a-key' };
  expect(environmentOfOthers(environment)).toEqual({ PATH: '/bin', MY_PILOTLIGHT_: '1' });
});

/** Types of values and small questions about the environment, at their edges. */
import { describe, expect, test } from 'vitest';
import { EXIT, exitCodeOfSignal, exitCodesText } from '../../../src/config/exit-codes.ts';
import { localAdminUrl, localDaemonUrl, localToken } from '../../../src/config/local-daemon.ts';
import { networkProblems, plainHttpProblems } from '../../../src/config/network.ts';
import { environmentOfOthers, foreignNames, partnerOf } from '../../../src/config/options/names.ts';
import { configError, describeProblem } from '../../../src/config/problem.ts';
import { serviceManagerSettings } from '../../../src/config/service-manager.ts';
import { endpointList } from '../../../src/config/types/endpoint-list.ts';
import { groupList } from '../../../src/config/types/group-list.ts';
import { redisPrefix, redisUrl } from '../../../src/config/types/redis.ts';
import {
  amount,
  boolean,
  byteSize,
  count,
  duration,
  durationOrAuto,
  id,
  idList,
  listenAddress,
  oneOf,
  path,
  url,
  withoutCredentials,
  type ValueType,
} from '../../../src/config/types/value-types.ts';

test('exit codes are what scripts rely on', () => {
  expect(EXIT).toEqual({
    ok: 0,
    failed: 1,
    usage: 2,
    unreachable: 3,
    unauthorized: 4,
    interrupted: 130,
  });
  expect(['SIGINT', 'SIGKILL', 'SIGTERM'].map((name) => exitCodeOfSignal(name as NodeJS.Signals))).toEqual([
    130, 137, 143,
  ]);
  const text = exitCodesText().split('\n');
  expect(text[0]).toBe('Exit codes:');
  expect(text[3]).toBe('  2  wrong usage, input or configuration; nothing was sent');
  expect(text).toHaveLength(7);
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

describe('where a daemon listens', () => {
  test.each([
    [undefined, 'http://127.0.0.1:9847'],
    ['0.0.0.0:80', 'http://127.0.0.1:80'],
    ['[::]:80', 'http://127.0.0.1:80'],
    ['[::1]:80', 'http://[::1]:80'],
    ['10.0.0.1:80', 'http://10.0.0.1:80'],
    ['nonsense', 'http://127.0.0.1:9847'],
  ])('%s: %s', (listen, address) => {
    expect(localDaemonUrl(listen === undefined ? {} : { PILOTLIGHT_LISTEN: listen })).toBe(address);
  });

  test('and takes admin requests', () => {
    expect(localAdminUrl({ PILOTLIGHT_ADMIN_LISTEN: 'unix:/run/a.sock' })).toEqual({
      url: 'unix:/run/a.sock',
    });
    expect(localAdminUrl({ PILOTLIGHT_ADMIN_LISTEN: 'localhost:81' })).toEqual({
      url: 'http://localhost:81',
    });
    expect(localAdminUrl({ PILOTLIGHT_ADMIN_LISTEN: 'nonsense' })).toEqual({
      problem: expect.stringMatching(/^PILOTLIGHT_ADMIN_LISTEN: got nonsense; allowed: \w/),
    });
  });

  test('and which token it wants', () => {
    expect(localToken({ PILOTLIGHT_METRICS_TOKEN: 't' })).toBe('t');
    expect(localToken({})).toBeUndefined();
  });
});

describe('the way to the service', () => {
  const certificate = () => 'x\n-----BEGIN CERTIFICATE-----\n';

  test('may go through a proxy of three kinds', () => {
    for (const proxy of ['http://p:1', 'https://p:1', 'socks5://p:1', ''])
      expect(networkProblems({ HTTPS_PROXY: proxy }, certificate)).toEqual([]);
    expect(networkProblems({ http_proxy: 'ftp://p' }, certificate)).toEqual([
      expect.objectContaining({ severity: 'error', variable: 'http_proxy', got: 'ftp://p' }),
    ]);
    expect(networkProblems({ HTTP_PROXY: 'user:secret@p' }, certificate)).toEqual([
      expect.objectContaining({ severity: 'error', got: 'an address with a user in it' }),
    ]);
  });

  test('is warned of where a file of certificates has none, or is not there', () => {
    const environment = { NODE_EXTRA_CA_CERTS: '/ca.pem' };
    expect(networkProblems(environment, certificate)).toEqual([]);
    expect(networkProblems(environment, () => 'x')).toEqual([
      expect.objectContaining({ severity: 'warning', message: 'there is no certificate in it' }),
    ]);
    const missing = () => {
      throw new Error('no such file');
    };
    expect(networkProblems(environment, missing)).toEqual([
      expect.objectContaining({ severity: 'warning', got: '/ca.pem', message: 'no such file' }),
    ]);
    expect(networkProblems({ NODE_EXTRA_CA_CERTS: '' }, missing)).toEqual([]);
  });

  test('what others understand and this program ignores is said', () => {
    const said = networkProblems(
      { ALL_PROXY: 'socks5://p:1', no_proxy: 'a.example, *.b.example,10.0.0.0/8 127.0.0.*' },
      () => '',
    ).map((problem) => describeProblem(problem));
    expect(said).toEqual([
      'warning: ALL_PROXY: got a value; allowed: HTTPS_PROXY or HTTP_PROXY; it is not read',
      expect.stringMatching(/^warning: no_proxy: got 10\.0\.0\.0\/8; .*it matches nothing$/),
      expect.stringMatching(/^warning: no_proxy: got 127\.0\.0\.\*; /),
    ]);
  });

  test('is encrypted, but on this machine', () => {
    for (const address of [
      'https://a',
      'http://localhost',
      'http://a.localhost',
      'http://127.1.2.3',
      undefined,
    ])
      expect(plainHttpProblems('BASE_URL', address, 'the key')).toEqual([]);
    for (const address of ['http://a', 'http://localhost.a', 'http://1.127.0.0', 'http://[::2]'])
      expect(plainHttpProblems('BASE_URL', address, 'the key')).toEqual([
        {
          severity: 'warning',
          variable: 'PILOTLIGHT_BASE_URL',
          got: address,
          allowed: 'https://…',
          message: 'the key leaves this machine unencrypted',
        },
      ]);
  });
});

test.each([
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), `${'x'.repeat(200)}… (201 characters)`],
  ['a "word"\u001B[31m\nmore', 'a "word"\\u001b[31m\\nmore'],
])('of a value %j a line shows %s', (got, shown) => {
  expect(describeProblem(configError('NAME', got, 'a word', ''))).toBe(
    `error: NAME: got ${shown}; allowed: a word`,
  );
});

test('a file of a variable and the variable know each other', () => {
  expect(partnerOf('PILOTLIGHT_API_KEY')).toBe('PILOTLIGHT_API_KEY_FILE');
  expect(partnerOf('PILOTLIGHT_API_KEY_FILE')).toBe('PILOTLIGHT_API_KEY');
  expect(partnerOf('PILOTLIGHT_OTHER_FILE')).toBeUndefined();
});

test('names of others are not ours, those of Kubernetes are ignored', () => {
  const environment = {
    PATH: '/bin',
    MY_PILOTLIGHT_: '1',
    PILOTLIGHT_SERVICE_HOST: '10.0.0.1',
    PILOTLIGHT_PORT: 'tcp://10.0.0.1:80',
    PILOTLIGHT_OTHER_PORT: '80',
    PILOTLIGHT_EMPTY_NAME: '',
  };
  const { fatal, unknown, ignored } = foreignNames(environment);
  expect(ignored).toEqual(['PILOTLIGHT_SERVICE_HOST', 'PILOTLIGHT_PORT']);
  // The prefix makes it no likeness of API_KEY.
  expect(unknown).toMatchObject([{ variable: 'PILOTLIGHT_OTHER_PORT', message: 'no such variable' }]);
  expect(fatal).toEqual([]);
  expect(environmentOfOthers(environment)).toEqual({ PATH: '/bin', MY_PILOTLIGHT_: '1' });
});

describe('a value', () => {
  test.each<[type: ValueType<unknown>, text: string, value: unknown]>([
    [path, '/a', '/a'],
    [path, '', undefined],
    [url, 'http://a//', 'http://a'],
    [url, 'https://a/b/', 'https://a/b'],
    [url, 'ftp://a', undefined],
    [url, 'a', undefined],
    [url, 'http://u@a', undefined],
    [url, 'http://:p@a', undefined],
    [url, 'http://a?b', undefined],
    [url, 'http://a#b', undefined],
    [duration, '500ms', 500],
    [duration, '1.5s', 1_500],
    [duration, '2m', 120_000],
    [duration, '1h', 3_600_000],
    [duration, '0s', undefined],
    [duration, '1', undefined],
    [duration, 'x1s', undefined],
    [duration, '1sx', undefined],
    [duration, '99999999999999999h', undefined],
    [durationOrAuto, 'auto', 'auto'],
    [durationOrAuto, '1s', 1_000],
    [durationOrAuto, '0s', undefined],
    [durationOrAuto, 'never', undefined],
    [byteSize, '1', 1],
    [byteSize, '1B', 1],
    [byteSize, '0.5', undefined],
    [byteSize, '1.5KiB', 1_536],
    [byteSize, '2KB', 2_000],
    [byteSize, '1 KB', undefined],
    [count, '1', 1],
    [count, '0', undefined],
    [count, '1.0', undefined],
    [count, 'x1', undefined],
    [count, '1e3', undefined],
    [count, '9007199254740993', undefined],
    [amount, '0.5', 0.5],
    [amount, '12.50', 12.5],
    [amount, '0', undefined],
    [amount, '1.', undefined],
    [amount, '-1', undefined],
    [amount, '9'.repeat(400), undefined],
    [boolean, 'true', true],
    [boolean, 'false', false],
    [boolean, 'True', true],
    [boolean, '1', true],
    [boolean, 'OFF', false],
    [boolean, 'maybe', undefined],
    [oneOf('a', 'b'), 'b', 'b'],
    [oneOf('a', 'b'), 'B', 'b'],
    [oneOf('a', 'b'), 'c', undefined],
    [id, '0', 0],
    [id, '-1', undefined],
    [id, '1x', undefined],
    [id, '9007199254740993', undefined],
    [idList, ' 1, 2 ', [1, 2]],
    [idList, '  ', []],
    [idList, '1,,2', undefined],
    [idList, '1,2,1', undefined],
    [listenAddress, 'localhost:0', { host: 'localhost', port: 0 }],
    [listenAddress, 'a.b-c:65535', { host: 'a.b-c', port: 65_535 }],
    [listenAddress, 'a:65536', undefined],
    [listenAddress, '[a b]:1', undefined],
    [listenAddress, 'a b:1', undefined],
    [listenAddress, ':1', { host: '0.0.0.0', port: 1 }],
    [listenAddress, '1', undefined],
    [redisUrl, 'redis://r:6379/0', 'redis://r:6379/0'],
    [redisUrl, 'rediss://r', 'rediss://r'],
    [redisUrl, 'redis://r/a', undefined],
    [redisUrl, 'redis://%:p@r', undefined],
    [redisUrl, 'http://r', undefined],
    [redisUrl, 'r', undefined],
    [redisPrefix, 'a:b-c.d/e_', 'a:b-c.d/e_'],
    [redisPrefix, '{a}', undefined],
    [redisPrefix, 'a'.repeat(64), 'a'.repeat(64)],
    [redisPrefix, 'a'.repeat(65), undefined],
    [endpointList, 'all', [{ by: 'all' }]],
    [
      endpointList,
      '31,chat',
      [
        { by: 'id', id: 31 },
        { by: 'name', name: 'chat' },
      ],
    ],
    [endpointList, '31,31', undefined],
    [endpointList, 'chat,', undefined],
    [groupList, 'all', [{ by: 'all' }]],
    [groupList, '7', [{ by: 'id', id: 7 }]],
    [groupList, 'chat', undefined],
    [groupList, 'endpoint:', undefined],
    [groupList, '7,7', undefined],
  ])('%# is read, or refused', (type, text, value) => {
    const parsed = type.parse(text);
    expect(parsed.value).toEqual(value);
    // Who is refused is told what is allowed.
    expect(parsed.problems.map(({ allowed }) => allowed !== '')).toEqual(value === undefined ? [true] : []);
  });

  test('that is there twice is named', () => {
    expect(idList.parse('1,2,1').problems).toEqual([
      expect.objectContaining({ allowed: 'each one once', message: '1 is listed more than once' }),
    ]);
  });

  test('is shown without what may be a password', () => {
    expect(withoutCredentials('http://u:p@a/b?key=1')).toBe('http://…@a/b?…');
    expect(withoutCredentials('u:p@a#b\nc')).toBe('…@a?…');
    expect(withoutCredentials('http://a/b')).toBe('http://a/b');
  });
});

import { expect, test } from 'vitest';
import { jsonIn, pilotlight, type Ran } from '../../support/console.ts';

/** Of such a file. */
function check(content: string, ...flags: string[]): Promise<Ran> {
  return pilotlight(['check', 'groups.json', ...flags], { read: () => content });
}

test('check reads files of endpoint groups and nothing else, and says all that is wrong at once', async () => {
  const { code, stdout, stderr } = await check('[{"target_util":90},{"max_worker":3}]');
  expect(code).toBe(2);
  expect(stdout).toBe('2 errors, 0 warnings\n');
  expect(stderr).toContain(
    'error: groups.json[0].target_util: got 90; allowed: a number above 0 and at most 1;',
  );
  expect(stderr).toContain('did you mean max_workers?');
  expect(stderr).not.toContain('PILOTLIGHT_');
});

test('one object is a group too; warnings fail only when --strict, and JSON names the rule', async () => {
  const risky = '{"target_util":0.97,"min_load":91,"max_workers":10,"inactivity_timeout":60}';
  expect(await check(risky)).toMatchObject({ code: 0, stdout: 'configuration valid, 1 warning\n' });
  expect((await check(risky, '--strict')).code).toBe(1);
  const { code, stdout } = await check(risky, '--json', '--performance', '9', '--cold-start', '60s');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toContainEqual(
    expect.objectContaining({ rule: 'floor-above-capacity', severity: 'warning', got: '91' }),
  );
  expect(stdout).not.toContain('inactivity-shorter-than-start');
});

const ALIVE = { API_KEY: 'k', BASE_URL: 'http://127.0.0.1:1', DEPLOYMENTS: '42' };

test('a valid configuration that keeps nothing alive has a warning, as run has', async () => {
  const { code, stdout, stderr } = await pilotlight(['check'], { env: { ...ALIVE, DEPLOYMENTS: '' } });
  expect([code, stdout]).toEqual([0, 'configuration valid, 1 warning\n']);
  expect(stderr).toMatch(/^warning: PILOTLIGHT_DEPLOYMENTS: is not set; .*no deployment is kept alive\n$/);
  expect(await pilotlight(['check'], { env: ALIVE })).toMatchObject({ code: 0, stderr: '' });
});

test('without files it reads the environment that run reads; what is known of the workers lets more rules speak', async () => {
  const group = '{"min_load":91,"max_workers":10,"cold_workers":5,"inactivity_timeout":59}';
  const env = { ...ALIVE, ENDPOINT_GROUPS: `[${group}]` };
  const facts = ['--performance', '9', '--cold-start', '60s'];
  expect(await pilotlight(['check', '--strict'], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('0 warnings'),
  });
  const known = await pilotlight(['check', '--strict', ...facts], { env });
  expect(known).toMatchObject({ code: 1, stdout: 'configuration valid, 2 warnings\n' });
  expect(known.stderr).toContain('warning: PILOTLIGHT_ENDPOINT_GROUPS[0].min_load: got 91; allowed: ');
  const wrong = { env: { ...env, BASE_URL: 'x', TTL: '1' } };
  const { code, stdout } = await pilotlight(['check', '--performance', '9'], wrong);
  expect(code).toBe(2);
  expect(stdout).toBe('2 errors, 1 warning\n');
});

test('a name that nothing reads is an error, though run only warns', async () => {
  const env = { ...ALIVE, LOG_LEVLE: 'debug' };
  const { code, stdout, stderr } = await pilotlight(['check'], { env });
  expect([code, stdout]).toEqual([2, '1 error, 0 warnings\n']);
  expect(stderr).toMatch(/^error: PILOTLIGHT_LOG_LEVLE: .*did you mean PILOTLIGHT_LOG_LEVEL\?\n$/);
  const json = await pilotlight(['check', '--json'], { env });
  const allowed = 'a known variable: see pilotlight run --help';
  const message = 'no such variable; did you mean PILOTLIGHT_LOG_LEVEL?';
  const problem = { severity: 'error', variable: 'PILOTLIGHT_LOG_LEVLE', got: 'a value', allowed, message };
  expect([json.code, jsonIn(json)]).toEqual([2, [problem]]);
});

test('the defaults that were filled in are one line a group; advice is called advice; numbers are what they are', async () => {
  const { stderr } = await check('[{"target_util":0.97},{"min_load":1e999}]');
  expect(stderr).toContain('warning: groups.json[0].target_util: got 0.97; advised: at most 0.95; leaves');
  expect(stderr).toContain(
    'note: groups.json[0]: not given, so the defaults apply: min_load 0, min_cold_load 0, cold_mult 2.5,',
  );
  expect(stderr).toContain('error: groups.json[1].min_load: got Infinity; allowed: a number of at least 0;');
  expect(stderr.match(/defaults apply/g)).toHaveLength(1);
});

test('a file that is no JSON is an error of its own; standard input is a file too', async () => {
  const { stderr } = await pilotlight(['check', '-'], { stdin: '{"target_util":2}' });
  expect(stderr).toMatch(/^error: standard input\.target_util: got 2; /);
  expect(await check('{')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('groups.json: not JSON') as string,
  });
});

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../support/optional.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function checkEnvironment(env: Record<string, string>, ...flags: string[]) {
  return spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), 'check', ...flags], {
    encoding: 'utf8',
    env,
  });
}

function check(content: string, ...flags: string[]) {
  using folder = temporaryFolder();
  const path = join(folder.path, 'groups.json');
  writeFileSync(path, content);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'src/cli/main.ts'), 'check', path, ...flags],
    { encoding: 'utf8', env: {} },
  );
  return { status, stdout, stderr: stderr.replaceAll(path, 'groups.json') };
}

test('check reads files of endpoint groups and nothing else, and says all that is wrong at once', () => {
  const { status, stdout, stderr } = check('[{"target_util":90},{"max_worker":3}]');
  expect(status).toBe(2);
  expect(stdout).toBe('2 errors, 0 warnings\n');
  expect(stderr).toContain(
    'error: groups.json[0].target_util: got 90; allowed: a number above 0 and at most 1;',
  );
  expect(stderr).toContain('did you mean max_workers?');
  expect(stderr).not.toContain('PILOTLIGHT_');
});

test('one object is a group too; warnings fail only when --strict, and JSON names the rule', () => {
  const risky = '{"target_util":0.97,"min_load":91,"max_workers":10}';
  expect(check(risky)).toMatchObject({ status: 0, stdout: 'configuration valid, 1 warning\n' });
  expect(check(risky, '--strict').status).toBe(1);
  const { status, stdout } = check(risky, '--json', '--performance', '9', '--cold-start', '60s');
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toContainEqual(
    expect.objectContaining({ rule: 'floor-above-capacity', severity: 'warning', got: '91' }),
  );
});

test.each([
  ['59', 1],
  ['60', 0],
])('--cold-start is a time: an inactivity_timeout of %s s against 60s', (timeout, warnings) => {
  const group = `{"min_load":9,"max_workers":10,"cold_workers":5,"inactivity_timeout":${timeout}}`;
  const { stdout } = check(group, '--json', '--cold-start', '60s');
  const rules = (JSON.parse(stdout) as { rule: string }[]).map(({ rule }) => rule);
  expect(rules.filter((rule) => rule === 'inactivity-shorter-than-start')).toHaveLength(warnings);
});

test('without files it reads the environment that run reads; what is known of the workers lets more rules speak', () => {
  const group = '{"min_load":91,"max_workers":10,"cold_workers":5,"inactivity_timeout":10}';
  const env = {
    PILOTLIGHT_API_KEY: 'k',
    PILOTLIGHT_BASE_URL: 'http://127.0.0.1:1',
    PILOTLIGHT_ENDPOINT_GROUPS: `[${group}]`,
  };
  expect(checkEnvironment(env, '--strict')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('0 warnings'),
  });
  const known = checkEnvironment(env, '--strict', '--performance', '9', '--cold-start', '60s');
  expect(known).toMatchObject({ status: 1, stdout: 'configuration valid, 2 warnings\n' });
  expect(known.stderr).toContain('warning: PILOTLIGHT_ENDPOINT_GROUPS[0].min_load: got 91; allowed: ');
  const { status, stdout } = checkEnvironment(
    { ...env, PILOTLIGHT_BASE_URL: 'x', PILOTLIGHT_TTL: '1' },
    '--performance',
    '9',
  );
  expect(status).toBe(2);
  expect(stdout).toBe('2 errors, 1 warning\n');
});

test('the defaults that were filled in are one line a group; advice is called advice; numbers are what they are', () => {
  const { stderr } = check('[{"target_util":0.97},{"min_load":1e999}]');
  expect(stderr).toContain('warning: groups.json[0].target_util: got 0.97; advised: at most 0.95; leaves');
  expect(stderr).toContain(
    'note: groups.json[0]: not given, so the defaults apply: min_load 0, min_cold_load 0, cold_mult 2.5,',
  );
  expect(stderr).toContain('error: groups.json[1].min_load: got Infinity; allowed: a number of at least 0;');
  expect(stderr.match(/defaults apply/g)).toHaveLength(1);
});

test('a file that is no JSON is an error of its own', () => {
  expect(check('{')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('groups.json: not JSON') as string,
  });
});

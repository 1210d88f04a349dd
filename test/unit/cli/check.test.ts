import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../support/optional.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

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
  expect(check(risky)).toMatchObject({ status: 0, stdout: 'configuration valid, 1 warnings\n' });
  expect(check(risky, '--strict').status).toBe(1);
  const { status, stdout } = check(risky, '--json', '--performance', '9', '--cold-start', '60s');
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toContainEqual(
    expect.objectContaining({ rule: 'floor-above-capacity', severity: 'warning', got: '91' }),
  );
});

test('a file that is no JSON is an error of its own', () => {
  expect(check('{')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('groups.json: not JSON') as string,
  });
});

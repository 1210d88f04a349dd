import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../support/optional.ts';
import { readWorkflow, stepsOf, WORKFLOW_FILES, workflowText } from '../../support/workflows.ts';

const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

describe.each(WORKFLOW_FILES)('%s', (file) => {
  const text = workflowText(file);
  const workflow = readWorkflow(basename(file, '.yml'));
  const steps = stepsOf(workflow);

  test('needs no secret, and may only read unless one of its jobs says more', () => {
    expect(text).not.toContain('secrets.');
    expect(workflow.permissions).toEqual({ contents: 'read' });
  });

  test('ends every job of its own after a while', () => {
    const own = Object.values(workflow.jobs).filter(({ uses }) => uses === undefined);
    expect(own.map((job) => job['timeout-minutes'])).not.toContain(undefined);
  });

  test('has steps that either run something or use an action of a given commit', () => {
    for (const { uses, run } of steps) expect([uses, run].filter((one) => one !== undefined)).toHaveLength(1);
    const used = [...text.matchAll(/^ +(?:- )?uses: (.*)$/gm)].map(([, action = '']) => action);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used)
      expect(action).toMatch(
        /^(?:\.\/\.github\/workflows\/\w+\.yml|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/,
      );
  });

  test('leaves no credentials in the checkout', () => {
    for (const { uses = '', with: options } of steps)
      if (uses.startsWith('actions/checkout@'))
        expect(options).toMatchObject({ 'persist-credentials': false });
  });

  test('puts no expression into a script, where its value would be taken for code', () => {
    expect(steps.filter(({ run = '' }) => run.includes('${{'))).toEqual([]);
  });

  test('runs scripts and files that are there', () => {
    const runs = steps.map(({ run = '' }) => run).join('\n');
    const named = [...runs.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)].map(([, name = '']) => name);
    for (const name of [...named, ...(/\bnpm test\b/.test(runs) ? ['test'] : [])])
      expect(scripts).toHaveProperty([name]);
    for (const [path] of runs.matchAll(/(?<![\w/$])(?:\.ci|\.github|deploy|test)\/[\w./-]+/g))
      expect([path, existsSync(root + path)]).toEqual([path, true]);
  });
});

test('an action is of one commit in all workflows', () => {
  const all = WORKFLOW_FILES.flatMap((file) => stepsOf(readWorkflow(basename(file, '.yml'))));
  const pins = new Set(all.flatMap(({ uses }) => (uses === undefined ? [] : [uses])));
  const names = [...pins].map((pin) => pin.split('@')[0]);
  expect(names).toEqual([...new Set(names)]);
});

test('each push to main and each pull request passes the gate', () => {
  const { on, jobs } = readWorkflow('gate');
  expect(on).toMatchObject({ push: { branches: ['main'] }, pull_request: null });
  const gate = jobs['gate']?.steps?.findLast(({ run }) => run !== undefined)?.run ?? '';
  expect(gate).toBe('.ci/run');
  accessSync(root + gate, constants.X_OK);
});

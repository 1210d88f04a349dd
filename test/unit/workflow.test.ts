import { accessSync, constants, globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../support/optional.ts';

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

describe.each(globSync('.github/workflows/*.yml', { cwd: root }))('%s', (file) => {
  const text = readFileSync(root + file, 'utf8');
  const workflow = parse(text, { strict: true, uniqueKeys: true }) as Workflow;
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  test('needs no secret, and may only read', () => {
    expect(text).not.toContain('secrets.');
    expect(workflow.permissions).toEqual({ contents: 'read' });
  });

  test('has steps that either run something or use an action of a given version', () => {
    for (const { uses, run } of steps) {
      expect([uses, run].filter((one) => one !== undefined)).toHaveLength(1);
      if (uses !== undefined) expect(uses).toMatch(/^actions\/[a-z-]+@v\d+$/);
    }
  });
});

test('each push to main and each pull request passes the gate', () => {
  const { on, jobs } = parse(readFileSync(`${root}.github/workflows/gate.yml`, 'utf8')) as Workflow;
  expect(on).toMatchObject({ push: { branches: ['main'] }, pull_request: null });
  const gate = jobs['gate']?.steps.findLast(({ run }) => run !== undefined)?.run ?? '';
  expect(gate).toBe('.ci/run');
  accessSync(root + gate, constants.X_OK);
});

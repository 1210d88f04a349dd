/** The workflows of .github, as this repository writes them. */
import { globSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { root } from './optional.ts';

export interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Job {
  readonly uses?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly strategy?: { readonly matrix: { readonly include: readonly unknown[] } };
  readonly steps?: readonly Step[];
}

export interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

export const WORKFLOW_FILES: readonly string[] = globSync('.github/workflows/*.yml', { cwd: root });

export function workflowText(file: string): string {
  return readFileSync(root + file, 'utf8');
}

export function readWorkflow(name: string): Workflow {
  const text = workflowText(`.github/workflows/${name}.yml`);
  return parse(text, { strict: true, uniqueKeys: true }) as Workflow;
}

export function stepsOf({ jobs }: Workflow): readonly Step[] {
  return Object.values(jobs).flatMap(({ steps = [] }) => steps);
}

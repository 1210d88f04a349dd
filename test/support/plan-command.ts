/** `pilotlight plan` in this process: flags as on the command line, the outcome as --json prints it. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addPlanFlags, type PlanFlags } from '../../src/cli/plan/flags.ts';
import type { PlanReport } from '../../src/cli/plan/plan-report.ts';
import { runPlan } from '../../src/cli/plan/run-plan.ts';

export async function planCommandLine(...flags: string[]): Promise<PlanReport> {
  const command = addPlanFlags(
    new Command('plan').exitOverride().configureOutput({ writeErr: () => undefined }),
  );
  const around = {
    environment: undefined,
    read: (path: string) => readFileSync(path, 'utf8'),
    err: () => undefined,
    errColumns: undefined,
    interruptible: <T>(work: (signal: AbortSignal) => Promise<T>) => work(new AbortController().signal),
  };
  return runPlan(command.parse(flags, { from: 'user' }).opts<PlanFlags>(), around);
}

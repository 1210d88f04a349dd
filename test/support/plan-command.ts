/** `pilotlight plan` in this process: flags as on the command line, the outcome as --json prints it. */
import { Command } from 'commander';
import { readText } from '../../src/cli/console.ts';
import { addPlanFlags, type PlanFlags } from '../../src/cli/plan/flags.ts';
import { runPlan, type PlanReport } from '../../src/cli/plan/run-plan.ts';

export async function planCommandLine(...flags: string[]): Promise<PlanReport> {
  const command = addPlanFlags(
    new Command('plan').exitOverride().configureOutput({ writeErr: () => undefined }),
  );
  const around = {
    environment: undefined,
    read: readText,
    err: () => undefined,
    errColumns: undefined,
    interruptible: <T>(work: (signal: AbortSignal) => Promise<T>) => work(new AbortController().signal),
  };
  return runPlan(command.parse(flags, { from: 'user' }).opts<PlanFlags>(), around);
}

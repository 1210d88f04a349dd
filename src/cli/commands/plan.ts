import { accessSync, constants, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command } from 'commander';
import { EXIT } from '../../config/exit-codes.ts';
import { printJson, printLine, type Console } from '../console.ts';
import { InputError } from '../command-error.ts';
import { addPlanFlags, type PlanFlags } from '../plan/flags.ts';

const EXAMPLES = `
Parameters come from --params or PILOTLIGHT_ENDPOINT_GROUPS, with --param on top; what is not given has the
interface's default. Units of work are yours: tokens, images, seconds of GPU, as long as load and performance agree.

Examples:
  pilotlight plan --load diurnal --rate 500 --duration 24h --performance 100
  pilotlight plan --trace requests.csv --weight prompt_tokens=0.1 --weight output_tokens=1 --performance 800
  pilotlight plan --trace requests.csv --compare today.json tomorrow.json --html compare.html
  pilotlight plan --trace requests.csv --search --p99 5s --price-hot 2.49

Exit codes: 0 done, 1 no set meets --p99, 2 wrong usage or input, 130 Ctrl-C.`;

export function planCommand(console: Console): Command {
  const command = new Command('plan').description(
    'Predict what endpoint-group parameters do under a load: queue times, workers, cost (a simulation)',
  );
  return addPlanFlags(command)
    .addHelpText('after', EXAMPLES)
    .action(async (flags: PlanFlags) => {
      const { runPlan } = await import('../plan/run-plan.ts');
      const { html, json, p99 } = flags;
      // Before minutes are spent on what could not be written then.
      if (html !== undefined) onFile(html, () => accessSync(dirname(html), constants.W_OK));
      const report = await runPlan(flags, console);
      if (p99 !== undefined && !report.search?.best) console.exit(EXIT.failed);
      const page = html === undefined ? '' : (await import('../plan/report/page.ts')).planPage(report);
      if (json) printJson(console, report);
      else {
        const { planTable } = await import('../plan/table.ts');
        for (const line of planTable(report)) printLine(console, line);
      }
      if (html === undefined) return;
      onFile(html, () => writeFileSync(html, page));
      if (!json) printLine(console, `Page with the plots: ${html}`);
    });
}

/** @throws InputError */
function onFile(path: string, act: () => void): void {
  try {
    act();
  } catch (cause) {
    throw new InputError(`--html ${path}: ${(cause as Error).message}`, { cause });
  }
}

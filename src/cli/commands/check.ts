/** Commands that judge a configuration: `check`, `doctor` and `plan`. */
import { Command } from 'commander';
import type { CheckFlags } from '../check.ts';
import { printJson, printLine, type Console, InputError } from '../console.ts';
import {
  aboveZero,
  seconds,
  daemonOf,
  daemonUrlOption,
  positiveInteger,
  examples,
  profileOption,
  type DaemonFlags,
} from '../flag-types.ts';
import type { DoctorFlags } from '../doctor.ts';
import { accessSync, constants, existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { EXIT } from '../../config/exit-codes.ts';
import { addPlanFlags, type PlanFlags } from '../plan/flags.ts';

const AFTER = `
Examples:
  pilotlight check
  pilotlight check --online
  pilotlight check --strict endpoint-groups.json

Exit codes: 0 fine, 1 warnings with --strict, 2 errors. With --online also: 1 something is not as configured,
3 no answer from the service, 4 the key is refused.`;

export function checkCommand(console: Console): Command {
  return new Command('check')
    .description(
      'Print every problem of the configuration at once: of the environment that run reads, or of files',
    )
    .argument(
      '[files...]',
      'JSON files of endpoint-group parameters, an object or an array of them; - is standard input',
    )
    .option('--online', 'ask the service too, read-only: key, address, clock, deployments, permissions')
    .option('--strict', 'exit 1 when there are warnings')
    .option('--json', 'print the problems as a JSON array')
    .option('--performance <units/s>', 'what one worker does, if you know it; adds rules', aboveZero)
    .option('--cold-start <time>', 'how long a cold worker needs to become ready; adds rules', seconds)
    .addHelpText('after', AFTER)
    .action(async (files: readonly string[], flags: CheckFlags) => {
      const { runCheck } = await import('../check.ts');
      console.exit(await runCheck(files, flags, console));
    });
}

export function doctorCommand(console: Console): Command {
  return new Command('doctor')
    .description(
      'Print how the live service really behaves, asked with reads alone, and what that means here',
    )
    .option('--deployment <id>', 'send one heartbeat to this deployment, which is harmless', positiveInteger)
    .option(
      '--report <file>',
      'write the findings to a file you can attach to an issue: no secrets, no names',
    )
    .addOption(daemonUrlOption())
    .addOption(profileOption())
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      '\nReads the environment that run reads; without a key there, what login has stored.' +
        '\nIf a daemon runs here, doctor starts from its findings, and uses only the requests that it leaves free.' +
        '\nAt the first 429 it asks no more.' +
        `\n${examples('doctor', 'doctor --report doctor.json', 'doctor --deployment 42 --json')}` +
        '\n\nExit codes: 0 all well, 1 something is off, 2 configuration, 3 no answer, 4 the key is refused.',
    )
    .action(async (flags: DoctorFlags & DaemonFlags) => {
      const { report } = flags;
      if (report !== undefined) onFile(`--report ${report}`, () => expectWritable(report));
      const { runDoctor } = await import('../doctor.ts');
      console.exit(await runDoctor(daemonOf(console, flags), flags, console));
    });
}

const EXAMPLES = `
Parameters come from --params or PILOTLIGHT_ENDPOINT_GROUPS, with --param on top. Parameters you leave out
get the interface's default. Units of work are yours: tokens, images, seconds of GPU, as long as load and performance agree.

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
      if (html !== undefined) onFile(`--html ${html}`, () => expectWritable(html));
      const report = await runPlan(flags, console);
      if (p99 !== undefined && !report.search?.best) console.exit(EXIT.failed);
      const page = html === undefined ? '' : (await import('../plan/report/page.ts')).planPage(report);
      if (json) printJson(console, report);
      else {
        const { planTable } = await import('../plan/table.ts');
        for (const line of planTable(report)) printLine(console, line);
      }
      if (html === undefined) return;
      onFile(`--html ${html}`, () => writeFileSync(html, page));
      if (!json) printLine(console, `Page with the plots: ${html}`);
    });
}

/** Before questions are asked or minutes are spent. @throws the system's error */
function expectWritable(path: string): void {
  accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
}

function onFile(flag: string, act: () => void): void {
  try {
    act();
  } catch (cause) {
    throw new InputError(`${flag}: ${(cause as Error).message}`, { cause });
  }
}

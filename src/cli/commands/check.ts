import { Command } from 'commander';
import type { CheckFlags } from '../check/run-check.ts';
import type { Console } from '../console.ts';
import { aboveZero, seconds } from '../flag-types.ts';

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
      const { runCheck } = await import('../check/run-check.ts');
      console.exit(await runCheck(files, flags, console));
    });
}

import { Command } from 'commander';
import { describeProblem } from '../../daemon/config/describe.ts';
import { loadConfig } from '../../daemon/config/load.ts';
import { EXIT } from '../exit-codes.ts';
import { printError, printJson, printLine } from '../output.ts';

export function checkCommand(): Command {
  return new Command('check')
    .description('reads the same environment as run and prints every problem at once')
    .option('--strict', 'exit 1 when there are warnings')
    .option('--json', 'the problems as a JSON array')
    .addHelpText('after', '\nExit codes: 0 fine, 1 warnings with --strict, 2 errors.')
    .action((options: { strict?: boolean; json?: boolean }) => {
      const { problems } = loadConfig();
      const count = (severity: string) => problems.filter((problem) => problem.severity === severity).length;
      const [errors, warnings] = [count('error'), count('warning')];
      if (options.json) printJson(problems);
      else {
        for (const problem of problems) printError(describeProblem(problem));
        printLine(
          errors > 0 ? `${errors} errors, ${warnings} warnings` : `configuration valid, ${warnings} warnings`,
        );
      }
      if (errors > 0) process.exitCode = EXIT.usage;
      else if (options.strict && warnings > 0) process.exitCode = 1;
    });
}

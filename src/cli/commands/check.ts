import { Command, InvalidArgumentError } from 'commander';
import { describeProblem } from '../../daemon/config/describe.ts';
import { loadConfig, type ConfigProblem } from '../../daemon/config/load.ts';
import { parseDuration } from '../../daemon/config/value-types.ts';
import { checkEndpointGroups } from '../../scaling/check.ts';
import type { WorkerFacts } from '../../scaling/findings.ts';
import { EXIT } from '../exit-codes.ts';
import { readGroupFile } from '../group-file.ts';
import { InputError } from '../input-error.ts';
import { printError, printJson, printLine } from '../output.ts';

interface CheckFlags {
  readonly strict?: boolean;
  readonly json?: boolean;
  readonly performance?: number;
  readonly coldStart?: number;
}

export function checkCommand(): Command {
  return new Command('check')
    .description(
      'prints every problem of the configuration at once: the environment that run reads, or files',
    )
    .argument(
      '[files...]',
      'JSON files of endpoint-group parameters, an object or an array of them; - is standard input',
    )
    .option('--strict', 'exit 1 when there are warnings')
    .option('--json', 'the problems as a JSON array')
    .option(
      '--performance <units/s>',
      'files: what one worker does, where you know it; lets more rules speak',
      parseNumber,
    )
    .option('--cold-start <time>', 'files: how long a cold worker needs to become ready', parseSeconds)
    .addHelpText('after', '\nExit codes: 0 fine, 1 warnings with --strict, 2 errors.')
    .action((files: readonly string[], flags: CheckFlags) => {
      try {
        report(problemsOf(files, flags), flags);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        printError(`error: ${error.message}`);
        process.exitCode = EXIT.usage;
      }
    });
}

function problemsOf(
  files: readonly string[],
  { performance, coldStart }: CheckFlags,
): readonly ConfigProblem[] {
  const facts: WorkerFacts = {
    ...(performance === undefined ? {} : { workerPerformance: performance }),
    ...(coldStart === undefined ? {} : { coldStartSeconds: coldStart }),
  };
  if (files.length > 0) return files.flatMap((path) => fileProblems(path, facts));
  if (Object.keys(facts).length > 0) throw new InputError('--performance and --cold-start go with files');
  return loadConfig().problems;
}

function fileProblems(path: string, facts: WorkerFacts): ConfigProblem[] {
  const { groups, isArray } = readGroupFile(path);
  return checkEndpointGroups(groups, facts).flatMap(({ findings }, index) =>
    findings.map(({ rule, severity, parameter, got, allowed, message }) => ({
      severity,
      variable: `${path}${isArray ? `[${index}]` : ''}${parameter === '' ? '' : `.${parameter}`}`,
      got: got === undefined ? 'nothing' : JSON.stringify(got),
      allowed,
      message,
      rule,
    })),
  );
}

function report(problems: readonly ConfigProblem[], { json, strict }: CheckFlags): void {
  const count = (severity: string) => problems.filter((problem) => problem.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  if (json) printJson(problems);
  else {
    for (const problem of problems) printError(describeProblem(problem));
    printLine(
      errors > 0 ? `${errors} errors, ${warnings} warnings` : `configuration valid, ${warnings} warnings`,
    );
  }
  if (errors > 0) process.exitCode = EXIT.usage;
  else if (strict && warnings > 0) process.exitCode = 1;
}

function parseNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!(value > 0 && value < Infinity)) throw new InvalidArgumentError('a number above 0.');
  return value;
}

function parseSeconds(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('a duration is 500ms, 20s, 5m or 1h.');
  return ms / 1000;
}

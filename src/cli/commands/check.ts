import { Command } from 'commander';
import { type ConfigProblem, describeProblem, inCheck } from '../../config/problem.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { ENDPOINT_GROUPS_VARIABLE, loadEndpointGroups } from '../../config/command-settings.ts';
import { loadConfig } from '../../config/load.ts';
import { ENDPOINT_GROUP_DEFAULTS } from '../../contract/operations/serverless/endpoint-groups.ts';
import { checkEndpointGroups, DEFAULT_FILLED_IN } from '../../scaling/rules/check.ts';
import { gotInWords, type WorkerFacts } from '../../scaling/rules/findings.ts';
import { printError, printJson, printLine, type Console } from '../console.ts';
import { aboveZero, seconds } from '../flag-types.ts';
import { readGroupFile } from '../group-file.ts';

interface CheckFlags {
  readonly strict?: boolean;
  readonly json?: boolean;
  readonly performance?: number;
  readonly coldStart?: number;
}

export function checkCommand(console: Console): Command {
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
      'what one worker does, where you know it; lets more rules speak',
      aboveZero,
    )
    .option('--cold-start <time>', 'how long a cold worker needs to become ready; likewise', seconds)
    .addHelpText('after', '\nExit codes: 0 fine, 1 warnings with --strict, 2 errors.')
    .action((files: readonly string[], flags: CheckFlags) => {
      report(problemsOf(files, flags, console), flags, console);
    });
}

function problemsOf(
  files: readonly string[],
  { performance, coldStart }: CheckFlags,
  { environment, read }: Console,
): readonly ConfigProblem[] {
  const facts: WorkerFacts = {
    ...(performance === undefined ? {} : { workerPerformance: performance }),
    ...(coldStart === undefined ? {} : { coldStartSeconds: coldStart }),
  };
  if (files.length > 0) return files.flatMap((path) => fileProblems(path, facts, read));
  const problems = loadConfig(environment).problems.map(inCheck);
  const { groups } = loadEndpointGroups(environment);
  if (groups === undefined || Object.keys(facts).length === 0) return problems;
  // The daemon does not know the workers' performance; who runs this command may.
  const others = problems.filter(({ rule }) => rule === undefined);
  return [...others, ...groupProblems(ENDPOINT_GROUPS_VARIABLE, groups, facts)];
}

function fileProblems(path: string, facts: WorkerFacts, read: Console['read']): readonly ConfigProblem[] {
  const { groups, isArray } = readGroupFile(path, read);
  return groupProblems(path === '-' ? 'standard input' : path, groups, facts, isArray);
}

function groupProblems(
  source: string,
  groups: readonly unknown[],
  facts: WorkerFacts,
  isArray = true,
): readonly ConfigProblem[] {
  return checkEndpointGroups(groups, facts).flatMap(({ findings }, index) =>
    findings.map((finding) => {
      const { rule, severity, parameter, allowed, message } = finding;
      const place = `${source}${isArray ? `[${index}]` : ''}${parameter === '' ? '' : `.${parameter}`}`;
      return { severity, variable: place, got: gotInWords(finding), allowed, message, rule };
    }),
  );
}

function report(problems: readonly ConfigProblem[], { json, strict }: CheckFlags, console: Console): void {
  const count = (severity: string) => problems.filter((problem) => problem.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  if (json) printJson(console, problems);
  else {
    for (const line of describeProblems(problems)) printError(console, line);
    printLine(
      console,
      errors > 0
        ? `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`
        : `configuration valid, ${counted(warnings, 'warning')}`,
    );
  }
  if (errors > 0) console.exit(EXIT.usage);
  else if (strict && warnings > 0) console.exit(EXIT.failed);
}

/** A line for each problem, then one for each group with the defaults that were filled in: --json has them singly. */
function describeProblems(problems: readonly ConfigProblem[]): readonly string[] {
  const defaults = new Map<string, string[]>();
  const lines: string[] = [];
  for (const problem of problems) {
    if (problem.rule !== DEFAULT_FILLED_IN) {
      lines.push(describeProblem(problem));
      continue;
    }
    const dot = problem.variable.lastIndexOf('.');
    const [group, parameter] = [problem.variable.slice(0, dot), problem.variable.slice(dot + 1)];
    const value = ENDPOINT_GROUP_DEFAULTS[parameter as keyof typeof ENDPOINT_GROUP_DEFAULTS];
    defaults.set(group, [...(defaults.get(group) ?? []), `${parameter} ${value}`]);
  }
  for (const [group, filled] of defaults) {
    lines.push(`note: ${group}: not given, so the defaults apply: ${filled.join(', ')}`);
  }
  return lines;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

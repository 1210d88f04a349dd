/** `check`: prints the problems of the configuration, and with --online the findings of the service. */
import { describeProblem, inCheck, type ConfigProblem } from '../../config/problem.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { ENDPOINT_GROUPS_VARIABLE, loadEndpointGroups } from '../../config/command-settings.ts';
import { loadConfig } from '../../config/load.ts';
import { ENDPOINT_GROUP_DEFAULTS } from '../../contract/operations/serverless/endpoint-groups.ts';
import { checkEndpointGroups, DEFAULT_FILLED_IN } from '../../scaling/rules/check.ts';
import { gotInWords, type WorkerFacts } from '../../scaling/rules/rules.ts';
import { printError, printJson, printLine, type Console } from '../console.ts';
import { readGroupFile } from '../json-input.ts';
import { InputError } from '../command-error.ts';
import { counted } from '../text/legible.ts';
import { askService } from './ask-service.ts';

export interface CheckFlags {
  readonly online?: boolean;
  readonly strict?: boolean;
  readonly json?: boolean;
  readonly performance?: number;
  readonly coldStart?: number;
}

export async function runCheck(files: readonly string[], flags: CheckFlags, console: Console) {
  const { json, online, strict } = flags;
  if (online && files.length > 0)
    throw new InputError('--online asks about the environment, not about files');
  const problems = problemsOf(files, flags, console);
  if (!json) printProblems(problems, console);
  const { settings } = online ? loadConfig(console.environment) : {};
  const asked = settings && (await console.interruptible((signal) => askService(settings, { signal })));
  const findings = asked?.findings ?? [];
  if (json) printJson(console, online ? { problems, findings } : problems);
  else if (asked)
    for (const { verdict, about, says } of findings) printLine(console, `${verdict}: ${about}: ${says}`);
  else if (online) printError(console, 'The service was not asked: the errors above come first.');
  const has = (severity: string): boolean => problems.some((problem) => problem.severity === severity);
  if (has('error')) return EXIT.usage;
  return asked?.exit || (strict && has('warning') ? EXIT.failed : EXIT.ok);
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
  if (files.length > 0)
    return files.flatMap((path) => {
      const { groups, isArray } = readGroupFile(path, read);
      return groupProblems(path === '-' ? 'standard input' : path, groups, facts, isArray);
    });
  const problems = loadConfig(environment).problems.map(inCheck);
  const { groups } = loadEndpointGroups(environment);
  if (groups === undefined || Object.keys(facts).length === 0) return problems;
  // The daemon does not know the workers' performance; who runs this command may.
  const others = problems.filter(({ rule }) => rule === undefined);
  return [...others, ...groupProblems(ENDPOINT_GROUPS_VARIABLE, groups, facts)];
}

function groupProblems(source: string, groups: readonly unknown[], facts: WorkerFacts, isArray = true) {
  return checkEndpointGroups(groups, facts).flatMap(({ findings }, index) =>
    findings.map((finding) => {
      const { rule, severity, parameter, allowed, message } = finding;
      const place = `${source}${isArray ? `[${index}]` : ''}${parameter === '' ? '' : `.${parameter}`}`;
      return { severity, variable: place, got: gotInWords(finding), allowed, message, rule };
    }),
  );
}

export function printProblems(problems: readonly ConfigProblem[], console: Console): void {
  const count = (severity: string) => problems.filter((problem) => problem.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  for (const line of describeProblems(problems)) printError(console, line);
  const result = errors > 0 ? `${counted(errors, 'error')}, ` : 'configuration valid, ';
  printLine(console, result + counted(warnings, 'warning'));
}

/** The defaults that were filled in are one line a group. */
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

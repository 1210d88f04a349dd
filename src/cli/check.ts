/** `check`: prints the problems of the configuration, and with --online the findings of the service. */
import { printError, printJson, printLine, type Console, readGroupFile, InputError } from './console.ts';
import { exitCodeOf } from './exit-code.ts';
import { legibleLine } from './text.ts';
import { createClient, type CallOptions, type Client, type ClientObserver } from '../client/client.ts';
import { ApiError, CallError, ThrottledError, adviceOf } from '../client/errors.ts';
import { isUnknownOperation, listInstances } from '../client/flows/lists.ts';
import { NO_RETRY } from '../client/retry.ts';
import { ENDPOINT_GROUPS_VARIABLE, loadEndpointGroups } from '../config/command-settings.ts';
import { EXIT } from '../config/exit-codes.ts';
import { loadConfig } from '../config/load.ts';
import { OPTIONS, PREFIX, type Settings } from '../config/options.ts';
import { configWarning, describeProblem, inCheck, type ConfigProblem } from '../config/problem.ts';
import type { AssumptionVerdict } from '../contract/assumptions.ts';
import type { OperationId, Output } from '../contract/operations.ts';
import { DEFAULT_TAG } from '../contract/operations/serverless/serverless.ts';
import { ENDPOINT_GROUP_DEFAULTS } from '../contract/operations/serverless/endpoint-groups.ts';
import { isWanted, labelOfWanted, type WantedRow } from '../contract/wanted.ts';
import { labelOf, Selection, type Wanted } from '../heartbeat/discovery/wanted.ts';
import type { ListedLog } from '../logs/lookup/log-lookup.ts';
import { plural } from '../daemon/status/page/status-words.js';
import { checkEndpointGroups, DEFAULT_FILLED_IN } from '../scaling/rules/check.ts';
import { gotInWords, type WorkerFacts } from '../scaling/rules/rules.ts';

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
  const problems = await problemsOf(files, flags, console);
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

async function problemsOf(
  files: readonly string[],
  { performance, coldStart }: CheckFlags,
  { environment, read }: Console,
): Promise<readonly ConfigProblem[]> {
  const facts: WorkerFacts = { workerPerformance: performance, coldStartSeconds: coldStart };
  if (files.length > 0) {
    const found: ConfigProblem[] = [];
    for (const path of files) {
      const { groups, isArray } = await readGroupFile(path, read);
      found.push(...groupProblems(path === '-' ? 'standard input' : path, groups, facts, isArray));
    }
    return found;
  }
  const problems = environmentProblems(environment);
  const { groups } = loadEndpointGroups(environment);
  if (groups === undefined || (performance ?? coldStart) === undefined) return problems;
  // The daemon does not know the workers' performance; who runs this command may.
  const others = problems.filter(({ rule }) => rule === undefined);
  return [...others, ...groupProblems(ENDPOINT_GROUPS_VARIABLE, groups, facts)];
}

/** With what `run` warns of: a key and an address alone keep nothing alive. */
function environmentProblems(environment: Console['environment']): readonly ConfigProblem[] {
  const { settings, problems } = loadConfig(environment);
  const { variable, type } = OPTIONS.deployments;
  const nothing = configWarning(PREFIX + variable, undefined, type.name, 'no deployment is kept alive');
  const isIdle = settings?.deployments.length === 0;
  return [...problems.map(inCheck), ...(isIdle ? [nothing] : [])];
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
  const result = errors > 0 ? `${plural(errors, 'error')}, ` : 'configuration valid, ';
  printLine(console, result + plural(warnings, 'warning'));
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

export interface CheckFinding {
  /** `unknown`: the service has no such operation, or has refused it for its rate limit. */
  readonly verdict: AssumptionVerdict;
  /** `key`, `service`, `clock`, `deployment 42`, the variable of a feature, or an assumption. */
  readonly about: string;
  /** Of an assumption. */
  readonly value?: string;
  readonly says: string;
}

export type Answers = { readonly [Id in OperationId]?: Output<Id> };

export interface Question {
  readonly about: string;
  readonly asks: OperationId;
  readonly fine: string;
  readonly input?: Readonly<Record<string, unknown>>;
  /** Default: a call of `asks` with `input`. */
  readonly ask?: (client: Client, options: CallOptions, answers: Answers) => Promise<unknown>;
  readonly isOpen?: (answers: Answers) => boolean;
  /** Only an observer reads its answer: it makes no finding. */
  readonly isQuiet?: boolean;
}

interface AskOptions {
  readonly signal: AbortSignal;
  /** Resolves when the next question may be sent; false: stop asking. Default: at once. */
  readonly turn?: () => Promise<boolean>;
  /** Sends each question once. A 429 is reported as unknown. */
  readonly isGentle?: boolean;
  readonly onAnswer?: ClientObserver['answer'];
}

/** In seconds; the alert ClockSkew has the same bound. */
const MOST_SKEW = 30;

/** With reads alone, for `check --online` and `doctor`. Never rejects for what the service says. */
export async function askService(
  settings: Settings,
  { signal, turn = () => Promise.resolve(true), isGentle = false, onAnswer }: AskOptions,
  questions: readonly Question[] = questionsOf(settings),
) {
  const { apiKey, baseUrl, serverlessUrl } = settings;
  let serverDate: string | undefined;
  await using client = createClient({
    apiKey,
    baseUrl,
    ...(serverlessUrl !== undefined && { serverlessUrl }),
    ...(isGentle && { retry: NO_RETRY }),
    observe: {
      exchange: (event) => (serverDate = event.serverDate ?? serverDate),
      ...(onAnswer && { answer: onAnswer }),
    },
  });
  const answers: Answers = {};
  const findings: CheckFinding[] = [];
  let exit: number = EXIT.ok;

  function find(
    verdict: CheckFinding['verdict'],
    about: string,
    says: string,
    failure: number = EXIT.failed,
  ): void {
    findings.push({ verdict, about, says: legibleLine(says) });
    if (verdict === 'broken') exit = Math.max(exit, failure);
  }

  function findFailure({ about, isQuiet }: Question, error: unknown): void {
    if (!(error instanceof CallError) || error.code === 'aborted') throw error;
    if (isQuiet && error instanceof ApiError) return;
    const advice = error instanceof ApiError ? adviceOf(error) : '';
    const isOpen = isUnknownOperation(error) || (isGentle && error instanceof ThrottledError);
    const failure = exitCodeOf(error);
    // Without an answer, nothing is known of the key.
    const subject = about === KEY && failure === EXIT.unreachable ? 'service' : about;
    find(isOpen ? 'unknown' : 'broken', subject, [error.message, advice].filter(Boolean).join('; '), failure);
  }

  for (const question of questions) {
    const { about, fine, asks, input = {}, isQuiet } = question;
    if (question.isOpen?.(answers) === false) continue;
    if (!(await turn())) break;
    const { ask = (_, options) => client.call(asks, input, options) } = question;
    try {
      Object.assign(answers, { [asks]: await ask(client, { signal }, answers) });
      if (!isQuiet) find('fine', about, fine);
    } catch (error) {
      findFailure(question, error);
    }
    if (about !== KEY) continue;
    const theirs = Date.parse(serverDate ?? '');
    if (theirs > 0) find(...comparedClocks(Date.now(), theirs));
    if (answers[asks] === undefined) break;
  }
  for (const configured of configuredThings(settings, answers)) find(...configured);
  return { answers, findings, exit };
}

const KEY = 'key';

type Found = readonly [verdict: CheckFinding['verdict'], about: string, says: string];

/** Both in Unix ms; the service tells whole seconds. */
function comparedClocks(ours: number, theirs: number): Found {
  const skew = Math.round((ours - theirs - 500) / 1000);
  const says = `${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} the service`;
  return [Math.abs(skew) <= MOST_SKEW ? 'fine' : 'broken', 'clock', says];
}

/** Looks up the configured ids and names in the lists that the service answered. */
function configuredThings(settings: Settings, answers: Answers): Found[] {
  const { deployments, endpoints, endpointLogs, workerGroups } = settings;
  const named = [...endpoints, ...endpointLogs].flatMap((wanted) => listed(wanted, ''));
  const groups = workerGroups.flatMap((wanted) => listed(wanted, 'endpoint:'));
  return [
    ...lookedUp('deployment', deployments.map(selected), answers['deployments.list']?.deployments),
    ...lookedUp('endpoint', named, answers['endpointGroups.list']?.results),
    ...lookedUp('worker group', groups, answers['workergroups.list']?.results),
  ];
}

function lookedUp<R extends Pick<ListedLog, 'id'>>(
  what: string,
  wanted: readonly Wish<R>[],
  rows: readonly R[] | undefined,
): Found[] {
  if (rows === undefined) return [];
  return Array.from(new Map(wanted.map(({ label, isOf }) => [label, isOf])), ([label, isOf]) => {
    const ids = rows.filter(isOf).map(({ id }) => id);
    const isThere = ids.length > 0;
    return [isThere ? 'fine' : 'broken', `${what} ${label}`, isThere ? `id ${ids.join(', ')}` : 'not found'];
  });
}

interface Wish<R> {
  readonly label: string;
  readonly isOf: (row: R) => boolean;
}

type DeploymentRow = Output<'deployments.list'>['deployments'][number];

function selected(wanted: Wanted): Wish<DeploymentRow> {
  const selection = new Selection([wanted]);
  return {
    label: labelOf(wanted),
    isOf: ({ id, name, tag }) => selection.has({ id, name: name ?? undefined, tag: tag || DEFAULT_TAG }),
  };
}

/** `all` may match nothing. */
function listed(wanted: WantedRow, before: string): Wish<ListedLog>[] {
  if (wanted.by === 'all') return [];
  return [
    { label: labelOfWanted(wanted, before), isOf: (row) => isWanted([wanted], row.id, row.endpoint_name) },
  ];
}

export function questionsOf(settings: Settings): Question[] {
  const { workerGroups, endpoints, endpointLogs, machines, deployments } = settings;
  const feature = (isOn: boolean, variable: string, asked: Pick<Question, 'asks' | 'input' | 'ask'>) =>
    isOn ? [{ about: PREFIX + variable, fine: 'the key may read it', ...asked }] : [];
  return [
    { about: KEY, asks: 'users.current', fine: `accepted by ${settings.baseUrl}` },
    ...feature(workerGroups.length > 0, 'WORKER_GROUPS', { asks: 'workergroups.list' }),
    ...feature(endpoints.length + endpointLogs.length > 0, 'ENDPOINTS', { asks: 'endpointGroups.list' }),
    ...feature(machines.length > 0 && settings.maintenanceSchedule !== 'off', 'MACHINES', {
      asks: 'machines.maintenances',
      input: { machine_ids: [...machines] },
    }),
    ...feature(settings.instancesSchedule !== 'off', 'INSTANCES_SCHEDULE', {
      asks: 'instances.page',
      ask: async (client, options) => ({ instances: await listInstances(client, { ids: [], ...options }) }),
    }),
    ...feature(settings.accountSchedule !== 'off', 'ACCOUNT_SCHEDULE', { asks: 'tfa.status' }),
    ...(deployments.length > 0
      ? [{ about: 'deployments', asks: 'deployments.list' as const, fine: 'the key may list them' }]
      : []),
  ];
}

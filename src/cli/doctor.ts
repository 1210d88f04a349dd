/** `doctor`: checks the configuration, asks the service how it behaves, and prints and writes the findings. */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { buildInfo } from '../build-info.ts';
import {
  printProblems,
  askService,
  questionsOf,
  type Answers,
  type CheckFinding,
  type Question,
} from './check.ts';
import { CommandError, InputError, printError, printJson, printLine, type Console } from './console.ts';
import { DaemonAway, fetchStatus, type DaemonAddress } from './fleet/daemon.ts';
import type { ProfileFlag } from './flag-types.ts';
import { usableConnection } from './logins.ts';
import { hasOwnKey, withLogin, type Login } from '../config/command-settings.ts';
import { EXIT } from '../config/exit-codes.ts';
import { loadConfig } from '../config/load.ts';
import type { Settings } from '../config/options.ts';
import { inCheck, isError } from '../config/problem.ts';
import { ASSUMPTION_IDS, type AssumptionVerdict, type AssumptionId } from '../contract/assumptions.ts';
import { operationOf } from '../contract/operations.ts';
import { plural } from '../daemon/status/page/status-words.js';
import { statusSchema, type Status } from '../daemon/status/schema.ts';
import {
  findingsOf,
  knownFindings,
  learn,
  NOTHING_LEARNED,
  type LearnedTraits,
  type ObservedAnswer,
  type Traits,
} from '../doctor/learn.ts';
import {
  learnList,
  NOTHING_KNOWN as NO_DEPLOYMENTS,
  resolve,
  Selection,
} from '../heartbeat/discovery/wanted.ts';
import { timingFor } from '../heartbeat/engine/formulas.ts';
import { PROBE_TAIL } from '../logs/follower/pace.ts';
import { afterList, followedLogs, NOTHING_KNOWN as NO_LOGS } from '../logs/lookup/log-lookup.ts';

export interface DoctorFlags extends ProfileFlag {
  readonly deployment?: number;
  readonly json?: boolean;
  readonly report?: string;
}

export async function runDoctor(daemonAt: DaemonAddress, flags: DoctorFlags, console: Console) {
  const connection = usableConnection(console, flags);
  if (!connection) return EXIT.usage;
  const { environment: own = process.env } = console;
  const environment = hasOwnKey(own) ? own : withLogin(own, connection as Login);
  const { settings, problems: found } = loadConfig(environment);
  const problems = found.map(inCheck);
  if (!flags.json) printProblems(problems, console);
  if (!settings || problems.some(isError)) {
    printError(console, 'The service was not asked: the errors come first.');
    if (flags.json) printJson(console, { problems, findings: [] });
    return EXIT.usage;
  }
  const examination = await console.interruptible(async (signal) =>
    examine({
      settings,
      daemon: await daemonOfService(daemonAt, settings.baseUrl, console, signal),
      deployment: flags.deployment,
      signal,
      sleep: (ms) => delay(ms, undefined, { signal }),
      announce: (sentence) => printError(console, sentence),
    }),
  );
  const { lines, exit } = examination;
  if (flags.json) printJson(console, { problems, findings: lines });
  else for (const line of lines) printLine(console, `${WORDS[line.verdict]}: ${line.about}: ${line.says}`);
  if (flags.report !== undefined) writeReport(flags.report, examination);
  return exit;
}

const WORDS: Readonly<Record<AssumptionVerdict, string>> = {
  fine: 'fine',
  differs: 'works, but differs',
  broken: 'broken',
  unknown: 'could not ask',
};

const viewSchema = statusSchema.pick({ service: true, rate_limit: true, deployments: true });

/** Undefined: none runs here, or it is of another service or an older version. */
async function daemonOfService(
  address: DaemonAddress,
  baseUrl: string,
  console: Console,
  signal: AbortSignal,
): Promise<DaemonView | undefined> {
  try {
    const view = await fetchStatus(address, viewSchema, signal);
    return view.service.base_url === baseUrl ? view : undefined;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (!(error instanceof DaemonAway)) printError(console, error.message);
    return undefined;
  }
}

const IDS: ReadonlySet<string> = new Set(ASSUMPTION_IDS);

/** Words of our own tables and numbers alone: no key, name, id, address or log line. @throws InputError */
function writeReport(path: string, { lines, exit, exchanges }: Examination): void {
  const { version, revision } = buildInfo();
  const report = {
    pilotlight: version,
    revision,
    node: process.versions.node,
    exit,
    checks: lines
      .filter(({ about }) => !IDS.has(about))
      .map(({ about, verdict }) => ({ about: about.split(' ', 1)[0], verdict })),
    traits: lines.flatMap(({ about, value, verdict, says }) =>
      IDS.has(about) ? [{ trait: about, value: value ?? null, verdict, says }] : [],
    ),
    exchanges,
  };
  try {
    writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
  } catch (cause) {
    throw new InputError(`${path}: ${(cause as Error).message}`, { cause });
  }
}

type DaemonView = Pick<Status, 'service' | 'rate_limit' | 'deployments'>;

export interface Examination {
  readonly lines: readonly CheckFinding[];
  readonly exit: number;
  readonly exchanges: readonly Pick<ObservedAnswer, 'operation' | 'code' | 'refusal' | 'rate'>[];
}

interface ExaminationOptions {
  readonly settings: Settings;
  readonly daemon: DaemonView | undefined;
  /** To send one heartbeat to. */
  readonly deployment: number | undefined;
  readonly signal: AbortSignal;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly announce: (sentence: string) => void;
}

/** The public service takes most reads of a key every 2 s, ms. */
const EVERY_MS = 2_000;
const HEARTBEAT_EVERY_MS = operationOf('deployments.heartbeat').publicSpacingMs ?? EVERY_MS;

/** Beside a daemon it starts from that one's findings. Never rejects for what the service says. */
export async function examine(options: ExaminationOptions): Promise<Examination> {
  const { settings, daemon, signal, deployment, sleep, announce } = options;
  const known = daemon?.service.traits.map(({ trait, value }) => [trait, value]) ?? [];
  let knowledge: LearnedTraits = { ...NOTHING_LEARNED, traits: Object.fromEntries(known) as Traits };
  const exchanges: Examination['exchanges'][number][] = [];
  const questions = doctorQuestions(settings, () => knowledge.traits, deployment);
  const everyMs = questionInterval(daemon);
  announce(plan(questions, everyMs, daemon));
  let isThrottled = false;
  const { findings, exit, answers } = await askService(
    settings,
    {
      signal,
      isGentle: true,
      async turn() {
        if (isThrottled || everyMs === undefined) return false;
        if (exchanges.length > 0) await sleep(everyMs, signal);
        return true;
      },
      onAnswer(event) {
        const { operation, code, refusal, rate } = event;
        if (refusal === 'throttled') {
          isThrottled = true;
          announce('The service answered 429: nothing more is asked.');
        }
        knowledge = learn(knowledge, event);
        exchanges.push({ operation, code, ...(refusal && { refusal }), ...(rate && { rate }) });
      },
    },
    questions,
  );
  // Nothing could be asked with a key that was refused.
  const hasAnswered = Object.keys(answers).length > 0;
  const lines: CheckFinding[] = [
    ...findings,
    ...heartbeatRate(settings, daemon, answers),
    ...(hasAnswered ? findingsOf(knowledge.traits) : knownFindings(knowledge.traits)).map(
      ({ trait, ...finding }) => Object.assign({ about: trait }, finding),
    ),
  ];
  // A service that refused the first question has confirmed nothing.
  const isOff = (isThrottled && !hasAnswered) || lines.some(({ verdict }) => verdict === 'broken');
  return { lines, exit: exit || (isOff ? EXIT.failed : EXIT.ok), exchanges };
}

/** Between two questions, ms; undefined: a daemon leaves nothing of the rate limit. */
function questionInterval(daemon: DaemonView | undefined): number | undefined {
  if (!daemon) return EVERY_MS;
  const { allowed_requests_per_second: allowed, wanted_requests_per_second: wanted } = daemon.rate_limit;
  if (daemon.rate_limit.paused_seconds > 0) return undefined;
  if (allowed === null) return EVERY_MS;
  return allowed > wanted ? Math.max(EVERY_MS, 1_000 / (allowed - wanted)) : undefined;
}

function plan(questions: readonly Question[], everyMs: number | undefined, daemon: DaemonView | undefined) {
  const beside = daemon ? 'A daemon of this service runs here; doctor uses what it has learned. ' : '';
  if (everyMs === undefined)
    return `${beside}It needs all requests that the rate limit allows, so nothing is asked.`;
  const names = [...new Set(questions.map(({ asks }) => asks))].join(', ');
  const every = Math.round(everyMs / 100) / 10;
  const inAll = Math.ceil(((questions.length - 1) * everyMs) / 1_000);
  const writes = questions.some(({ asks }) => asks === 'deployments.heartbeat')
    ? 'all reads but one heartbeat'
    : 'all reads';
  return `${beside}Asks at most ${plural(questions.length, 'question')}, ${writes}, one every ${every} s, about ${inAll} s: ${names}`;
}

function heartbeatRate(settings: Settings, daemon: DaemonView | undefined, answers: Answers): CheckFinding[] {
  // A replaced deployment has no next heartbeat.
  const beaten = (daemon?.deployments ?? []).filter(({ next_heartbeat_at: next }) => next !== null);
  const intervals = beaten.map(({ interval_seconds: interval }) => interval * 1_000);
  const { deployments: wanted } = settings;
  const rows = answers['deployments.list']?.deployments ?? [];
  const known = learnList(NO_DEPLOYMENTS, rows, new Selection(wanted), 0);
  const choices = intervals.length > 0 ? [] : resolve(wanted, known, settings).choices;
  const all = [...intervals, ...choices.map((choice) => timingFor(choice).interval)];
  if (all.length === 0) return [];
  const needMs = 1 / all.reduce((sum, interval) => sum + 1 / interval, 0);
  const verb = all.length === 1 ? 'needs' : 'need';
  const need = `${plural(all.length, 'heartbeat')} of this key ${verb} one request in ${seconds(needMs)} s`;
  const says = `${need}; the service is said to allow one in ${seconds(HEARTBEAT_EVERY_MS)} s (its specification; never measured)`;
  if (needMs >= HEARTBEAT_EVERY_MS) return [{ verdict: 'fine', about: 'heartbeats', says: `${says}.` }];
  const advice = 'Longer TTLs or a second key help.';
  return [{ verdict: 'broken', about: 'heartbeats', says: `${says}. ${advice}` }];
}

function seconds(ms: number): number {
  return Number((ms / 1_000).toPrecision(2));
}

/** Long enough to show the unit, in lines and in bytes. */
const LONG_TAIL = 2_000;
/** Logs can be slow, ms. */
const LOG_TIMEOUT_MS = 60_000;

/** None needs a permission that the configured features do not need. */
function doctorQuestions(settings: Settings, traits: () => Traits, deployment: number | undefined) {
  const configured = questionsOf(settings);
  const isAsked = (id: Question['asks']): boolean => configured.some(({ asks }) => asks === id);
  const isOpen = (...ids: readonly AssumptionId[]) => ids.some((id) => traits()[id] === undefined);
  const isTailOpen = () => isOpen('tail_unit', 'log_shape');
  const log = (tail: number): Question => ({
    ...quiet('workergroups.logs', (answers) => isTailOpen() && groupOf(settings, answers) !== undefined),
    ask: (client, options, answers) =>
      client.workergroups.logs(
        { id: groupOf(settings, answers) ?? 0, tail },
        { ...options, timeoutMs: LOG_TIMEOUT_MS },
      ),
  });
  const heartbeat = (id: number): Question => ({
    about: `heartbeat of ${id}`,
    asks: 'deployments.heartbeat',
    fine: 'accepted',
    input: { id },
  });
  return [
    ...configured,
    ...(isAsked('workergroups.list') ? [] : [quiet('workergroups.list', isTailOpen)]),
    log(LONG_TAIL),
    log(PROBE_TAIL),
    ...(isAsked('instances.page') ? [quiet('instances.list', () => isOpen('instances_v0'))] : []),
    ...(settings.endpoints.length > 0 ? [quiet('serverless.endpointsSpend', () => isOpen('spend'))] : []),
    ...(deployment === undefined ? [] : [heartbeat(deployment)]),
  ];
}

function quiet(asks: Question['asks'], isOpen: NonNullable<Question['isOpen']>): Question {
  return { about: asks, asks, fine: '', isQuiet: true, isOpen };
}

/** The first configured worker group, else the first of the account. */
function groupOf({ workerGroups }: Settings, answers: Answers): number | undefined {
  const wanted = workerGroups.length > 0 ? workerGroups : ([{ by: 'all' }] as const);
  const listed = answers['workergroups.list']?.results ?? [];
  return followedLogs('workergroup', wanted, afterList(NO_LOGS, listed))[0]?.id;
}

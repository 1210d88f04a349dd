/** Asks the service how it behaves. Beside a daemon it starts from that one's findings. */
import { EXIT } from '../../config/exit-codes.ts';
import type { Settings } from '../../config/options.ts';
import type { AssumptionVerdict, AssumptionId } from '../../contract/assumptions.ts';
import { operationOf } from '../../contract/operations.ts';
import type { Status } from '../../daemon/status/schema.ts';
import {
  findingsOf,
  knownFindings,
  learn,
  NOTHING_LEARNED,
  type TraitFinding,
  type ObservedAnswer,
  type Traits,
} from '../../doctor/learn.ts';
import {
  learnList,
  NOTHING_KNOWN as NO_DEPLOYMENTS,
  resolve,
  Selection,
} from '../../heartbeat/discovery/wanted.ts';
import { timingFor } from '../../heartbeat/engine/formulas.ts';
import { askService, questionsOf, type Answers, type Question } from '../check/ask-service.ts';
import { counted } from '../text/legible.ts';
import { PROBE_TAIL } from '../../logs/follower/pace.ts';
import { afterList, followedLogs, NOTHING_KNOWN as NO_LOGS } from '../../logs/lookup/log-lookup.ts';

export type DaemonView = Pick<Status, 'service' | 'rate_limit' | 'deployments'>;

export interface Line {
  readonly verdict: AssumptionVerdict;
  /** `key`, `clock`, `deployment 42`, a variable, or an assumption. */
  readonly about: string;
  readonly value?: string;
  readonly says: string;
}

export interface Examination {
  readonly lines: readonly Line[];
  readonly exit: number;
  readonly exchanges: readonly Pick<ObservedAnswer, 'operation' | 'code' | 'refusal' | 'rate'>[];
}

export interface ExaminationOptions {
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

/** Never rejects for what the service says. */
export async function examine(options: ExaminationOptions): Promise<Examination> {
  const { settings, daemon, signal, deployment, sleep, announce } = options;
  let knowledge = { ...NOTHING_LEARNED, traits: traitsOf(daemon) };
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
        if (refusal === 'throttled') announce('The service answered 429: nothing more is asked.');
        isThrottled ||= refusal === 'throttled';
        knowledge = learn(knowledge, event);
        exchanges.push({ operation, code, ...(refusal && { refusal }), ...(rate && { rate }) });
      },
    },
    questions,
  );
  const lines: Line[] = [
    ...findings.map(({ verdict, about, says }) => ({ verdict: VERDICTS[verdict], about, says })),
    ...heartbeatRate(settings, daemon, answers),
    // Nothing could be asked with a key that was refused.
    ...(Object.keys(answers).length === 0
      ? knownFindings(knowledge.traits)
      : findingsOf(knowledge.traits)
    ).map(lineOf),
  ];
  // A service that refused the first question has confirmed nothing.
  const isUnconfirmed = isThrottled && Object.keys(answers).length === 0;
  const isOff = isUnconfirmed || lines.some(({ verdict }) => verdict === 'broken');
  return { lines, exit: exit || (isOff ? EXIT.failed : EXIT.ok), exchanges };
}

function lineOf(finding: TraitFinding): Line {
  const { trait: about, verdict, says } = finding;
  return { verdict, about, ...('value' in finding && { value: finding.value }), says };
}

const VERDICTS = { fine: 'fine', wrong: 'broken', unknown: 'unknown' } as const;

function traitsOf(daemon: DaemonView | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries((daemon?.service.traits ?? []).map(({ trait, value }) => [trait, value]));
}

/** Between two questions, ms; undefined: a daemon leaves nothing of the rate limit. */
function questionInterval(daemon: DaemonView | undefined): number | undefined {
  const { allowed_requests_per_second: allowed = null, wanted_requests_per_second: wanted = 0 } =
    daemon?.rate_limit ?? {};
  if ((daemon?.rate_limit.paused_seconds ?? 0) > 0) return undefined;
  if (allowed === null) return EVERY_MS;
  return allowed > wanted ? Math.max(EVERY_MS, 1_000 / (allowed - wanted)) : undefined;
}

function plan(questions: readonly Question[], everyMs: number | undefined, daemon: DaemonView | undefined) {
  const beside = daemon ? 'A daemon of this service runs here; what it has learned counts. ' : '';
  if (everyMs === undefined)
    return `${beside}It needs all requests that the rate limit allows, so nothing is asked.`;
  const names = [...new Set(questions.map(({ asks }) => asks))].join(', ');
  const every = Math.round(everyMs / 100) / 10;
  const inAll = Math.ceil(((questions.length - 1) * everyMs) / 1_000);
  const writes = questions.some(({ asks }) => asks === 'deployments.heartbeat')
    ? 'all reads but one heartbeat'
    : 'all reads';
  return `${beside}Asks at most ${counted(questions.length, 'question')}, ${writes}, one every ${every} s, about ${inAll} s: ${names}`;
}

function heartbeatRate(settings: Settings, daemon: DaemonView | undefined, answers: Answers): Line[] {
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
  const need = `${counted(all.length, 'heartbeat')} of this key ${verb} one request in ${seconds(needMs)} s`;
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
export function doctorQuestions(settings: Settings, traits: () => Traits, deployment: number | undefined) {
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

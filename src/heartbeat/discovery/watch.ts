/** Watches which deployments to keep alive, and with which TTL: asks the service one question at a time. */
import type { ClientOf } from '../../client/caller.ts';
import { ApiError, TransportError, UnauthorizedError } from '../../client/errors.ts';
import { describeFailure } from '../driver/beat.ts';
import type { Ports } from '../driver/ports.ts';
import { FAILURE_WORDS } from '../engine/state.ts';
import {
  isDoubted,
  labelOf,
  learnGone,
  learnList,
  learnOne,
  NOTHING_KNOWN,
  relevantRows,
  resolve,
  Selection,
  type Choice,
  type DiscoveryNotice,
  type Finding,
  type FindingType,
  type Told,
  type TimingSettings,
  type Wanted,
} from './wanted.ts';

interface WatchOptions {
  readonly client: DeploymentClient;
  readonly wanted: readonly Wanted[];
  readonly settings: TimingSettings;
  readonly ports: Pick<Ports, 'clock' | 'random' | 'setTimer'>;
  readonly signal: AbortSignal;
  readonly onChange: (choices: readonly Choice[]) => void;
  readonly onNotice: (notice: DiscoveryNotice) => void;
  /** The service refuses its heartbeats as of a deployment that does not exist. */
  readonly isGone: (id: number) => boolean;
  /** The service accepts its heartbeats, so it exists, whatever another backend says. */
  readonly isAlive: (id: number) => boolean;
}

/** The first question would delay the first heartbeats, ms. */
const AFTER_FIRST_BEATS_MS = 100;
const LONGEST_SLEEP_MS = 10_000;
/** Each report goes through all deployments, so many that are gone are reported together, ms. */
const TOGETHER_MS = 100;
/** The public service takes most reads of a key every 3 s. */
const BETWEEN_MS = 3_000;
const ASK_EVERY_MS = 30_000;
/** Pauses between failures double, up to these. */
const FIRST_PAUSE_MS = 3_000;
const LONGEST_PAUSE_MS = { unanswered: ASK_EVERY_MS, refused: ASK_EVERY_MS, denied: 10 * 60_000 } as const;
const JITTER = 0.2;

/** A finding that came back is not reported again within this time, ms. */
const REPORT_AGAIN_MS = 10 * 60_000;
/** Deployments may not be kept alive: this is reported again while it lasts, ms. */
const REMIND: ReadonlySet<FindingType> = new Set(['unmatched', 'no-list', 'unanswered']);
const REMIND_EVERY_MS = 60_000;

interface Question {
  readonly dueAt: number;
  /** In a row without an answer, and how the last of them ended. */
  readonly failures: number;
  readonly last: Exclude<Reply, { readonly kind: 'answered' }> | undefined;
}

export class DeploymentWatch {
  readonly done: Promise<void>;
  readonly #options: WatchOptions;
  readonly #reportedAt = new Map<string, number>();
  #wanted: readonly Wanted[];
  #settings: TimingSettings;
  #selection: Selection;
  #knowledge = NOTHING_KNOWN;
  /** The open ones; all times are monotonic ms. */
  #questions: Map<Subject, Question>;
  #askedAt = -Infinity;
  #choices: readonly Choice[];
  #missing: readonly string[] = [];
  #wake = (): void => {};
  #cancelReport: (() => void) | undefined;

  constructor(options: WatchOptions) {
    const { wanted, settings, signal, onChange } = options;
    this.#options = options;
    this.#wanted = wanted;
    this.#settings = settings;
    this.#selection = new Selection(wanted);
    this.#choices = resolve(wanted, this.#knowledge, settings).choices;
    const firstAt = this.#now() + (this.#choices.length > 0 ? AFTER_FIRST_BEATS_MS : 0);
    this.#questions = new Map([['list', newQuestion(firstAt)]]);
    onChange(this.#choices);
    this.#report();
    const end = (): void => {
      this.#cancelReport?.();
      this.#wake();
    };
    signal.addEventListener('abort', end);
    this.done = this.#run();
  }

  /** Asks everything again: the key or the configuration has changed. */
  refresh(next?: { readonly wanted: readonly Wanted[]; readonly settings: TimingSettings }): void {
    if (this.#options.signal.aborted) return;
    this.#questions = new Map();
    if (next !== undefined) {
      [this.#wanted, this.#settings] = [next.wanted, next.settings];
      this.#selection = new Selection(this.#wanted);
      this.#report();
    }
    this.#wake();
  }

  /** Its heartbeats are refused: what lists say counts now, or is asked again. */
  gone(id: number): void {
    const { ports, signal } = this.#options;
    if (signal.aborted) return;
    const before = this.#knowledge;
    this.#knowledge = learnGone(before, id, this.#now());
    if (this.#knowledge === before) return this.refresh();
    this.#cancelReport ??= ports.setTimer(TOGETHER_MS, () => this.#report());
  }

  relevantRows(body: unknown): unknown {
    return relevantRows(body, this.#selection, this.#knowledge.deployments);
  }

  /** Wanted by name, and no such deployment is known. They get no heartbeat. */
  missing(): MissingDeployment[] {
    const last = this.#questions.get('list')?.last;
    const { listed } = this.#knowledge;
    const denied = last?.kind === 'denied' ? 'the service has no list of deployments; use its id' : undefined;
    const failed = last && 'reason' in last ? last.reason : denied;
    const reason = failed ?? (listed ? 'no deployment has this name' : undefined);
    return this.#missing.map((name) => ({ name, reason }));
  }

  #now(): number {
    return this.#options.ports.clock.mono();
  }

  async #run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      const now = this.#now();
      this.#openQuestions(now);
      const { subject, dueAt } = this.#nextQuestion(now);
      const wait = Math.max(dueAt, this.#askedAt + BETWEEN_MS) - now;
      if (this.#wanted.length === 0) await this.#sleep(LONGEST_SLEEP_MS);
      else if (wait > 0) await this.#sleep(Math.min(wait, LONGEST_SLEEP_MS));
      else await this.#ask(subject);
    }
  }

  /** The list, and single deployments: all wanted ids while there is no list, and those that lists miss. */
  #openQuestions(now: number): void {
    const { listed, deployments } = this.#knowledge;
    const before = this.#questions;
    const list = before.get('list') ?? newQuestion(now);
    const noList = list.last !== undefined && list.last.kind !== 'refused';
    this.#questions = new Map([['list', list]]);
    const add = (id: number): unknown => this.#questions.set(id, before.get(id) ?? newQuestion(now));
    for (const id of this.#selection.ids) {
      const known = deployments.get(id);
      if (noList || (listed && (known === undefined || known.missingSince !== undefined))) add(id);
    }
    for (const known of deployments.values()) if (isDoubted(known, now) && !known.gone) add(known.id);
  }

  #nextQuestion(now: number): { readonly subject: Subject; readonly dueAt: number } {
    let next: { subject: Subject; dueAt: number } = { subject: 'list', dueAt: Infinity };
    for (const [subject, { dueAt }] of this.#questions) {
      if (subject === 'list' && dueAt <= now) return { subject, dueAt };
      if (dueAt < next.dueAt) next = { subject, dueAt };
    }
    return next;
  }

  #askedAgain({ failures }: Question, reply: Reply): Question {
    const now = this.#now();
    if (reply.kind === 'answered') return newQuestion(now + ASK_EVERY_MS);
    const pause = Math.min(LONGEST_PAUSE_MS[reply.kind], FIRST_PAUSE_MS * 2 ** Math.min(failures, 8));
    const dueAt = now + pause * (1 - JITTER * this.#options.ports.random());
    return { failures: failures + 1, last: reply, dueAt };
  }

  async #sleep(ms: number): Promise<void> {
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    const cancel = this.#options.ports.setTimer(ms, wake);
    this.#wake = wake;
    await promise;
    cancel();
  }

  async #ask(subject: Subject): Promise<void> {
    const { client, signal } = this.#options;
    this.#askedAt = this.#now();
    const reply = await ask(subject, client, signal);
    if (signal.aborted) return;
    this.#learn(subject, reply);
    // A refresh meanwhile forgot the question, so it is asked again at once.
    const question = this.#questions.get(subject);
    if (question) this.#questions.set(subject, this.#askedAgain(question, reply));
    this.#report();
  }

  #learn(subject: Subject, reply: Reply): void {
    const now = this.#now();
    if (reply.kind === 'answered' && subject === 'list') {
      this.#knowledge = learnList(this.#knowledge, reply.rows, this.#selection, now);
      for (const id of this.#knowledge.deployments.keys()) {
        if (this.#options.isGone(id)) this.#knowledge = learnGone(this.#knowledge, id, now);
      }
    } else if (reply.kind === 'answered') {
      for (const row of reply.rows) this.#knowledge = learnOne(this.#knowledge, row, this.#selection, now);
    } else if (reply.kind === 'denied' && reply.gone && subject !== 'list') {
      if (this.#options.isAlive(subject)) return;
      this.#knowledge = learnGone(this.#knowledge, subject, now);
    }
  }

  #report(): void {
    const { onChange, onNotice } = this.#options;
    this.#cancelReport?.();
    this.#cancelReport = undefined;
    const { choices, missing, findings } = resolve(this.#wanted, this.#knowledge, this.#settings);
    this.#missing = missing;
    if (JSON.stringify(choices) !== JSON.stringify(this.#choices)) {
      this.#choices = choices;
      onChange(choices);
    }
    const all = [...findings, ...this.#findingsOfQuestions()];
    for (const [type, found] of Map.groupBy(this.#unreported(all), (finding) => finding.type))
      onNotice({ type, found } as DiscoveryNotice);
  }

  #unreported(findings: readonly Finding[]): Finding[] {
    const now = this.#now();
    const current = new Map(findings.map((finding) => [keyOf(finding), finding]));
    for (const [key, at] of this.#reportedAt)
      if (!current.has(key) && now - at >= REPORT_AGAIN_MS) this.#reportedAt.delete(key);
    return [...current].flatMap(([key, finding]) => {
      const at = this.#reportedAt.get(key);
      if (at !== undefined && !(REMIND.has(finding.type) && now - at >= REMIND_EVERY_MS)) return [];
      this.#reportedAt.set(key, now);
      return [finding];
    });
  }

  #findingsOfQuestions(): Finding[] {
    const findings: Finding[] = [];
    // The reports count one for the list and one for all others.
    for (const [subject, { last }] of this.#questions) {
      const question = subject === 'list' ? 'list' : 'get';
      if (last && last.kind !== 'denied')
        findings.push({ type: 'unanswered', question, reason: last.reason });
    }
    const list = this.#questions.get('list');
    // A gateway may deny it for a moment.
    const isDenied = list?.last?.kind === 'denied' && list.failures > 1;
    if (!isDenied || this.#knowledge.listed) return findings;
    const names = this.#wanted.filter(({ by }) => by === 'name');
    return [...findings, ...names.map((one): Finding => ({ type: 'no-list', label: labelOf(one) }))];
  }
}

function newQuestion(dueAt: number): Question {
  return { dueAt, failures: 0, last: undefined };
}

export interface MissingDeployment {
  readonly name: string;
  /** Undefined: the service was not asked yet. */
  readonly reason: string | undefined;
}

type Subject = 'list' | number;

export type Reply =
  | { readonly kind: 'answered'; readonly rows: readonly Told[] }
  /** The service does not know such an operation or deployment. `gone`: in its own words, not a gateway's. */
  | { readonly kind: 'denied'; readonly gone: boolean }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unanswered'; readonly reason: string };

export type DeploymentClient = Pick<ClientOf<'deployments.list' | 'deployments.get'>, 'deployments'>;

/** The answer is read in one go, between two heartbeats: 16 MiB take up to half a second and 100 MB. */
const MAX_ANSWER_MEBIBYTES = 16;
/** The first failure is logged within 10 s of the start. */
const TIMEOUT_MS = 9_500;
const DENIALS: ReadonlySet<number> = new Set([404, 405, 501]);

/** Never rejects; after the signal the reply means nothing. */
export async function ask(subject: Subject, client: DeploymentClient, signal: AbortSignal): Promise<Reply> {
  const maxBytes = MAX_ANSWER_MEBIBYTES * 1024 * 1024;
  const callOptions = { signal, timeoutMs: TIMEOUT_MS, retry: false, maxBytes } as const;
  try {
    if (subject === 'list') {
      const { deployments } = await client.deployments.list({}, callOptions);
      return { kind: 'answered', rows: deployments };
    }
    const { deployment } = await client.deployments.get({ id: subject }, callOptions);
    if ((deployment.id ?? subject) !== subject)
      return { kind: 'unanswered', reason: FAILURE_WORDS['wrong-deployment'] };
    return { kind: 'answered', rows: [{ ...deployment, id: subject }] };
  } catch (error) {
    return replyOfError(error);
  }
}

function replyOfError(error: unknown): Reply {
  if (error instanceof UnauthorizedError) return { kind: 'refused', reason: describeFailure(error) };
  if (error instanceof ApiError && DENIALS.has(error.status))
    return { kind: 'denied', gone: error.meaning === 'not-found' };
  const isTooLarge = error instanceof TransportError && error.reason === 'too-large';
  const reason = isTooLarge
    ? `the list is larger than ${MAX_ANSWER_MEBIBYTES} MiB; give the deployment by its id`
    : describeFailure(error);
  return { kind: 'unanswered', reason };
}

/** The reason may change from one attempt to the next, which is not a new finding. */
function keyOf(finding: Finding): string {
  return finding.type === 'unanswered' ? `unanswered ${finding.question}` : JSON.stringify(finding);
}

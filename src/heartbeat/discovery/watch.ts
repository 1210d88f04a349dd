/** Watches which deployments to keep alive, and with which TTL: asks the service one question at a time. */
import type { Ports } from '../driver/ports.ts';
import {
  afterReply,
  ask,
  type DeploymentClient,
  newQuestion,
  nextQuestion,
  openQuestions,
  type Questions,
  type Reply,
  type Subject,
} from './questions.ts';
import {
  type Choice,
  type DiscoveryNotice,
  type Finding,
  FindingReports,
  resolve,
  type TimingSettings,
} from './resolve.ts';
import { learnGone, learnList, learnOne, NOTHING_KNOWN } from './knowledge.ts';
import { labelOf, relevantRows, Selection, type Wanted } from './wanted.ts';

export interface WatchOptions {
  readonly client: DeploymentClient;
  readonly wanted: readonly Wanted[];
  readonly settings: TimingSettings;
  readonly ports: Pick<Ports, 'clock' | 'random' | 'setTimer'>;
  readonly signal: AbortSignal;
  readonly onChange: (choices: readonly Choice[]) => void;
  readonly onNotice: (notice: DiscoveryNotice) => void;
  /** The service refuses its heartbeats as of a deployment that does not exist. */
  readonly isGone?: (id: number) => boolean;
  /** The service accepts its heartbeats, so it exists, whatever another backend says. */
  readonly isAlive?: (id: number) => boolean;
}

/** The first question would delay the first heartbeats, ms. */
const AFTER_FIRST_BEATS_MS = 100;
const LONGEST_SLEEP_MS = 10_000;
/** Each report goes through all deployments, so many that are gone are reported together, ms. */
const TOGETHER_MS = 100;
/** The public service takes most reads of a key every 3 s. */
const BETWEEN_MS = 3_000;

export class DeploymentWatch {
  readonly done: Promise<void>;
  readonly #options: WatchOptions;
  readonly #reports = new FindingReports();
  #wanted: readonly Wanted[];
  #settings: TimingSettings;
  #selection: Selection;
  #knowledge = NOTHING_KNOWN;
  #questions: Questions;
  #askedAt = -Infinity;
  #choices: readonly Choice[];
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
    signal.addEventListener('abort', end, { once: true });
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

  #now(): number {
    return this.#options.ports.clock.mono();
  }

  async #run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      const now = this.#now();
      this.#questions = openQuestions(this.#questions, this.#selection.ids, this.#knowledge, now);
      const { subject, dueAt } = nextQuestion(this.#questions, now);
      const wait = Math.max(dueAt, this.#askedAt + BETWEEN_MS) - now;
      if (this.#wanted.length === 0) await this.#sleep(LONGEST_SLEEP_MS);
      else if (wait > 0) await this.#sleep(Math.min(wait, LONGEST_SLEEP_MS));
      else await this.#ask(subject);
    }
  }

  async #sleep(ms: number): Promise<void> {
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    const cancel = this.#options.ports.setTimer(ms, wake);
    this.#wake = wake;
    await promise;
    cancel();
  }

  async #ask(subject: Subject): Promise<void> {
    const { client, ports, signal } = this.#options;
    this.#askedAt = this.#now();
    const reply = await ask(subject, client, signal);
    if (signal.aborted) return;
    this.#learn(subject, reply);
    // A refresh meanwhile forgot the question, so it is asked again at once.
    const question = this.#questions.get(subject);
    if (question) {
      const next = afterReply(question, reply, this.#now(), ports.random);
      this.#questions = new Map(this.#questions).set(subject, next);
    }
    this.#report();
  }

  #learn(subject: Subject, reply: Reply): void {
    const now = this.#now();
    if (reply.kind === 'answered' && subject === 'list') {
      this.#knowledge = learnList(this.#knowledge, reply.rows, this.#selection, now);
      for (const id of this.#knowledge.deployments.keys()) {
        if (this.#options.isGone?.(id)) this.#knowledge = learnGone(this.#knowledge, id, now);
      }
    } else if (reply.kind === 'answered') {
      for (const row of reply.rows) this.#knowledge = learnOne(this.#knowledge, row, this.#selection, now);
    } else if (reply.kind === 'denied' && reply.gone && subject !== 'list') {
      if (this.#options.isAlive?.(subject)) return;
      this.#knowledge = learnGone(this.#knowledge, subject, now);
    }
  }

  #report(): void {
    const { onChange, onNotice } = this.#options;
    this.#cancelReport?.();
    this.#cancelReport = undefined;
    const { choices, findings } = resolve(this.#wanted, this.#knowledge, this.#settings);
    if (JSON.stringify(choices) !== JSON.stringify(this.#choices)) {
      this.#choices = choices;
      onChange(choices);
    }
    const all = [...findings, ...this.#findingsOfQuestions()];
    for (const notice of this.#reports.newOf(all, this.#now())) onNotice(notice);
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

/**
 * Watches which deployments there are to beat, and with which TTL: asks the service, one question at a time, for as
 * long as it takes, and tells what changed. It decides nothing by itself: see question.ts for when it asks,
 * knowledge.ts for what an answer is worth, resolve.ts for what follows from it. The rate limit is the client's affair.
 */
import type { CancelTimer, Ports } from '../driver/ports.ts';
import { nextQuestion, openSingles, singles, type Subject } from './questions.ts';
import { exchange, type DeploymentClient } from './exchange.ts';
import { News, type Finding, type Remark } from './findings.ts';
import { learnGone, learnList, learnOne, NOTHING_KNOWN, type Told } from './knowledge.ts';
import { afterReply, newQuestion, type Question } from './question.ts';
import { relevantRows } from './relevant-rows.ts';
import type { Reply } from './reply.ts';
import { resolve, type Choice, type TimingSettings } from './resolve.ts';
import { labelOf, type Wanted } from './wanted.ts';

export interface WatchOptions {
  readonly client: DeploymentClient;
  readonly wanted: readonly Wanted[];
  readonly settings: TimingSettings;
  readonly ports: Pick<Ports, 'clock' | 'random' | 'setTimer'>;
  /** Ends it, a question under way included. */
  readonly signal: AbortSignal;
  /**
   * All deployments to beat: once in the constructor, with those that are wanted by id, and then whenever
   * any of them changes, comes or goes. Must not throw.
   */
  readonly onChange: (choices: readonly Choice[]) => void;
  /** What a person should know, each thing once. Must not throw. */
  readonly onRemark: (remark: Remark) => void;
  /** Whether the service has refused the heartbeats of this deployment as one that it does not know. */
  readonly isGone?: (id: number) => boolean;
}

/** The first heartbeats leave before the first question, which would delay them by what both share, ms. */
const AFTER_FIRST_BEATS_MS = 100;
/** The longest timer that the ports are asked for. */
const LONGEST_SLEEP_MS = 10_000;
/** From question to question: the public service takes most reads of a key every 3 s, ms. */
const BETWEEN_MS = 3_000;
/** A denial of the list that came twice is worth a word. */
const DENIALS_TO_SAY = 2;

export class DeploymentWatch {
  /** Resolves when the signal has fired and nothing is left of it. */
  readonly done: Promise<void>;
  readonly #options: WatchOptions;
  readonly #ended = Promise.withResolvers<void>();
  readonly #news = new News();
  #wanted: readonly Wanted[];
  #settings: TimingSettings;
  #knowledge = NOTHING_KNOWN;
  #list: Question;
  #open: ReadonlyMap<number, Question> = new Map();
  #askedAt = -Infinity;
  #choices: readonly Choice[];
  /** Why questions went unanswered last. */
  readonly #reasons = { list: '', get: '' };
  /** How often everything was asked again. An answer to an earlier question does not count: it is asked once more. */
  #round = 0;
  #asking = false;
  #cancelTimer: CancelTimer | undefined;

  constructor(options: WatchOptions) {
    const { wanted, settings, signal, onChange } = options;
    this.#options = options;
    this.done = this.#ended.promise;
    this.#wanted = wanted;
    this.#settings = settings;
    signal.addEventListener('abort', () => this.#end(), { once: true });
    this.#choices = resolve(wanted, this.#knowledge, settings).choices;
    this.#list = newQuestion(this.#now() + (this.#choices.length > 0 ? AFTER_FIRST_BEATS_MS : 0));
    onChange(this.#choices);
    this.#tell();
    this.#pump();
    if (signal.aborted) this.#end();
  }

  /** As told last. */
  get choices(): readonly Choice[] {
    return this.#choices;
  }

  /** Asks everything again: the key has changed, or the configuration was read again and may want others. */
  refresh(next?: { readonly wanted: readonly Wanted[]; readonly settings: TimingSettings }): void {
    if (this.#options.signal.aborted) return;
    if (next !== undefined) [this.#wanted, this.#settings] = [next.wanted, next.settings];
    this.#round += 1;
    const now = this.#now();
    this.#list = newQuestion(now);
    this.#open = new Map();
    this.#tell();
    this.#pump();
  }

  /** Of the body of a list, what it is asked for. */
  relevantRows(body: unknown): unknown {
    return relevantRows(body, this.#wanted, this.#knowledge);
  }

  #now(): number {
    return this.#options.ports.clock.mono();
  }

  #end(): void {
    this.#cancelTimer?.();
    if (!this.#asking) this.#ended.resolve();
  }

  /** Asks what is due, or waits until something is. */
  #pump(): void {
    const { signal, ports } = this.#options;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (signal.aborted || this.#asking || this.#wanted.length === 0) return;
    const now = this.#now();
    const keyRefused = this.#reasons.list === 'unauthorized';
    const ids = singles(this.#wanted, this.#knowledge, this.#list, keyRefused, now);
    this.#open = openSingles(this.#open, ids, now);
    const { subject, dueAt } = nextQuestion(this.#list, this.#open, now);
    const wait = Math.max(dueAt, this.#askedAt + BETWEEN_MS) - now;
    if (wait > 0) this.#cancelTimer = ports.setTimer(Math.min(wait, LONGEST_SLEEP_MS), () => this.#pump());
    else void this.#ask(subject);
  }

  async #ask(subject: Subject): Promise<void> {
    const { client, ports, signal } = this.#options;
    const round = this.#round;
    this.#asking = true;
    this.#askedAt = this.#now();
    const reply = await exchange(subject, client, signal);
    if (signal.aborted) return this.#ended.resolve();
    this.#asking = false;
    this.#take(subject, reply);
    this.#setQuestion(subject, (question) => {
      const next = afterReply(question, reply.kind, this.#now(), ports.random);
      return round === this.#round ? next : { ...next, dueAt: this.#now() };
    });
    this.#tell();
    this.#pump();
  }

  #take(subject: Subject, reply: Reply): void {
    const now = this.#now();
    if (reply.kind === 'unanswered') {
      this.#reasons[subject === 'list' ? 'list' : 'get'] = reply.reason;
      return;
    }
    if (reply.kind === 'answered') this.#learn(subject, reply.rows);
    else if (subject !== 'list' && reply.gone) this.#knowledge = learnGone(this.#knowledge, subject, now);
  }

  #learn(subject: Subject, rows: readonly Told[]): void {
    const now = this.#now();
    if (subject !== 'list') {
      for (const row of rows) this.#knowledge = learnOne(this.#knowledge, row, this.#wanted, now);
      return;
    }
    this.#knowledge = learnList(this.#knowledge, rows, this.#wanted, now);
    for (const { id, missing } of this.#knowledge.deployments.values()) {
      if (missing !== undefined && this.#options.isGone?.(id))
        this.#knowledge = learnGone(this.#knowledge, id, now);
    }
  }

  #setQuestion(subject: Subject, change: (question: Question) => Question): void {
    if (subject === 'list') this.#list = change(this.#list);
    else {
      const question = this.#open.get(subject) ?? newQuestion(this.#now());
      this.#open = new Map(this.#open).set(subject, change(question));
    }
  }

  /** Tells what follows from all that is known now, as far as it is new. */
  #tell(): void {
    const { onChange, onRemark } = this.#options;
    const resolution = resolve(this.#wanted, this.#knowledge, this.#settings);
    const findings = [...resolution.findings, ...this.#findingsOfQuestions()];
    if (!sameChoices(this.#choices, resolution.choices)) {
      this.#choices = resolution.choices;
      onChange(this.#choices);
    }
    for (const remark of this.#news.of(findings, this.#now())) onRemark(remark);
  }

  #findingsOfQuestions(): Finding[] {
    const findings: Finding[] = [];
    const { misses, denials } = this.#list;
    if (misses > 0) findings.push({ type: 'unanswered', question: 'list', reason: this.#reasons.list });
    if (this.#open.values().some((question) => question.misses > 0)) {
      findings.push({ type: 'unanswered', question: 'get', reason: this.#reasons.get });
    }
    if (denials < DENIALS_TO_SAY || this.#knowledge.listed) return findings;
    const names = this.#wanted.filter(({ by }) => by === 'name');
    return [...findings, ...names.map((one): Finding => ({ type: 'no-list', label: labelOf(one) }))];
  }
}

function sameChoices(before: readonly Choice[], after: readonly Choice[]): boolean {
  return (
    before.length === after.length &&
    before.every((one, index) => {
      const other = after[index];
      return (
        one.id === other?.id &&
        one.ttl === other.ttl &&
        one.interval === other.interval &&
        one.name === other.name &&
        one.tag === other.tag &&
        one.ttlFrom === other.ttlFrom
      );
    })
  );
}

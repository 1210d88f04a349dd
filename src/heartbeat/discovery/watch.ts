/**
 * Watches which deployments there are to beat, and with which TTL: asks the service, one question at a time, for as
 * long as it takes, and tells what changed. It decides nothing by itself: see question.ts for when it asks,
 * pace.ts for how fast, knowledge.ts for what an answer is worth, resolve.ts for what follows from it.
 */
import type { CancelTimer, Ports } from '../driver/ports.ts';
import { nextQuestion, openSingles, singles, type Subject } from './questions.ts';
import { exchange, type DeploymentClient } from './exchange.ts';
import { News, type Finding, type Remark } from './findings.ts';
import { learnGone, learnList, learnOne, NOTHING_KNOWN } from './knowledge.ts';
import { afterStart, afterTaken, afterThrottle, USUAL_PACE } from './pace.ts';
import { afterReply, newQuestion, type Question } from './question.ts';
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
   * All deployments to beat: once before watchDeployments returns, with those that are wanted by id, and then whenever
   * any of them changes, comes or goes. Must not throw.
   */
  readonly onChange: (choices: readonly Choice[]) => void;
  /** What somebody should know, each thing once. Must not throw. */
  readonly onRemark: (remark: Remark) => void;
  /** Whether the service has refused the heartbeats of this deployment as one that it does not know. */
  readonly isGone?: (id: number) => boolean;
}

export interface DeploymentWatch {
  /** As told last. */
  readonly choices: readonly Choice[];
  /** Asks everything anew: the key has changed, or the configuration was read again and may want others. */
  refresh(next?: { readonly wanted: readonly Wanted[]; readonly settings: TimingSettings }): void;
  /** Resolves when the signal has fired and nothing is left of it. */
  readonly done: Promise<void>;
}

/** Ports are asked for no longer timers. */
const LONGEST_SLEEP_MS = 10_000;
/** A denial of the list that came twice is worth a word. */
const DENIALS_TO_SAY = 2;

export function watchDeployments(options: WatchOptions): DeploymentWatch {
  const { client, ports, signal } = options;
  const { random, setTimer } = ports;
  const now = (): number => ports.clock.mono();
  const done = Promise.withResolvers<void>();
  const news = new News();
  let { wanted, settings } = options;
  let knowledge = NOTHING_KNOWN;
  let list: Question = newQuestion(now());
  let open: ReadonlyMap<number, Question> = new Map();
  let pace = USUAL_PACE;
  let choices: readonly Choice[] = [];
  /** Why questions went unanswered last. */
  const reasons = { list: '', get: '' };
  /** How often everything was asked anew. An answer to an earlier question is asked for again. */
  let round = 0;
  let asking = false;
  let cancelTimer: CancelTimer | undefined;

  function refresh(next?: { readonly wanted: readonly Wanted[]; readonly settings: TimingSettings }): void {
    if (signal.aborted) return;
    if (next !== undefined) ({ wanted, settings } = next);
    round += 1;
    // A person who asks for it does not wait for what an answer asked for earlier.
    pace = { ...pace, notBefore: Math.min(pace.notBefore, now() + pace.spacing) };
    list = newQuestion(now());
    open = new Map();
    tell();
    pump();
  }

  /** Asks what is due, or waits until something is. */
  function pump(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    if (signal.aborted || asking || wanted.length === 0) return;
    const ids = singles(wanted, knowledge, list, reasons.list === 'unauthorized', now());
    open = openSingles(open, ids, now());
    const { subject, dueAt } = nextQuestion(list, open, now());
    const wait = Math.max(dueAt, pace.notBefore) - now();
    if (wait > 0) cancelTimer = setTimer(Math.min(wait, LONGEST_SLEEP_MS), pump);
    else ask(subject);
  }

  function ask(subject: Subject): void {
    const asked = round;
    asking = true;
    pace = afterStart(pace, now());
    const onReply = (reply: Reply): void => {
      asking = false;
      take(subject, reply);
      setQuestion(subject, (question) => {
        const next = afterReply(question, reply.kind, now(), random);
        return asked === round ? next : { ...next, dueAt: now() };
      });
      tell();
      pump();
    };
    void exchange(subject, { client, setTimer, signal, onReply }).finally(() => {
      if (signal.aborted) done.resolve();
    });
  }

  function take(subject: Subject, reply: Reply): void {
    if (reply.kind === 'unanswered') {
      reasons[subject === 'list' ? 'list' : 'get'] = reply.reason;
      if (reply.throttle) pace = afterThrottle(pace, reply.throttle, now(), random);
      return;
    }
    pace = afterTaken(pace);
    if (reply.kind === 'denied') {
      if (subject !== 'list' && reply.gone) knowledge = learnGone(knowledge, subject, now());
      return;
    }
    if (subject !== 'list') {
      for (const row of reply.rows) knowledge = learnOne(knowledge, row, wanted);
      return;
    }
    knowledge = learnList(knowledge, reply.rows, wanted, now());
    for (const { id, missing } of knowledge.deployments.values()) {
      if (missing !== undefined && options.isGone?.(id)) knowledge = learnGone(knowledge, id, now());
    }
  }

  function setQuestion(subject: Subject, change: (question: Question) => Question): void {
    if (subject === 'list') list = change(list);
    else open = new Map(open).set(subject, change(open.get(subject) ?? newQuestion(now())));
  }

  /** Tells what follows from all that is known now, as far as it is new. */
  function tell(): void {
    const resolution = resolve(wanted, knowledge, settings);
    const findings = [...resolution.findings, ...findingsOfQuestions()];
    if (!sameChoices(choices, resolution.choices)) {
      choices = resolution.choices;
      options.onChange(choices);
    }
    for (const remark of news.of(findings, now())) options.onRemark(remark);
  }

  function findingsOfQuestions(): Finding[] {
    const findings: Finding[] = [];
    if (list.misses > 0) findings.push({ type: 'unanswered', question: 'list', reason: reasons.list });
    if (open.values().some(({ misses }) => misses > 0)) {
      findings.push({ type: 'unanswered', question: 'get', reason: reasons.get });
    }
    if (list.denials < DENIALS_TO_SAY || knowledge.listed) return findings;
    const names = wanted.filter(({ by }) => by === 'name');
    return [...findings, ...names.map((one): Finding => ({ type: 'no-list', label: labelOf(one) }))];
  }

  signal.addEventListener(
    'abort',
    () => {
      cancelTimer?.();
      if (!asking) done.resolve();
    },
    { once: true },
  );
  choices = resolve(wanted, knowledge, settings).choices;
  options.onChange(choices);
  tell();
  pump();
  if (signal.aborted) done.resolve();

  return {
    get choices() {
      return choices;
    },
    refresh,
    done: done.promise,
  };
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

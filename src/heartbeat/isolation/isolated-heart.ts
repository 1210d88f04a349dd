/**
 * The heartbeats in a thread of their own, seen from the daemon: log handling, metrics or the status page may
 * stall this thread or throw in it, and no heartbeat is late. A thread that ends by itself is started again with
 * the same deployments, which begin anew.
 */
import type { DeploymentChoice } from '../driver.ts';
import { timingFor } from '../formulas.ts';
import { joinFigures, selectFigures, type DeploymentFigures } from '../figures.ts';
import type { Heart, HeartOptions } from '../heart.ts';
import { emptyLedger } from '../ledger.ts';
import { startHeartbeat } from '../machine.ts';
import { viewDeployment, type DeploymentView } from '../view.ts';
import type { Message, Order, Report } from './protocol.ts';
import { beginHeartbeats, tickTime, type Beating } from './thread.ts';

/** A thread that lives shorter than this is started again more slowly each time, ms. */
const SHORT_LIFE = 10_000;
const FIRST_WAIT = 100;
const LONGEST_WAIT = 5_000;
/** How long an order that takes no network is waited for, ms. */
const PATIENCE = 1_000;

/** What an order was answered with. `ids` as in the message that it is done. */
interface Answer {
  readonly views: readonly DeploymentView[];
  readonly figures: readonly DeploymentFigures[];
  readonly ids: readonly number[];
}

interface Pending {
  readonly views: DeploymentView[];
  readonly figures: DeploymentFigures[];
  readonly settle: (ids: readonly number[] | undefined) => void;
}

/** @param begun A thread that beats already, for the deployments that it was born with. */
export function openIsolatedHeart(options: HeartOptions, begun?: Beating): Heart {
  const { apiKey, listener } = options;
  const choices = new Map<number, DeploymentChoice>();
  const pending = new Map<number, Pending>();
  /** What the thread told last; shown again when it does not answer. */
  const known = new Map<number, DeploymentView>();
  let knownFigures: DeploymentFigures = new Float64Array();
  let requests = 0;
  let stopping = false;
  let bornAt = performance.now();
  let wait = FIRST_WAIT;
  let again: NodeJS.Timeout | undefined;
  let beating: Beating | undefined;
  const lastTickAt = begun?.birth.lastTickAt ?? tickTime();
  for (const choice of begun?.birth.deployments ?? []) choices.set(choice.id, choice);
  listen(begun ?? begin());

  function begin(): Beating {
    bornAt = performance.now();
    return beginHeartbeats({
      baseUrl: options.baseUrl,
      key: apiKey.current(),
      keyFile: apiKey.file(),
      deployments: [...choices.values()],
      lastTickAt,
    });
  }

  function listen(to: Beating): void {
    beating = to;
    to.port.on('message', (message: Message) => hear(message));
    void to.ended.then(ended);
  }

  function ended(error: Error): void {
    beating = undefined;
    for (const { settle } of pending.values()) settle(undefined);
    if (stopping) return;
    wait = performance.now() - bornAt < SHORT_LIFE ? Math.min(LONGEST_WAIT, wait * 2) : FIRST_WAIT;
    again = setTimeout(() => listen(begin()), wait);
    listener.crashed(error, wait);
  }

  function hear(message: Message): void {
    switch (message.type) {
      case 'reports':
        order({ type: 'next' });
        if (message.missed > 0) listener.missed(message.missed);
        for (const report of message.reports) pass(report);
        return;
      case 'key':
        return apiKey.replace(message.key, apiKey.file());
      case 'views':
        pending.get(message.request)?.views.push(...message.views);
        return;
      case 'figures':
        pending.get(message.request)?.figures.push(message.figures);
        return;
      case 'done':
        return pending.get(message.request)?.settle(message.ids);
    }
  }

  function pass(report: Report): void {
    if (report.type === 'exchange') listener.exchange(report.event);
    else listener.notice(report.deploymentId, report.notice, report.at);
  }

  /** An order to a thread that has just ended is lost; what it was about is in the birth of the next. */
  function order(what: Order): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    beating?.port.postMessage(what);
  }

  /** Resolves with undefined when no answer came, because the thread ended or took too long. */
  async function ask(limitMs: number, what: (request: number) => Order): Promise<Answer | undefined> {
    if (beating === undefined) return undefined;
    const request = (requests += 1);
    const { promise, resolve } = Promise.withResolvers<readonly number[] | undefined>();
    const views: DeploymentView[] = [];
    const figures: DeploymentFigures[] = [];
    pending.set(request, { views, figures, settle: resolve });
    const timer = setTimeout(() => resolve(undefined), limitMs);
    order(what(request));
    const ids = await promise;
    clearTimeout(timer);
    pending.delete(request);
    return ids && { ids, views, figures };
  }

  function lastSeen(choice: DeploymentChoice): DeploymentView {
    return known.get(choice.id) ?? unheardOf(choice);
  }

  return {
    add(choice) {
      const now = choices.get(choice.id);
      if (now?.ttl === choice.ttl && now?.interval === choice.interval) return;
      choices.set(choice.id, choice);
      order({ type: 'add', choice });
    },
    remove(deploymentId) {
      choices.delete(deploymentId);
      known.delete(deploymentId);
      order({ type: 'remove', deploymentId });
    },
    async keyChanged() {
      await ask(PATIENCE, (request) => ({
        type: 'key',
        request,
        key: apiKey.current(),
        keyFile: apiKey.file(),
      }));
    },
    lastTickAt: () => lastTickAt[0] ?? 0,
    async view() {
      const answer = await ask(PATIENCE, (request) => ({ type: 'view', request }));
      for (const view of answer?.views ?? []) known.set(view.deploymentId, view);
      return Array.from(choices.values(), (choice) => lastSeen(choice));
    },
    async figures() {
      const answer = await ask(PATIENCE, (request) => ({ type: 'figures', request }));
      if (answer) knownFigures = joinFigures(answer.figures);
      return selectFigures(knownFigures, [...choices.values()], lastSeen);
    },
    async finalBeat(limitMs) {
      const answer = await ask(limitMs + PATIENCE, (request) => ({ type: 'final-beat', request, limitMs }));
      return [...(answer?.ids ?? choices.keys())];
    },
    async stop() {
      stopping = true;
      clearTimeout(again);
      await ask(2 * PATIENCE, (request) => ({ type: 'stop', request }));
      await beating?.worker.terminate();
    },
  };
}

/** A deployment that the thread has not told of yet. */
function unheardOf(choice: DeploymentChoice): DeploymentView {
  const now = { mono: performance.now(), wall: Date.now() };
  const timing = timingFor(choice);
  return viewDeployment(
    startHeartbeat({ id: choice.id, timing, spread: 0, dueAt: now.mono, keyGeneration: 1 }, now),
    emptyLedger(),
    now,
  );
}

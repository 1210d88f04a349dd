/**
 * A heart of another thread, seen from this one: log handling, metrics or the status page may stall this thread or
 * end it, and no heartbeat is late. What cannot be asked for in time is shown as it was known last.
 */
import type { DeploymentChoice } from '../driver.ts';
import { timingFor } from '../formulas.ts';
import { joinFigures, selectFigures, type DeploymentFigures } from '../figures.ts';
import type { Heart, HeartOptions } from '../heart.ts';
import { emptyLedger } from '../ledger.ts';
import { startHeartbeat } from '../machine.ts';
import { viewDeployment, type DeploymentView } from '../view.ts';
import type { HeartLink, Message, Order, Report } from './protocol.ts';

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

/** To stop it ends the link; the heartbeats go on. */
export function openIsolatedHeart(
  { port, deployments, lastTickAt }: HeartLink,
  options: HeartOptions,
): Heart {
  const { apiKey, listener } = options;
  const choices = new Map(deployments.map((choice) => [choice.id, choice]));
  const pending = new Map<number, Pending>();
  /** What the thread told last; shown again when it does not answer. */
  const known = new Map<number, DeploymentView>();
  let knownFigures: DeploymentFigures = new Float64Array();
  let requests = 0;
  port.on('message', hear);

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

  function order(what: Order): void {
    port.postMessage(what);
  }

  /** Resolves with undefined when no answer came in time. */
  async function ask(limitMs: number, what: (request: number) => Order): Promise<Answer | undefined> {
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
    choices: () => [...choices.values()],
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
    stop() {
      port.close();
      return Promise.resolve();
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

/**
 * Advice in the daemon: by its schedule, for each endpoint that is watched, first once there are six hours of history;
 * and whenever steering asks. One at a time, each in a process of its own. With replicas only the one that watches does.
 */
import type { Logger } from 'pino';
import type { Settings } from '../../config/options/options.ts';
import { inOneLine } from '../../contract/text/controls.ts';
import { resolvedParameters } from '../../fleet/advice/parameters.ts';
import type { EndpointView, Fleet } from '../../fleet/view.ts';
import type { Advice } from '../../scaling/advice/advice.ts';
import type { SearchBounds } from '../../scaling/planner/search/search-space.ts';
import type { ResolvedParameters } from '../../scaling/rules/findings.ts';
import { startJob, type Job, type JobView } from '../../watch/job.ts';
import type { AdviceAnswer, ComputeAdvice } from './compute.ts';
import { recordedOf, WINDOW_MS } from './history.ts';

/** History that there is before the first advice, ms. */
const LEAST_HISTORY_MS = 6 * 3_600_000;
/** Between two looks at whether there is enough, ms. */
const LOOK_EVERY_MS = 600_000;
/** Longest between two tries to compute a first one, ms: what fails each time is no reason to keep a core busy. */
const LONGEST_PAUSE_MS = 24 * 3_600_000;
/** Longest that all of them may take, ms: each has its own limit, and tomorrow is another night. */
const TIMEOUT_MS = 23 * 3_600_000;

type AdviceSettings = Pick<Settings, 'adviceSchedule' | 'adviceP99' | 'endpoints'>;

export interface AdviceOptions {
  readonly fleet: Pick<Fleet, 'view' | 'history'>;
  readonly settings: AdviceSettings;
  readonly logger: Logger;
  /** Whether this replica may; without it, it is the only one. */
  readonly mayRun?: (() => boolean) | undefined;
  readonly compute: ComputeAdvice;
  /** Unix ms. */
  readonly now: () => number;
}

/** What steering asks: from the parameters of just now, within what it may reach. */
export interface AdviceAsked {
  readonly endpoint: string;
  readonly parameters: ResolvedParameters;
  /** Where steering knows it; the watch may know of a later change. Unix ms. */
  readonly parametersSinceMs: number | undefined;
  readonly bounds: SearchBounds;
  /** Nobody looks at it before it is carried out. */
  readonly isCautious: boolean;
}

export interface AdviceService {
  /** The last advice of each endpoint, by its label. */
  latest(endpoint: string): Advice | undefined;
  /** What its schedule brought: a run has failed where the advice on any endpoint could not be computed. */
  job(): JobView;
  /** @throws Where it could not be computed, or the signal aborts. */
  ask(asked: AdviceAsked, signal: AbortSignal): Promise<Advice>;
  apply(settings: AdviceSettings): Promise<void>;
  stop(): Promise<void>;
}

export function startAdvice(options: AdviceOptions): AdviceService {
  const { fleet, logger, compute, now } = options;
  const kept = new Map<string, Advice>();
  const stopping = new AbortController();
  let settings = options.settings;
  let turn: Promise<unknown> = Promise.resolve();
  let job = startScheduled();
  let looking: Promise<void> | undefined;
  /** Of which a first advice could not be computed: how long to wait, ms, and until when, Unix ms. */
  const failed = new Map<string, { readonly pauseMs: number; readonly untilMs: number }>();
  /** What was said to keep the history from being advised upon. */
  let saidTrouble: string | undefined;
  const timer = setInterval(() => {
    looking ??= lookForFirsts().finally(() => (looking = undefined));
  }, LOOK_EVERY_MS).unref();

  function startScheduled(): Job {
    return startJob({
      name: 'advice',
      schedule: scheduleOf(settings),
      timeoutMs: TIMEOUT_MS,
      // The history may just not be read yet, and the daemon be restarted often.
      runsAtStart: false,
      now,
      mayRun: options.mayRun,
      async run(signal) {
        const without: string[] = [];
        for (const endpoint of fleet.view().endpoints) {
          if (!(await tryOn(endpoint, signal, 'on schedule'))) without.push(endpoint.endpoint);
          signal.throwIfAborted();
        }
        if (without.length > 0)
          throw new Error(`no advice could be computed on ${inOneLine(without.join(', '))}`);
      },
      onFailure: (error) => logger.warn({ err: error }, 'advice was not computed for all endpoints'),
    });
  }

  /** Those of which there is no advice yet, once there is enough of their history. */
  async function lookForFirsts(): Promise<void> {
    for (const endpoint of fleet.view().endpoints) {
      if (scheduleOf(settings) === 'off' || kept.has(endpoint.endpoint) || options.mayRun?.() === false)
        continue;
      if (!stopping.signal.aborted) await tryFirst(endpoint);
    }
  }

  /** Each time that it fails it is left alone for twice as long. */
  async function tryFirst(endpoint: EndpointView): Promise<void> {
    const before = failed.get(endpoint.endpoint);
    const nowMs = now();
    if (before && nowMs < before.untilMs) return;
    const pauseMs = Math.min(before ? 2 * before.pauseMs : LOOK_EVERY_MS, LONGEST_PAUSE_MS);
    const isDone = await tryOn(endpoint, stopping.signal, `in ${pauseMs / 60_000} min`);
    if (isDone) failed.delete(endpoint.endpoint);
    // Looks are not to the millisecond.
    else failed.set(endpoint.endpoint, { pauseMs, untilMs: nowMs + pauseMs - LOOK_EVERY_MS / 2 });
  }

  /** One that cannot be computed keeps no other from being so. Never rejects. @returns Whether it did not fail. */
  async function tryOn(endpoint: EndpointView, signal: AbortSignal, again: string): Promise<boolean> {
    try {
      await adviseOn(endpoint, signal);
      return true;
    } catch (error) {
      if (signal.aborted || stopping.signal.aborted) return true;
      logger.warn(
        { endpoint: endpoint.endpoint, err: error },
        `advice could not be computed; it is tried again ${again}`,
      );
      return false;
    }
  }

  async function adviseOn(view: EndpointView, signal: AbortSignal): Promise<void> {
    const { endpoint } = view;
    const nowMs = now();
    const parameters = resolvedParameters(view.parameters);
    if (!parameters) return;
    if (!(await hasHistory(endpoint, nowMs))) {
      sayTrouble();
      return;
    }
    const asked = { endpoint, parameters, parametersSinceMs: undefined, bounds: {}, isCautious: false };
    const advice = await answer(view, asked, signal);
    kept.set(endpoint, advice);
    logger.info({ endpoint, verdict: advice.verdict, advice: advice.sentence }, 'advice');
  }

  async function hasHistory(endpoint: string, nowMs: number): Promise<boolean> {
    const rows = await fleet.history({ endpoint, fromMs: nowMs - WINDOW_MS, toMs: nowMs, maxRows: 16 });
    return (rows[0]?.fromMs ?? nowMs) <= nowMs - LEAST_HISTORY_MS;
  }

  /** Less history than advice needs is no news in the first hours; one that cannot be read is, once. */
  function sayTrouble(): void {
    const { historyTrouble: trouble } = fleet.view();
    if (trouble !== undefined && trouble !== saidTrouble)
      logger.warn({ trouble }, 'no advice: the history of endpoints cannot be used');
    saidTrouble = trouble;
  }

  /** One after the other: two at once would take twice the memory. */
  function answer(view: EndpointView, asked: AdviceAsked, signal: AbortSignal): Promise<Advice> {
    const either = AbortSignal.any([signal, stopping.signal]);
    const next = turn.then(async () => {
      either.throwIfAborted();
      const { parameters, bounds, isCautious } = asked;
      const parametersSinceMs = latestOf(asked.parametersSinceMs, view.parametersSinceMs);
      const nowMs = now();
      const known = { endpoint: view, parameters, parametersSinceMs, nowMs };
      const recorded = await recordedOf(fleet, known, either);
      const limitSeconds = settings.adviceP99 === undefined ? undefined : settings.adviceP99 / 1000;
      const question = { recorded, wishes: { nowMs, limitSeconds }, bounds, isCautious };
      return adviceIn(await compute(question, either));
    });
    turn = next.catch(() => {});
    return next;
  }

  return {
    latest: (endpoint) => kept.get(endpoint),
    job: () => job.view(),
    async ask(asked, signal) {
      const view = fleet.view().endpoints.find(({ endpoint }) => endpoint === asked.endpoint);
      if (!view) throw new Error(`endpoint ${asked.endpoint} is not watched`);
      return await answer(view, asked, signal);
    },
    async apply(next) {
      const isOther = scheduleOf(next) !== scheduleOf(settings);
      settings = next;
      if (!isOther) return;
      await job.stop();
      job = startScheduled();
    },
    async stop() {
      stopping.abort(new Error('stopping'));
      clearInterval(timer);
      await job.stop();
      await turn;
    },
  };
}

/** Without endpoints there is nothing to be advised on, and none of it is said to have succeeded. */
function scheduleOf({ adviceSchedule, endpoints }: AdviceSettings): string {
  return endpoints.length === 0 ? 'off' : adviceSchedule;
}

/** Where two have seen them change, what ran before the later moment may have run by others. */
function latestOf(...moments: readonly (number | undefined)[]): number | undefined {
  const known = moments.filter((moment) => moment !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** What others keep of it. */
function adviceIn({ report }: AdviceAnswer): Advice {
  const { endpoint, atMs, fromMs, toMs, limitSeconds, verdict, sentence, backtest, today, best } = report;
  return {
    endpoint,
    atMs,
    fromMs,
    toMs,
    limitSeconds,
    verdict,
    sentence,
    backtest: backtest && { errorRatio: backtest.errorRatio, held: backtest.held },
    today,
    best,
  };
}

/**
 * Advice on the parameters of an endpoint, from what was recorded of it: first the parameters that were set, run over the
 * recorded load, beside what really was; then a search for a cheaper set. Pure, and long.
 */
import { estimateOf } from '../planner/estimate.ts';
import type { RecordedLoad } from '../planner/load/load.ts';
import { Simulation } from '../planner/model/simulation.ts';
import type { PlanSeries } from '../planner/model/time-series.ts';
import type { OpenRunner } from '../planner/search/runner.ts';
import type { PlanSettings } from '../planner/settings.ts';
import type { SearchBounds } from '../planner/search/search-space.ts';
import type { ResolvedParameters } from '../rules/findings.ts';
import { rulesKept } from '../rules/kept-rules.ts';
import { knownOf, REQUEST_SIZE, type Known } from './assumptions.ts';
import { rateOf, type RecordedRate } from './load/rate.ts';
import { backtestOf, ONE_SEED, type MeasuredBacktest } from './backtest/measured-backtest.ts';
import { offByChance } from './doubts/chance.ts';
import { turnsOnColdPrice } from './doubts/cold-price.ts';
import { turnsOnDelays } from './doubts/other-delays.ts';
import { lackOfHistory, lackOfRequests, lackOfTrace } from './evidence.ts';
import { outcomeOf, predictionOf } from './prediction.ts';
import type { Recorded, Wishes } from './recorded.ts';
import type { AdviceReport } from './report.ts';
import { fittingSize, LoadMaker, sceneOf, seedsThatMatter, type SceneSource } from './scenes.ts';
import { select } from './selection.ts';
import { mostMoving, sensitivityOf } from './doubts/sensitivity.ts';
import * as sentence from './sentence.ts';

export interface AdviceStep {
  readonly doing: 'backtest' | 'search' | 'comparison';
  /** Of the whole, 0 to 1, never falling. */
  readonly share: number;
}

export interface AdviceOptions {
  /** Instead of the recorded load: requests as they really came. */
  readonly trace?: RecordedLoad | undefined;
  /** Of what may be advised. */
  readonly bounds?: SearchBounds | undefined;
  /** For a change that nobody looks at first: the advised set keeps the limit also where starts take twice as long. */
  readonly isCautious?: boolean | undefined;
  /** Who runs the trials of the search; without it this thread. */
  readonly openRunner?: OpenRunner | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: (step: AdviceStep) => void;
}

/** Of the two sets side by side. */
const MORE_SEEDS = [1, 2, 3, 4, 5];
/** A cost, and what of it is left after a change, may be off by such a share by chance alone: as far as a backtest may be. */
const MOST_CHANCE = 0.25;
/** Where each part begins, of the whole. */
const SEARCH_FROM = 0.05;
const COMPARISON_FROM = 0.85;

/** @throws the signal's reason once it is aborted */
export async function advise(
  recorded: Recorded,
  wishes: Wishes,
  options: AdviceOptions = {},
): Promise<AdviceReport> {
  const { trace, bounds, isCautious = false, openRunner, signal, progress } = options;
  const rate = rateOf(recorded.stretches);
  const nothing = nothingSaid(recorded, wishes, rate);
  const declined = (why: string, more: Partial<AdviceReport> = {}): AdviceReport => ({
    ...nothing,
    ...more,
    sentence: why.startsWith('declined') ? why : `declined: ${why}`,
  });

  const lacking = lackOfHistory(recorded, rate) ?? (trace && lackOfTrace(trace));
  if (lacking !== undefined) return declined(lacking);
  const known = knownOf(recorded, wishes);
  if (typeof known === 'string') return declined(known);
  const { assumptions, isColdAssumed } = known;
  const source = sourceOf(known, rate);
  const searched = { ...source, trace };
  const requests = sceneOf(searched, 1).load.length;
  const load = { ...nothing.load, requests };
  const tooFew = lackOfRequests(requests, source.size);
  if (tooFew !== undefined) return declined(tooFew, { assumptions, load });

  progress?.({ doing: 'backtest', share: 0 });
  const runBack = backtestOf(recorded, source);
  // What was recorded has no price in it that nobody told.
  const { recordedPriceCold: priceCold } = known;
  const testBack: MeasuredBacktest = (settings, seeds) => runBack({ ...settings, priceCold }, seeds);
  const tested = testBack(source.settings);
  if (!tested) return declined(sentence.tooShortSentence(recorded.parametersSinceMs), { assumptions });
  const sized = { ...nothing, assumptions, backtest: tested };
  if (!tested.held) return declined(sentence.backtestSentence(tested), sized);

  const { limitSeconds } = nothing;
  const { parameters } = recorded;
  const {
    verdict,
    best: chosen,
    because,
    tried,
  } = await select({
    parameters,
    limitSeconds,
    source: searched,
    bounds,
    // What a check of it would warn of at once is no advice, but where it would of today's set as well.
    allows: rulesKept(parameters, { workerPerformance: usualPerformance(recorded, known) }),
    isCautious,
    openRunner,
    signal,
    progress: (share) =>
      progress?.({ doing: 'search', share: SEARCH_FROM + share * (COMPARISON_FROM - SEARCH_FROM) }),
  });
  const shown = { ...sized, tried, load };
  if (!chosen) {
    const size = assumptions.find(({ name }) => name === REQUEST_SIZE);
    return declined(sentence.sizeSentence(size?.value ?? '', size?.from === 'given'), shown);
  }

  progress?.({ doing: 'comparison', share: COMPARISON_FROM });
  const sets = [parameters, chosen.parameters] as const;
  const given = wishes.assumed ?? {};
  const errorWith = (settings: PlanSettings) => testBack(settings, ONE_SEED)?.errorRatio ?? Infinity;
  if (turnsOnDelays({ sets, source: searched, given, error: tested.errorRatio, errorWith }))
    return declined(sentence.DELAYS_SENTENCE, shown);
  if (verdict === 'change' && isColdAssumed && turnsOnColdPrice(sets, searched))
    return declined(sentence.COLD_PRICE_SENTENCE, shown);
  signal?.throwIfAborted();
  const { today, best, gain, chance } = sideBySide(sets, searched);
  if (verdict === 'change' && chance > MOST_CHANCE) return declined(sentence.chanceSentence(chance), shown);
  signal?.throwIfAborted();
  progress?.({ doing: 'comparison', share: (1 + COMPARISON_FROM) / 2 });
  const sensitivity = sensitivityOf(sets, searched, isColdAssumed);
  const hangsOn = mostMoving(sensitivity, verdict === 'keep' ? 'todayPerHour' : 'gain');
  const facts = { today, best, gain, limitSeconds, backtest: tested, hangsOn };
  const isChance = verdict === 'change' && gain.low <= 0 && today.p99Seconds.mean <= limitSeconds;
  const final = isChance ? 'keep' : verdict;
  const about = isChance ? { ...facts, best: today } : facts;
  return {
    ...shown,
    verdict: final,
    sentence: inWords(final, about, tried),
    today,
    best: about.best,
    gain: final === 'keep' ? undefined : gain,
    sensitivity,
    hangsOn,
    series: {
      today: seriesOf(parameters, searched),
      best: seriesOf(isChance ? parameters : sets[1], searched),
    },
    nothingKeeps: because === 'none keeps',
  };
}

function inWords(verdict: AdviceReport['verdict'], facts: sentence.Facts, tried: number): string {
  if (verdict === 'change') return sentence.changeSentence(facts);
  return verdict === 'dearer' ? sentence.dearerSentence(facts) : sentence.keepSentence({ ...facts, tried });
}

/** As it is where nothing can be said. */
function nothingSaid(
  { endpoint, parameters, stretches }: Recorded,
  { nowMs, limitSeconds = parameters.target_queue_time }: Wishes,
  { seconds, seenSeconds, holes, work, pieces }: RecordedRate,
): AdviceReport {
  return {
    endpoint,
    atMs: nowMs,
    fromMs: stretches[0]?.fromMs ?? nowMs,
    toMs: stretches.at(-1)?.toMs ?? nowMs,
    limitSeconds,
    verdict: 'declined',
    sentence: '',
    backtest: undefined,
    today: undefined,
    best: undefined,
    load: {
      seenSeconds,
      holes,
      meanRate: seconds === 0 ? 0 : work / seconds,
      peakRate: pieces.reduce((most, { rate }) => Math.max(most, rate), 0),
      requests: 0,
    },
    assumptions: [],
    sensitivity: [],
    hangsOn: undefined,
    gain: undefined,
    tried: 0,
    series: undefined,
    nothingKeeps: false,
  };
}

function sourceOf({ settings, size }: Known, rate: RecordedRate): SceneSource {
  return { settings, recorded: new LoadMaker(rate), size: fittingSize(size, rate.work), trace: undefined };
}

/** That of the middle one, as the daemon takes it for the findings that it shows. */
function usualPerformance({ performances }: Recorded, { settings: { performance } }: Known): number {
  const middle = performances.toSorted((a, b) => a - b)[Math.floor((performances.length - 1) / 2)];
  return middle ?? (performance.least + performance.most) / 2;
}

function sideBySide(sets: readonly [ResolvedParameters, ResolvedParameters], source: SceneSource) {
  const results = seedsThatMatter(source, MORE_SEEDS).map((seed) => {
    const scene = sceneOf(source, seed);
    return [outcomeOf(sets[0], scene), outcomeOf(sets[1], scene)] as const;
  });
  const costs = results.map(([one, other]) => [one.cost.perHour, other.cost.perHour] as const);
  const left = costs.map(([one, other]) => other / one);
  return {
    today: predictionOf(results.map(([one]) => one)),
    best: predictionOf(results.map(([, other]) => other)),
    gain: estimateOf(left.map((share) => 1 - share)),
    chance: Math.max(
      offByChance(costs.map(([one]) => one)),
      offByChance(costs.map(([, other]) => other)),
      offByChance(left),
    ),
  };
}

function seriesOf(parameters: ResolvedParameters, source: SceneSource): PlanSeries {
  const { load, settings, seconds } = sceneOf(source, 1);
  const simulation = new Simulation({ parameters, settings });
  load.replay((atSeconds, work) => simulation.arrive(atSeconds, work));
  const { series } = simulation.finish(seconds);
  if (!series) throw new Error('unreachable: a series was asked for');
  return series;
}

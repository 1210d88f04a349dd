/** An advice in words, for people. */
import { ADVISED_PARAMETERS, type AdvisedSet, type Estimate, type SetPrediction } from './advice.ts';
import { short } from './assumptions.ts';
import type { DetailedBacktest } from './backtest/backtest.ts';

const HOURS_A_DAY = 24;

export interface Facts {
  readonly today: SetPrediction;
  readonly best: SetPrediction;
  readonly gain: Estimate;
  readonly limitSeconds: number;
  readonly backtest: DetailedBacktest;
  readonly hangsOn: string | undefined;
}

export function changeSentence(facts: Facts): string {
  return `${changesInWords(facts)}: ${gainInWords(facts)}, ${waitsInWords(facts)}; ${ground(facts)}`;
}

export function keepSentence({ tried, ...facts }: Facts & { readonly tried: number }): string {
  const { today, limitSeconds, backtest } = facts;
  const isKept = today.p99Seconds.mean <= limitSeconds;
  const why = isKept
    ? `no set of ${tried} that keeps ${short(limitSeconds)} s is cheaper by 5%`
    : `no set of ${tried} within max_workers keeps ${short(limitSeconds)} s`;
  return (
    `keep what you have: ${why} (${perDay(today.costPerHour.mean)} a day, p99 wait ` +
    `${secondsInWords(today.p99Seconds.mean)} as modelled: waits are not recorded); the backtest was off by ` +
    percent(backtest.errorRatio)
  );
}

export function dearerSentence(facts: Facts): string {
  const { today, best, gain, limitSeconds } = facts;
  return (
    `what you have keeps no p99 wait of ${short(limitSeconds)} s as modelled (${secondsInWords(today.p99Seconds.mean)}; ` +
    `waits are not recorded); what does, ${changesInWords(facts)}, costs ${percent(-gain.mean)} more ` +
    `(${perDay(today.costPerHour.mean)} → ${perDay(best.costPerHour.mean)} a day); ${ground(facts)}`
  );
}

export function backtestSentence(backtest: DetailedBacktest): string {
  const { errorRatio, halfErrorRatio, errors, hours } = backtest;
  const worst = hours.toSorted((a, b) => Math.abs(offBy(b)) - Math.abs(offBy(a)))[0];
  const parts = (['hot', 'workers', 'cost'] as const).map(
    (name) => `${WORDS[name]} by ${signed(errors[name])}`,
  );
  const where = worst
    ? `; they part most in the hour from ${new Date(worst.fromMs).toISOString().slice(0, 16)}Z: ` +
      `${short(worst.predicted.hot)} hot workers predicted, ${short(worst.recorded.hot)} recorded`
    : '';
  const [whole, half] = [percent(errorRatio), percent(halfErrorRatio)];
  const halves = whole === half ? '' : `, by ${half} in one half of the time`;
  return (
    `declined: with the parameters that were set, the model does not do what the endpoint did (off by ` +
    `${whole}${halves}: ${parts.join(', ')}; more than 25% is too much)${where}`
  );
}

/** @param parametersSinceMs Undefined where it is not the parameters that are new */
export function tooShortSentence(parametersSinceMs: number | undefined): string {
  if (parametersSinceMs === undefined) return 'declined: less than half an hour of it can be compared';
  const since = new Date(parametersSinceMs).toISOString().slice(0, 16);
  return `declined: the parameters were changed at ${since}Z; advice needs half an hour since then: ask again later`;
}

const WORDS = { hot: 'hot workers', workers: 'worker hours', cost: 'cost' } as const;

function offBy({ recorded, predicted }: DetailedBacktest['hours'][number]): number {
  return predicted.hot - recorded.hot;
}

/** @param isGiven Whether somebody has named it already */
export function sizeSentence(size: string, isGiven: boolean): string {
  return (
    `declined: the answer turns on the size of a request, which the service does not record ` +
    `(${size}; with half or double of it the answer is another)${isGiven ? '' : '; name it with --request-size'}`
  );
}

export const DELAYS_SENTENCE =
  'declined: with other delays of the service than are assumed the model does what the endpoint did as well, and the answer ' +
  'is another; the service does not tell them';

export const COLD_PRICE_SENTENCE =
  'declined: the answer turns on what a cold worker costs, which the service does not tell (where it is nothing, or double ' +
  'of what is assumed, the answer is another); name it with --price-cold';

/** @param share Of a cost, by which a single time may be off */
export function chanceSentence(share: number): string {
  return (
    `declined: by chance alone (which workers come, and when requests do) what a change costs may be off by ` +
    `${percent(share)}; more than 25% is too much to promise anything`
  );
}

function changesInWords({ today, best }: Facts): string {
  const changes = ADVISED_PARAMETERS.filter((name) => today.parameters[name] !== best.parameters[name]);
  return changes.map((name) => changeInWords(name, today.parameters, best.parameters)).join(', ');
}

function changeInWords(name: keyof AdvisedSet, from: AdvisedSet, to: AdvisedSet): string {
  return `${name} ${from[name]} → ${to[name]}`;
}

function gainInWords({ today, best, gain }: Facts): string {
  const from = perDay(today.costPerHour.mean);
  const to = perDay(best.costPerHour.mean);
  const [low, high] = [percent(gain.low), percent(gain.high)];
  const between = low === high ? '' : `, 95% between ${low} and ${high}`;
  return `${percent(Math.abs(gain.mean))} ${gain.mean < 0 ? 'dearer' : 'cheaper'} (${from} → ${to} a day${between})`;
}

function waitsInWords({ today, best, limitSeconds }: Facts): string {
  const [from, to] = [secondsInWords(today.p99Seconds.mean), secondsInWords(best.p99Seconds.mean)];
  return `p99 wait ${from} → ${to} as modelled (waits are not recorded), limit ${short(limitSeconds)} s`;
}

function ground({ backtest, hangsOn }: Facts): string {
  const most = hangsOn === undefined ? '' : `; it hangs most on the ${hangsOn}`;
  return `the backtest was off by ${percent(backtest.errorRatio)}${most}`;
}

function perDay(costPerHour: number): string {
  return (costPerHour * HOURS_A_DAY).toFixed(2);
}

function secondsInWords(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  if (ms < 100) return ms === 0 ? '0 s' : `${ms} ms`;
  return `${Number(seconds.toPrecision(seconds < 1 ? 1 : seconds < 100 ? 2 : 3))} s`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function signed(share: number): string {
  return `${share < 0 ? '−' : '+'}${percent(Math.abs(share))}`;
}

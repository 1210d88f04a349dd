/** What a worker's report means: its status, what is billed in it, and its load. */
import type { Worker, WORKER_STATUSES } from '../../contract/operations/serverless/workers.ts';

export const UNKNOWN = 'unknown';

type Status = (typeof WORKER_STATUSES)[number];

/**
 * `ready`: takes requests, also while it waits for a rolling update. `starting`: will be ready. `cold`:
 * loaded, and needs a start. `over`: of no use.
 */
export type Phase = 'ready' | 'starting' | 'cold' | 'over';

type Billing = 'compute' | 'storage' | 'nothing';

const MEANINGS: Readonly<Record<Status, readonly [Phase | undefined, Billing]>> = {
  pending: ['starting', 'nothing'],
  creating: ['starting', 'storage'],
  created: ['starting', 'storage'],
  loading: ['starting', 'compute'],
  model_loading: ['starting', 'compute'],
  starting: ['starting', 'compute'],
  idle: ['ready', 'compute'],
  // It runs until it has stopped.
  stopping: ['cold', 'compute'],
  stopped: ['cold', 'storage'],
  // Billed as the status before it, which only earlier looks know.
  rebooting: ['starting', 'compute'],
  update_ready: ['ready', 'compute'],
  update_rebooting: ['starting', 'compute'],
  update_starting: ['starting', 'compute'],
  error: ['over', 'nothing'],
  destroying: ['over', 'nothing'],
  // Seen live, not documented. An offline worker may serve: its report is late.
  ready: ['ready', 'compute'],
  running: ['ready', 'compute'],
  offline: [undefined, 'compute'],
  exited: [undefined, 'storage'],
};

/** An undocumented status is a label too, if it looks like a word. */
const WORD = /^[a-z][a-z0-9_ -]{0,39}$/;

/** In lower case; `unknown` if there is none. */
export function statusOf({ status }: Pick<Worker, 'status'>): string {
  const word = status?.trim().toLowerCase() ?? '';
  return WORD.test(word) ? word : UNKNOWN;
}

/** Undefined for an unknown status. */
export function phaseOf(status: string): Phase | undefined {
  return isStatus(status) ? MEANINGS[status][0] : undefined;
}

/** An unknown status counts as running, so that a budget is not undercounted. */
export function billingOf(status: string): Billing {
  return isStatus(status) ? MEANINGS[status][1] : 'compute';
}

function isStatus(word: string): word is Status {
  return Object.hasOwn(MEANINGS, word);
}

/**
 * What `cur_load` means. Workers built since November 2025 report units in flight, older ones units received
 * a second; no field says which. A report that only one kind can make is a vote for it.
 */
export type LoadMeaning = 'in flight' | 'rate';

export interface FoundMeaning {
  readonly meaning: LoadMeaning | 'unknown';
  readonly because: string;
}

/** What a worker reports; undefined: no value. */
type Report = Readonly<Record<'load' | 'received' | 'served' | 'requests', number | undefined>>;

export interface LoadRecord {
  readonly report: Report | undefined;
  /** Since when the report is the same, Unix ms; Infinity: this report was counted. */
  readonly sinceMs: number;
  readonly everLoaded: boolean;
  readonly everReceived: boolean;
  /** The last reports that had both. */
  readonly pairs: readonly (readonly [load: number, received: number])[];
  readonly votes: readonly LoadMeaning[];
}

const VOTES_KEPT = 6;
const VOTES_NEEDED = 3;
/** One contrary vote in so many is forgiven: failed requests confuse both kinds. */
const FORGIVEN = 5;
/** Longest time between two reports, seconds. */
const LONGEST_REPORT_S = 30;
/** A report that is the same for so long was sent again, ms: reports come at least every 10 s. */
const STILL_MS = 25_000;
const PAIRS = 6;
/** Reports are a second apart or more, give or take a tenth: a rate is no more of what was received. */
const MOST_OF_RECEIVED = 1.1;
/** Sums of fractions are a little off. */
const NEARLY = 0.99;
/** A larger part of what was received may as well be all of it, in flight. */
const LARGEST_PART = 0.9;
/** The largest over the smallest: parts are steady up to here, amounts vary from there on. */
const STEADY = 1.03;
const VARIED = 1.3;
const NOTHING = { report: undefined, sinceMs: 0, everReceived: false, pairs: [] };

/** `known`: the meaning that an earlier process found. */
export function loadAfter(
  before: LoadRecord | undefined,
  worker: Worker,
  atMs: number,
  known: LoadMeaning | undefined,
): LoadRecord {
  const votes = known === undefined ? [] : Array<LoadMeaning>(VOTES_NEEDED).fill(known);
  const last = before ?? { ...NOTHING, everLoaded: known !== undefined, votes };
  // Only ready workers send reports.
  if (phaseOf(statusOf(worker)) !== 'ready') return { ...last, report: undefined };
  const report = reportOf(worker);
  const { load = 0, received = 0 } = report;
  const isNew = !isSame(last.report, report);
  const isPair = isNew && load > 0 && received > 0;
  const next: LoadRecord = {
    report,
    sinceMs: isNew ? atMs : last.sinceMs,
    everLoaded: last.everLoaded || load > 0,
    everReceived: last.everReceived || received > 0,
    pairs: isPair ? [...last.pairs, [load, received] as const].slice(-PAIRS) : last.pairs,
    votes: last.votes,
  };
  const still = atMs - next.sinceMs >= STILL_MS ? voteOfStill(report, next.everLoaded) : undefined;
  const one = next.everReceived ? voteOfOne(report) : undefined;
  const vote = one ?? still ?? (isPair ? voteOfPairs(next.pairs) : undefined);
  if (vote === undefined) return next;
  return {
    ...next,
    sinceMs: still ? Infinity : next.sinceMs,
    pairs: vote === 'in flight' ? [] : next.pairs,
    votes: [...next.votes, vote].slice(-VOTES_KEPT),
  };
}

/** Whether it served since its last report. An unchanged report may be an old one. */
export function hasServed(before: LoadRecord | undefined, worker: Worker): boolean {
  const report = reportOf(worker);
  return before?.report !== undefined && (report.served ?? 0) > 0 && !isSame(before.report, report);
}

export function meaningOf({ votes }: LoadRecord): LoadMeaning | undefined {
  const rate = votes.filter((vote) => vote === 'rate').length;
  const inFlight = votes.length - rate;
  if (inFlight >= VOTES_NEEDED && rate * FORGIVEN <= inFlight) return 'in flight';
  return rate >= VOTES_NEEDED && inFlight * FORGIVEN <= rate ? 'rate' : undefined;
}

/** All workers that ever had load must have shown the same. */
export function loadOfAll(records: readonly LoadRecord[]): FoundMeaning {
  const meanings = records.map((record) => meaningOf(record));
  const inFlight = meanings.filter((one) => one === 'in flight').length;
  const rate = meanings.filter((one) => one === 'rate').length;
  const open = records.filter(({ everLoaded }, index) => everLoaded && meanings[index] === undefined).length;
  const unknown = (because: string) => ({ meaning: 'unknown' as const, because });
  if (inFlight > 0 && rate > 0)
    return unknown(`its workers differ: ${inFlight} of them in flight, ${rate} a rate`);
  if (open > 0) return unknown(`not shown yet by ${open} of its workers that had load`);
  if (inFlight + rate === 0) return unknown('no worker has had load yet');
  return { meaning: rate > 0 ? 'rate' : 'in flight', because: `shown by ${inFlight + rate} of its workers` };
}

function reportOf({ cur_load, new_load, cur_perf, reqs_working }: Worker): Report {
  const [load, received, served, requests] = [cur_load, new_load, cur_perf, reqs_working].map(amount);
  return { load, received, served, requests };
}

/** Negative and infinite values count as unknown. */
export function amount(value: number | null | undefined): number | undefined {
  return value === null || value === undefined || !(value >= 0) || value === Infinity ? undefined : value;
}

function isSame(one: Report | undefined, other: Report): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * A rate is what was received over the seconds since the last report. Load in flight is at least what was
 * received and not served. After a failed request it may be neither.
 */
function voteOfOne({ load, received, served }: Report): LoadMeaning | undefined {
  if (load === undefined || received === undefined) return undefined;
  const isNoRate = load > MOST_OF_RECEIVED * received || load * LONGEST_REPORT_S < received;
  const isNotInFlight = served !== undefined && load < NEARLY * (received - served);
  if (isNoRate === isNotInFlight) return undefined;
  return isNoRate ? 'in flight' : 'rate';
}

/**
 * Reports stay the same while nothing is received. With a request in work, load in flight stays and a rate
 * is 0. Without one, only an older worker still reports the speed of the last request.
 */
function voteOfStill({ load, received, served, requests }: Report, everLoaded: boolean) {
  if (load === undefined || requests === undefined || received) return undefined;
  if (requests > 0 && load > 0) return 'in flight';
  return load === 0 && (requests > 0 ? everLoaded : served) ? 'rate' : undefined;
}

/**
 * A rate is a steady part of what was received, however that varies. The whole of it may as well be in
 * flight.
 */
function voteOfPairs(pairs: LoadRecord['pairs']): LoadMeaning | undefined {
  if (pairs.length < PAIRS) return undefined;
  const amounts = pairs.map(([, received]) => received);
  const parts = pairs.map(([load, received]) => load / received);
  const isSteady = Math.max(...parts) < Math.min(LARGEST_PART, STEADY * Math.min(...parts));
  return isSteady && Math.max(...amounts) > VARIED * Math.min(...amounts) ? 'rate' : undefined;
}

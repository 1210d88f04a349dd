/**
 * The lives of workers: first seen, changes of status, performance. From them come start times, failures and
 * stuck workers. A look sees a state and not the moment of a change, so a change in a hole between looks
 * gives no time.
 */
import type { Worker } from '../../contract/operations/serverless/workers.ts';
import { type LoadMeaning, phaseOf, statusOf, UNKNOWN } from './reports.ts';

export type Origin = 'new' | 'cold';

interface Start {
  readonly from: Origin;
  readonly sinceMs: number;
  /** False if it may have begun earlier. */
  readonly timed: boolean;
}

export interface WorkerLife {
  readonly id: number;
  /** Label of its last endpoint: workers may move. */
  readonly endpoint: string;
  /** Unix ms. */
  readonly firstSeenMs: number;
  /** The last statuses and when each was first seen, Unix ms. Never empty. */
  readonly changes: readonly (readonly [status: string, atMs: number])[];
  readonly start: Start | undefined;
  /** From its own benchmark, units a second; undefined until it was ready. */
  readonly perf: number | undefined;
  readonly load?: LoadMeaning | undefined;
  /** Looks in a row that did not have it (at most 2). */
  readonly missed: number;
  readonly missingSinceMs: number | undefined;
}

export interface Look {
  readonly endpoint: string;
  readonly atMs: number;
  /** Since the look before; undefined if something may have been missed. */
  readonly gapMs: number | undefined;
  readonly workers: readonly Worker[];
  readonly meaningOf?: (worker: number) => LoadMeaning | undefined;
}

/** Events that metrics count. */
export type FleetEvent =
  | {
      readonly kind: 'worker started';
      readonly endpoint: string;
      readonly from: Origin;
      readonly seconds: number;
    }
  | { readonly kind: 'worker failed'; readonly endpoint: string; readonly workerId: number }
  /** Replaced before it was ever ready. `dollars`: undefined if its price was never known. */
  | { readonly kind: 'worker churned'; readonly endpoint: string; readonly dollars: number | undefined };

const CHANGES_KEPT = 20;
/** Looks without a worker until it no longer counts. */
const LOOKS_TO_BE_GONE = 2;
/** Until then it may come back as the same, here or at another endpoint. */
const FORGET_AFTER_MS = 600_000;
/** Smaller differences of measured performance are ignored. */
const SAME_PERF = 0.01;

/** By the id of the worker. */
export type Lives = ReadonlyMap<number, WorkerLife>;

export function livesOf(lives: Lives, endpoint: string): WorkerLife[] {
  return [...lives.values()].filter((life) => life.endpoint === endpoint);
}

export function afterLook(lives: Lives, look: Look) {
  const changed: WorkerLife[] = [];
  const gone: number[] = [];
  const events: FleetEvent[] = [];
  const seen = new Set<number>();
  for (const worker of look.workers) {
    seen.add(worker.id);
    const before = lives.get(worker.id);
    const after = before ? goOn(before, worker, look) : begin(worker, look);
    if (after !== before) changed.push(after);
    events.push(...eventsOf(before, after, look));
  }
  for (const life of livesOf(lives, look.endpoint)) {
    if (seen.has(life.id)) continue;
    const after = miss(life, look.atMs);
    if (after === undefined) gone.push(life.id);
    else if (after !== life) changed.push(after);
  }
  return { changed, gone, events };
}

/** `mostMs`: the longest time between looks without a hole. */
export function gapBetween(previousMs: number | undefined, atMs: number, mostMs: number): number | undefined {
  const gapMs = atMs - (previousMs ?? Number.NaN);
  return gapMs >= 0 && gapMs <= mostMs ? gapMs : undefined;
}

export function presentStatus({ changes }: WorkerLife): string {
  return changes.at(-1)?.[0] ?? UNKNOWN;
}

export function statusBeforeReboot(life: WorkerLife | undefined): string | undefined {
  return life?.changes.findLast(([status]) => status !== 'rebooting')?.[0];
}

export function isPresent({ missed }: WorkerLife): boolean {
  return missed < LOOKS_TO_BE_GONE;
}

function begin(worker: Worker, look: Look): WorkerLife {
  const { endpoint, atMs, gapMs } = look;
  const status = statusOf(worker);
  // A worker that was ready before is not new, and its start is not timed.
  const { ready_ever: wasReady } = worker;
  const from = wasReady ? 'cold' : 'new';
  const start = { from, sinceMs: atMs, timed: gapMs !== undefined && !wasReady } as const;
  return {
    id: worker.id,
    firstSeenMs: atMs,
    changes: [[status, atMs]],
    start: phaseOf(status) === 'starting' ? start : undefined,
    endpoint,
    ...whatItSays(worker, look, undefined),
  };
}

function whatItSays(worker: Worker, { meaningOf }: Look, perf: number | undefined) {
  const load = meaningOf?.(worker.id);
  return { perf: measuredPerf(perf, worker), load, missed: 0, missingSinceMs: undefined };
}

function goOn(life: WorkerLife, worker: Worker, look: Look): WorkerLife {
  const { endpoint, atMs, gapMs } = look;
  const status = statusOf(worker);
  const next = { ...life, endpoint, ...whatItSays(worker, look, life.perf) };
  if (status !== presentStatus(life)) {
    const changes = [...life.changes, [status, atMs] as const].slice(-CHANGES_KEPT);
    return { ...next, changes, start: startAfter(life, status, atMs, gapMs !== undefined) };
  }
  const isSame = (['endpoint', 'perf', 'load', 'missed'] as const).every((name) => next[name] === life[name]);
  return isSame ? life : next;
}

function startAfter(life: WorkerLife, status: string, atMs: number, isDense: boolean): Start | undefined {
  // An unknown status ends no start.
  if (phaseOf(status) === undefined) return life.start;
  if (phaseOf(status) !== 'starting') return undefined;
  const wasCold = phaseOf(presentStatus(life)) === 'cold';
  return life.start ?? { from: 'cold', sinceMs: atMs, timed: wasCold && isDense };
}

function miss(life: WorkerLife, atMs: number): WorkerLife | undefined {
  const missingSinceMs = life.missingSinceMs ?? atMs;
  if (life.missed < LOOKS_TO_BE_GONE) return { ...life, missed: life.missed + 1, missingSinceMs };
  return atMs - missingSinceMs < FORGET_AFTER_MS ? life : undefined;
}

function eventsOf(
  before: WorkerLife | undefined,
  after: WorkerLife,
  { endpoint, atMs, gapMs }: Look,
): FleetEvent[] {
  const status = presentStatus(after);
  if (before && presentStatus(before) === status) return [];
  // A failure before the first look may be days old.
  if (status === 'error')
    return before || gapMs !== undefined ? [{ kind: 'worker failed', endpoint, workerId: after.id }] : [];
  if (before === undefined || phaseOf(status) !== 'ready' || gapMs === undefined) return [];
  const { start } = before;
  const kind = 'worker started';
  if (start?.timed) return [{ kind, endpoint, from: start.from, seconds: (atMs - start.sinceMs) / 1000 }];
  if (start || phaseOf(presentStatus(before)) !== 'cold' || before.missed > 0) return [];
  // Cold at the last look and ready now: half of the time between is the best guess.
  return [{ kind, endpoint, from: 'cold', seconds: gapMs / 2000 }];
}

/** Before a worker was ready, its figure is a guess. */
function measuredPerf(known: number | undefined, worker: Worker): number | undefined {
  const { measured_perf: measured } = worker;
  if (phaseOf(statusOf(worker)) !== 'ready' || !measured || !(measured > 0)) return known;
  return known !== undefined && Math.abs(measured / known - 1) < SAME_PERF ? known : measured;
}

/** Seconds that the last starts of an endpoint took. */
export type StartTimes = Readonly<Record<Origin, readonly number[]>>;

export const NO_STARTS: StartTimes = { new: [], cold: [] };

const STARTS_KEPT = 100;
/** Fewer starts have no distribution. */
const STARTS_TO_KNOW = 5;
/** Stuck: so many times what 19 of 20 starts take. */
const FAR = 3;
/** No start is stuck before, ms: a registry or disk may be slow once. */
const FLOOR_MS: Readonly<Record<Origin, number>> = { new: 600_000, cold: 180_000 };
/** Until enough starts are known, ms: large models take a quarter of an hour. */
const WITHOUT_LIKE_MS: Readonly<Record<Origin, number>> = { new: 1_800_000, cold: 600_000 };

const FAILURES = 3;
const FAILURES_WITHIN_MS = 3_600_000;

export function withStart(times: StartTimes, from: Origin, seconds: number): StartTimes {
  return { ...times, [from]: [...times[from], seconds].slice(-STARTS_KEPT) };
}

/** Ms after its begin. */
export function stuckAfterMs(from: Origin, seconds: readonly number[]): number {
  if (seconds.length < STARTS_TO_KNOW) return WITHOUT_LIKE_MS[from];
  return Math.max(FLOOR_MS[from], FAR * 1000 * quantile(seconds, 0.95));
}

export function isStuck(life: WorkerLife, times: StartTimes, nowMs: number): boolean {
  const { start } = life;
  if (start === undefined || !isPresent(life)) return false;
  return nowMs - start.sinceMs > stuckAfterMs(start.from, times[start.from]);
}

export function isFailing(life: WorkerLife, nowMs: number): boolean {
  const failures = life.changes.filter(
    ([status, atMs]) => status === 'error' && nowMs - atMs <= FAILURES_WITHIN_MS,
  );
  return isPresent(life) && presentStatus(life) !== 'destroying' && failures.length >= FAILURES;
}

/** The smallest value that a share of `part` does not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}

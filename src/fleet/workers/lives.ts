/**
 * The lives of workers, as one look after the other tells them: when each was first seen, each change of its status,
 * what it can do. From them come start times, failures, and those that hang. Pure.
 *
 * A look sees a state and never the moment of a change, so a time is as good as the looks are dense: a change that fell
 * into a hole between looks gives none.
 */
import type { Worker } from '../../contract/operations/serverless/workers.ts';
import type { LoadMeaning } from '../load/meaning.ts';
import { phaseOf, statusOf, UNKNOWN } from './status.ts';

export type Origin = 'new' | 'cold';

/** A start that is under way. */
export interface Start {
  readonly from: Origin;
  /** When it was first seen, Unix ms. */
  readonly sinceMs: number;
  /** Whether that is when it began: not where the worker was there already, or began out of another state. */
  readonly timed: boolean;
}

export interface WorkerLife {
  readonly id: number;
  /** Label of the endpoint that it was last seen at: a worker may be given to another. */
  readonly endpoint: string;
  /** Unix ms. */
  readonly firstSeenMs: number;
  /** Its last statuses and when each was first seen, Unix ms; the present one is the last. Never empty. */
  readonly changes: readonly (readonly [status: string, atMs: number])[];
  readonly start: Start | undefined;
  /** What its own benchmark found, units a second; undefined until it has been ready. */
  readonly perf: number | undefined;
  /** What its load was found to mean; undefined while that is not known. */
  readonly load?: LoadMeaning | undefined;
  /** Looks in a row that did not have it, no more than two are counted, and since when, Unix ms. */
  readonly missed: number;
  readonly missingSinceMs: number | undefined;
}

/** One answer about the workers of an endpoint. */
export interface Look {
  readonly endpoint: string;
  readonly atMs: number;
  /** Since the look before; undefined: there was none, or so long ago that something may have been missed. */
  readonly gapMs: number | undefined;
  readonly workers: readonly Worker[];
  /** What the load of a worker means, as far as it is known. */
  readonly meaningOf?: (worker: number) => LoadMeaning | undefined;
}

/** What happens between two scrapes and is counted. */
export type FleetEvent =
  | {
      readonly kind: 'worker started';
      readonly endpoint: string;
      /** From nothing, or from stopped. */
      readonly from: Origin;
      readonly seconds: number;
    }
  | { readonly kind: 'worker failed'; readonly endpoint: string; readonly workerId: number }
  /** It was replaced before it was ever ready. `dollars`: what it cost; undefined if its price was never known. */
  | { readonly kind: 'worker churned'; readonly endpoint: string; readonly dollars: number | undefined };

/** Statuses that are remembered of each worker. */
const CHANGES_KEPT = 20;
/** A worker that so many looks have not had is counted no more. */
const LOOKS_TO_BE_GONE = 2;
/** And is forgotten after so long: until then it may come back, at this endpoint or another, as the same. */
const FORGET_AFTER_MS = 600_000;
/** A measured performance that differs by less is the same. */
const SAME_PERF = 0.01;

/** Of all endpoints, by the id of the worker. */
export type Lives = ReadonlyMap<number, WorkerLife>;

export function livesOf(lives: Lives, endpoint: string): WorkerLife[] {
  return [...lives.values()].filter((life) => life.endpoint === endpoint);
}

/** What a look changes. */
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

/** @param mostMs Between two looks that leave no hole: what happened between them happened then. */
export function gapBetween(previousMs: number | undefined, atMs: number, mostMs: number): number | undefined {
  const gapMs = atMs - (previousMs ?? Number.NaN);
  return gapMs >= 0 && gapMs <= mostMs ? gapMs : undefined;
}

/** As it was at the last look. */
export function presentStatus({ changes }: WorkerLife): string {
  return changes.at(-1)?.[0] ?? UNKNOWN;
}

/** What it was when it began to reboot, if it does. */
export function statusBeforeReboot(life: WorkerLife | undefined): string | undefined {
  return life?.changes.findLast(([status]) => status !== 'rebooting')?.[0];
}

/** Whether the last look of its endpoint counts it. */
export function isPresent({ missed }: WorkerLife): boolean {
  return missed < LOOKS_TO_BE_GONE;
}

function begin(worker: Worker, look: Look): WorkerLife {
  const { endpoint, atMs, gapMs } = look;
  const status = statusOf(worker);
  // One that has been ready before somebody looked is not new, and began nobody knows when.
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
  // What nobody knows the meaning of ends nothing.
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
  // One that has failed before anybody looked may have done so days ago.
  if (status === 'error')
    return before || gapMs !== undefined ? [{ kind: 'worker failed', endpoint, workerId: after.id }] : [];
  if (before === undefined || phaseOf(status) !== 'ready' || gapMs === undefined) return [];
  const { start } = before;
  const kind = 'worker started';
  if (start?.timed) return [{ kind, endpoint, from: start.from, seconds: (atMs - start.sinceMs) / 1000 }];
  if (start || phaseOf(presentStatus(before)) !== 'cold' || before.missed > 0) return [];
  // It was cold at the last look and is ready at this one: it took between nothing and all of the time between.
  return [{ kind, endpoint, from: 'cold', seconds: gapMs / 2000 }];
}

/** Before a worker has been ready, what it says of itself is a guess. */
function measuredPerf(known: number | undefined, worker: Worker): number | undefined {
  const { measured_perf: measured } = worker;
  if (phaseOf(statusOf(worker)) !== 'ready' || !measured || !(measured > 0)) return known;
  return known !== undefined && Math.abs(measured / known - 1) < SAME_PERF ? known : measured;
}

/** What detectors must remember of an endpoint from look to look. Pure. */
import type { Worker } from '../../contract/operations/serverless/workers.ts';
import type { ListedEndpoint } from '../discovery/knowledge.ts';
import type { FleetSample } from '../sample.ts';
import { isPresent, type FleetEvent, type WorkerLife } from '../workers/lives.ts';
import type { Price, Prices } from '../workers/measure.ts';
import { billingOf, phaseOf } from '../workers/status.ts';

/** One look at an endpoint, with what was known beside it. */
export interface Look {
  readonly endpoint: string;
  readonly atMs: number;
  /** Whether the look before was close enough that nothing was missed between. */
  readonly isDense: boolean;
  readonly workers: readonly Worker[];
  readonly sample: FleetSample;
  /** Of its workers, this look included. */
  readonly lives: readonly WorkerLife[];
  readonly prices: Prices;
  /** Of the list of endpoints; undefined while it was not read. */
  readonly row: ListedEndpoint | undefined;
  readonly parameters: Readonly<Record<string, number>>;
  /** The highest price that its worker groups search for, $/h; undefined: none is known. */
  readonly priceCeiling: number | undefined;
}

/** A worker that was replaced before it was ever ready. */
interface Churned {
  readonly atMs: number;
  /** What it cost; undefined if its price was never known. */
  readonly dollars: number | undefined;
}

/** When the endpoint deletes itself, as its rows have it. */
interface Deadline {
  readonly row: ListedEndpoint | undefined;
  readonly atMs: number;
  /** An earlier one, and when it was read. */
  readonly earlier: { readonly readMs: number; readonly atMs: number };
  /** False: each heartbeat moves it. Undefined: not known yet. */
  readonly isFixed: boolean | undefined;
}

export interface Memory {
  /** Of the first look: workers that are older were perhaps ready before. */
  readonly sinceMs: number;
  /** New workers that were not ready yet at the last look, with the last price that was known. */
  readonly unready: ReadonlyMap<number, Price | undefined>;
  /** When the starts of new workers ended well, and how the others ended, of the last hours. */
  readonly readied: readonly number[];
  readonly churned: readonly Churned[];
  /** Of the last minutes: workers that left before they were ready, and new ones that replaced none. */
  readonly leavers: readonly Churned[];
  readonly recruits: readonly number[];
  /** Since when a worker has requests and serves none. */
  readonly quiet: ReadonlyMap<number, number>;
  /** The longest such time after which it served, ms. */
  readonly longestQuietMs: number;
  readonly deadline: Deadline | undefined;
}

/** So long are outcomes of starts remembered, and a worker that left may be replaced, ms. */
const STARTS_KEPT_MS = 3 * 3_600_000;
const REPLACED_WITHIN_MS = 600_000;
/** Heartbeats come more often, so that a deadline that they move has moved after this time, ms. */
const DEADLINE_MOVES_MS = 240_000;

export function emptyMemory(sinceMs: number): Memory {
  return {
    sinceMs,
    unready: new Map(),
    readied: [],
    churned: [],
    leavers: [],
    recruits: [],
    quiet: new Map(),
    longestQuietMs: 0,
    deadline: undefined,
  };
}

export function remember(before: Memory, look: Look): { memory: Memory; events: readonly FleetEvent[] } {
  const { memory, churned } = withStarts(before, look);
  const { quiet, longestQuietMs } = quietWorkers(before, look);
  const deadline = deadlineAfter(before.deadline, look);
  const events = churned.map(({ dollars }) => ({
    kind: 'worker churned' as const,
    endpoint: look.endpoint,
    dollars,
  }));
  return { memory: { ...memory, quiet, longestQuietMs, deadline }, events };
}

function withStarts(before: Memory, { atMs, lives, prices, workers }: Look) {
  const unready = new Map<number, Price | undefined>();
  const within = (ms: number) => (each: number) => atMs - each < ms;
  const readied = before.readied.filter(within(STARTS_KEPT_MS));
  const recruits = before.recruits.filter(within(REPLACED_WITHIN_MS));
  const left: Churned[] = [];
  const saysReady = new Set(workers.flatMap((worker) => (worker['ready_ever'] === true ? [worker.id] : [])));
  for (const life of lives) {
    const isNew = life.firstSeenMs === atMs && atMs > before.sinceMs;
    if (isNew) recruits.push(atMs);
    if (!isNew && !before.unready.has(life.id)) continue;
    const price = prices.get(life.id) ?? before.unready.get(life.id);
    if (wasReady(life) || saysReady.has(life.id)) readied.push(atMs);
    else if (isPresent(life)) unready.set(life.id, price);
    else left.push({ atMs: life.missingSinceMs ?? atMs, dollars: costOf(life, price) });
  }
  const churned: Churned[] = [];
  // One recruit replaces one leaver, the one that left first.
  const leavers = [...before.leavers, ...left].filter((leaver) => {
    const place = recruits.findIndex((recruit) => recruit >= leaver.atMs);
    if (place === -1) return within(REPLACED_WITHIN_MS)(leaver.atMs);
    recruits.splice(place, 1);
    churned.push({ ...leaver, atMs });
    return false;
  });
  const all = [...before.churned, ...churned].filter((each) => within(STARTS_KEPT_MS)(each.atMs));
  return { memory: { ...before, unready, leavers, recruits, readied, churned: all }, churned };
}

/** A worker that is stopped has been loaded before. */
function wasReady({ changes, perf }: WorkerLife): boolean {
  return perf !== undefined || changes.some(([status]) => ['ready', 'cold'].includes(phaseOf(status) ?? ''));
}

/** Dollars from its first look to its last. */
function costOf({ changes, missingSinceMs = 0 }: WorkerLife, price: Price | undefined): number | undefined {
  let dollars = 0;
  for (const [index, [status, fromMs]] of changes.entries()) {
    const toMs = changes[index + 1]?.[1] ?? missingSinceMs;
    const billing = billingOf(status);
    const hourly = billing === 'compute' ? price?.running : billing === 'storage' ? (price?.storage ?? 0) : 0;
    if (hourly === undefined) return undefined;
    dollars += (hourly * Math.max(0, toMs - fromMs)) / 3_600_000;
  }
  return dollars;
}

/** `cur_perf` is what was served since the worker's last report: nothing, as long as a request takes. */
function quietWorkers({ quiet: before, longestQuietMs }: Memory, { atMs, isDense, workers }: Look) {
  const quiet = new Map<number, number>();
  let longest = longestQuietMs;
  for (const { id, reqs_working: requests, cur_perf: served } of workers) {
    const since = isDense ? before.get(id) : undefined;
    if ((requests ?? 0) > 0 && served === 0) quiet.set(id, since ?? atMs);
    else if (since !== undefined && (served ?? 0) > 0) longest = Math.max(longest, atMs - since);
  }
  return { quiet, longestQuietMs: longest };
}

function deadlineAfter(before: Deadline | undefined, { row, atMs: readMs }: Look): Deadline | undefined {
  if (before && before.row === row) return before;
  const seconds = row?.['auto_delete_in_seconds'];
  if (typeof seconds !== 'number') return undefined;
  const atMs = readMs + 1000 * seconds;
  const earlier = before?.earlier ?? { readMs, atMs };
  const passedMs = readMs - earlier.readMs;
  if (passedMs < DEADLINE_MOVES_MS) return { row, atMs, earlier, isFixed: before?.isFixed };
  return { row, atMs, earlier: { readMs, atMs }, isFixed: atMs - earlier.atMs < passedMs / 2 };
}

/** What detectors remember of an endpoint. */
import type { ListedEndpoint } from '../discovery/endpoints.ts';
import { isPresent, type Look, type WorkerLife } from '../workers/lives.ts';
import { costPerHour, type Price, type Prices } from '../workers/measure.ts';
import { phaseOf, statusOf } from '../workers/reports.ts';

export interface EndpointLook extends Look {
  /** After this look. */
  readonly lives: readonly WorkerLife[];
  readonly prices: Prices;
  /** Undefined until the list of endpoints was read. */
  readonly row: ListedEndpoint | undefined;
  readonly parameters: Readonly<Record<string, number>>;
  /** The highest price that its worker groups search for, $/h. */
  readonly priceCeiling: number | undefined;
}

export interface Leaver {
  readonly atMs: number;
  /** Undefined if its price was never known. */
  readonly dollars: number | undefined;
}

/** Since when a worker has had the same requests and served none. */
interface Quiet {
  readonly sinceMs: number;
  readonly work: string;
}

/** How long outcomes of starts are remembered, and how soon a worker is replaced, ms. */
const STARTS_KEPT_MS = 3 * 3_600_000;
const REPLACED_WITHIN_MS = 600_000;
/** Heartbeats come more often, so a deadline that stays this long is fixed, ms. */
const DEADLINE_STAYS_MS = 240_000;

/** A request is not stuck before half an hour, nor before twice the longest that ended, ms. */
const LONG_REQUEST_MS = 1_800_000;

export class TroubleMemory {
  /** When new workers became ready, and which were replaced before. */
  readied: readonly number[] = [];
  churned: readonly Leaver[] = [];
  /** By worker; the longest such time that ended, ms. */
  quiet: ReadonlyMap<number, Quiet> = new Map();
  #longestQuietMs = 0;
  /** `isFixed`: heartbeats do not move it; undefined: not known yet. */
  deadline: { readonly atMs: number; readonly isFixed: boolean | undefined } | undefined;
  #readDeadline = { row: undefined as ListedEndpoint | undefined, atMs: 0, sinceMs: 0 };
  /** New workers that are not ready yet, with their last price. */
  #unready: ReadonlyMap<number, Price | undefined> = new Map();
  #leavers: readonly Leaver[] = [];
  /** Arrivals of new workers that have replaced none yet. */
  #recruits: readonly number[] = [];
  #isFirst = true;

  /** Quiet for so long, a worker's requests are stuck, ms. */
  get leastStuckMs(): number {
    return Math.max(LONG_REQUEST_MS, 2 * this.#longestQuietMs);
  }

  /** Returns workers that were replaced before they were ever ready. */
  take(look: EndpointLook): readonly Leaver[] {
    const churned = this.#takeStarts(look);
    this.#takeRequests(look);
    this.#takeDeadline(look);
    this.#isFirst = false;
    return churned;
  }

  #takeStarts({ atMs, lives, prices, workers }: EndpointLook): readonly Leaver[] {
    const unready = new Map<number, Price | undefined>();
    const within = (ms: number) => (each: number) => atMs - each < ms;
    const readied = this.readied.filter(within(STARTS_KEPT_MS));
    const recruits = this.#recruits.filter(within(REPLACED_WITHIN_MS));
    const leavers = this.#leavers.filter((each) => within(REPLACED_WITHIN_MS)(each.atMs));
    const saysReady = new Set(workers.flatMap(({ id, ready_ever }) => (ready_ever === true ? [id] : [])));
    for (const life of lives) {
      // Workers of the first look may have been ready before.
      const isNew = life.firstSeenMs === atMs && !this.#isFirst;
      if (isNew) recruits.push(atMs);
      if (!isNew && !this.#unready.has(life.id)) continue;
      const price = prices.get(life.id) ?? this.#unready.get(life.id);
      if (wasReady(life) || saysReady.has(life.id)) readied.push(atMs);
      else if (isPresent(life)) unready.set(life.id, price);
      else leavers.push({ atMs: life.missingSinceMs ?? atMs, dollars: costOf(life, price) });
    }
    const churned: Leaver[] = [];
    // Each new worker replaces one worker that left.
    this.#leavers = leavers.filter((leaver) => {
      const place = recruits.findIndex((recruit) => recruit >= leaver.atMs);
      if (place === -1) return true;
      recruits.splice(place, 1);
      churned.push({ ...leaver, atMs });
      return false;
    });
    [this.readied, this.#recruits, this.#unready] = [readied, recruits, unready];
    this.churned = [...this.churned, ...churned].filter((each) => within(STARTS_KEPT_MS)(each.atMs));
    return churned;
  }

  /**
   * `cur_perf` is what was served since the last report, so a look may miss it. The end of a request also
   * changes count or load, unless the next request is just like it.
   */
  #takeRequests({ atMs, gapMs, workers }: EndpointLook): void {
    const quiet = new Map<number, Quiet>();
    for (const { id, status, reqs_working: requests, cur_load: load, cur_perf: served } of workers) {
      if (phaseOf(statusOf({ status })) !== 'ready') continue;
      const work = `${requests} ${load}`;
      const isQuiet = (requests ?? 0) > 0 && served === 0;
      // In a gap between looks, one quiet time may have ended and another begun.
      const before = gapMs === undefined ? undefined : this.quiet.get(id);
      const goesOn = isQuiet && before?.work === work;
      if (isQuiet) quiet.set(id, goesOn ? before : { sinceMs: atMs, work });
      if (goesOn || before === undefined) continue;
      const endedMs = atMs - before.sinceMs;
      // A stuck request does not count as a long one.
      if (endedMs < this.leastStuckMs) this.#longestQuietMs = Math.max(this.#longestQuietMs, endedMs);
    }
    this.quiet = quiet;
  }

  #takeDeadline({ row, atMs: readMs }: EndpointLook): void {
    const [last, read] = [this.deadline, this.#readDeadline];
    const seconds = row?.['auto_delete_in_seconds'];
    if (typeof seconds !== 'number') this.deadline = undefined;
    if (typeof seconds !== 'number' || read.row === row) return;
    const atMs = readMs + 1000 * seconds;
    const isMoved = last !== undefined && atMs - last.atMs > (readMs - read.atMs) / 2;
    const sinceMs = last === undefined || isMoved ? readMs : read.sinceMs;
    const hasStayed = readMs - sinceMs >= DEADLINE_STAYS_MS;
    this.deadline = { atMs, isFixed: isMoved ? false : hasStayed || last?.isFixed };
    this.#readDeadline = { row, atMs: readMs, sinceMs };
  }
}

/** A stopped worker was loaded before. */
function wasReady({ changes, perf }: WorkerLife): boolean {
  return perf !== undefined || changes.some(([status]) => ['ready', 'cold'].includes(phaseOf(status) ?? ''));
}

function costOf({ changes, missingSinceMs = 0 }: WorkerLife, price: Price | undefined): number | undefined {
  let dollars = 0;
  for (const [index, [status, fromMs]] of changes.entries()) {
    const hours = Math.max(0, (changes[index + 1]?.[1] ?? missingSinceMs) - fromMs) / 3_600_000;
    const perHour = costPerHour(status, price);
    if (perHour === undefined) return undefined;
    dollars += hours * perHour;
  }
  return dollars;
}

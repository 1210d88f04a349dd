/**
 * The named troubles of an endpoint: how each differs from ordinary work. A finding must last for a while to be a
 * trouble, and be away for a while to end it.
 */
import type { Worker } from '../../contract/operations/serverless/workers.ts';
import { HOUR_MS, MINUTE_MS } from '../../contract/times.ts';
import { isPresent, presentStatus, quantile, type WorkerLife } from '../workers/lives.ts';
import { phaseOf, statusOf } from '../workers/reports.ts';
import { type EndpointLook, TroubleMemory } from './memory.ts';

/** A sentence that continues the endpoint's name, and its figures for the log. */
export interface Evidence {
  readonly says: string;
  readonly facts: Readonly<Record<string, number | readonly number[]>>;
}

/** null: all is well. Undefined: cannot be judged. */
type Judgement = Evidence | null | undefined;

interface Detector {
  readonly severity: 'critical' | 'warning';
  /** Lasts before it begins, ms; default: none. */
  readonly forMs?: number;
  /** Is away before it ends, ms; default: a minute. */
  readonly endsAfterMs?: number;
  readonly judge: (look: EndpointLook, memory: TroubleMemory) => Judgement;
}

const RECRUITS_WITHIN_MS = 3 * MINUTE_MS;
/** Fewer replaced workers than this are not reported. */
const MANY = 3;
/** The service gives up loading after 791 to 795 s, and starting after 300 s. */
const LIMITS_MS: ReadonlyMap<string, number> = new Map([
  ['loading', 790_000],
  ['model_loading', 790_000],
  ['starting', 300_000],
]);
const CLOSE = 0.9;
/** A machine is compared with at least two others. */
const LEAST_PEERS = 2;
/** Half as fast, or twice as dear for its work. */
const FAR = 2;
/** An instance's price includes its own disk; a search assumes a usual one. */
const PRICE_TOLERANCE = 1.1;
const SOON_MS = 24 * HOUR_MS;

const DETECTORS = {
  not_recruiting: { severity: 'critical', forMs: RECRUITS_WITHIN_MS, judge: notRecruiting },
  churn: {
    severity: 'warning',
    judge: (look, memory) => (keepsAllCold(look) ? null : churning(memory, look.atMs - HOUR_MS)),
  },
  flapping: {
    severity: 'warning',
    endsAfterMs: 5 * MINUTE_MS,
    judge: (look, memory) =>
      keepsAllCold(look)
        ? churning(memory, look.atMs - 10 * MINUTE_MS, ': cold_workers is not below max_workers')
        : null,
  },
  slow_start: { severity: 'warning', endsAfterMs: 15 * MINUTE_MS, judge: slowStart },
  stuck_requests: { severity: 'warning', judge: stuckRequests },
  slow_machine: { severity: 'warning', forMs: MINUTE_MS, judge: slowMachine },
  price_above_filter: { severity: 'warning', forMs: MINUTE_MS, judge: priceAboveFilter },
  deletes_soon: { severity: 'warning', judge: deletesSoon },
} as const satisfies Readonly<Record<string, Detector>>;

export type TroubleName = keyof typeof DETECTORS;
const TROUBLE_NAMES = Object.keys(DETECTORS) as TroubleName[];

interface Trouble extends Pick<Detector, 'severity'>, Pick<Evidence, 'says'> {
  /** First seen, Unix ms. */
  readonly sinceMs: number;
}

/** null: all is well. Missing: cannot be judged. */
export type Troubles = Readonly<Partial<Record<TroubleName, Trouble | null>>>;

interface OfTrouble {
  readonly endpoint: string;
  readonly trouble: TroubleName;
}

export type TroubleNotice =
  | (OfTrouble & Pick<Detector, 'severity'> & { readonly kind: 'trouble begun'; readonly evidence: Evidence })
  | (OfTrouble & { readonly kind: 'trouble ended'; readonly seconds: number });

/** A finding that is there, or was until lately. */
interface Sighting {
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly evidence: Evidence;
  readonly isTold: boolean;
}

export class EndpointTroubles {
  readonly #memory = new TroubleMemory();
  readonly #sightings = new Map<TroubleName, Sighting>();
  now: Troubles = {};
  #lastMs = -Infinity;

  /** Returns what began and ended, and workers that were replaced before they were ever ready. */
  judge(look: EndpointLook) {
    const churned = this.#memory.take(look);
    const notices: TroubleNotice[] = [];
    const now = TROUBLE_NAMES.flatMap((name): [TroubleName, Trouble | null][] => {
      const { judge, severity }: Detector = DETECTORS[name];
      const evidence = judge(look, this.#memory);
      if (evidence === undefined) return [];
      notices.push(...this.#follow(name, evidence, look));
      const { isTold, sinceMs, evidence: { says } = { says: '' } } = this.#sightings.get(name) ?? {};
      return [[name, isTold && sinceMs !== undefined ? { severity, sinceMs, says } : null]];
    });
    this.#lastMs = look.atMs;
    this.now = Object.fromEntries(now);
    return { notices, churned };
  }

  #follow(name: TroubleName, evidence: Evidence | null, look: EndpointLook): TroubleNotice[] {
    const { atMs, endpoint, gapMs } = look;
    const { forMs = 0, endsAfterMs = MINUTE_MS, severity }: Detector = DETECTORS[name];
    const known = this.#sightings.get(name);
    // An untold finding must be seen in consecutive looks.
    const last =
      known && (known.isTold || (gapMs !== undefined && known.lastMs === this.#lastMs)) ? known : undefined;
    if (evidence) {
      const sinceMs = last?.sinceMs ?? atMs;
      const isTold = atMs - sinceMs >= forMs;
      this.#sightings.set(name, { sinceMs, lastMs: atMs, evidence, isTold });
      const begins = isTold && !last?.isTold;
      return begins ? [{ kind: 'trouble begun', endpoint, trouble: name, severity, evidence }] : [];
    }
    if (last?.isTold && atMs - last.lastMs < endsAfterMs) return [];
    this.#sightings.delete(name);
    if (!last?.isTold) return [];
    return [{ kind: 'trouble ended', endpoint, trouble: name, seconds: (atMs - last.sinceMs) / 1000 }];
  }
}

/** A stranded worker's machine has no free GPU, but it holds the slot of a new worker. */
function notRecruiting({ row, parameters, workers, lives, atMs }: EndpointLook): Judgement {
  if (row === undefined) return undefined;
  const isActive = (row.endpoint_state?.toLowerCase() ?? 'active') === 'active';
  if (!isActive || workers.some(serves)) return null;
  const leastLoad = parameters['min_load'] ?? 0;
  // Load asks for work, whatever it means.
  const asked = workers.flatMap(({ cur_load, reqs_working }) => [cur_load ?? [], reqs_working ?? []].flat());
  if (Math.max(leastLoad, ...asked) <= 0)
    return asked.length < Math.min(1, workers.length) ? undefined : null;
  // A loading worker is recruited, however slowly.
  const isComing = (life: WorkerLife) =>
    isPresent(life) &&
    phaseOf(presentStatus(life)) === 'starting' &&
    !(presentStatus(life) === 'starting' && isLate(life, atMs, 1));
  if (lives.some(isComing)) return null;
  const demand = leastLoad > 0 ? `a min_load of ${leastLoad}` : 'load';
  return {
    says: `has ${demand}, no ready worker, and recruits none (workers that do not serve: ${workers.length})`,
    facts: { min_load: leastLoad, workers: workers.map(({ id }) => id) },
  };
}

function serves({ status, cur_perf: served }: Worker): boolean {
  return phaseOf(statusOf({ status })) === 'ready' || (served ?? 0) > 0;
}

/** With a warm worker in the last slot, the engine makes and destroys a cold one again and again. */
function keepsAllCold({ parameters: { cold_workers: cold, max_workers: most } }: EndpointLook): boolean {
  return cold !== undefined && most !== undefined && cold >= most;
}

/** Falling load ends some starts: it is a trouble if at least as many fail as succeed. */
function churning({ churned, readied }: TroubleMemory, sinceMs: number, why = ''): Judgement {
  const isOver = (churned.at(-1)?.atMs ?? -Infinity) < sinceMs;
  if (isOver || churned.length < MANY || churned.length < readied.length) return null;
  const dollars = churned.reduce((sum, { dollars: each = 0 }) => sum + each, 0);
  const isPriced = churned.every(({ dollars: each }) => each !== undefined);
  return {
    says:
      `replaced ${churned.length} workers before they were ever ready` +
      (isPriced && dollars >= 0.005 ? `, which cost $${dollars.toFixed(2)}` : '') +
      why,
    facts: { churned_workers: churned.length, ...(isPriced && { dollars }) },
  };
}

function slowStart({ lives, atMs }: EndpointLook): Judgement {
  const late = lives.filter((life) => isPresent(life) && isLate(life, atMs, CLOSE));
  const [first] = late;
  if (first === undefined) return null;
  const status = presentStatus(first);
  return {
    says:
      `has a worker (${first.id}) that has been ${status.replace('_', ' ')} for ${minutes(inStatus(first, atMs))}: ` +
      `the service gives up after about ${(LIMITS_MS.get(status) ?? 0) / 1000} s`,
    facts: { workers: late.map(({ id }) => id), seconds: inStatus(first, atMs) / 1000 },
  };
}

function isLate(life: WorkerLife, atMs: number, part: number): boolean {
  return inStatus(life, atMs) >= part * (LIMITS_MS.get(presentStatus(life)) ?? Infinity);
}

/** Time in statuses with the same limit, ms. */
function inStatus(life: WorkerLife, atMs: number): number {
  const limitMs = LIMITS_MS.get(presentStatus(life));
  const other = life.changes.findLastIndex(([status]) => LIMITS_MS.get(status) !== limitMs);
  return atMs - (life.changes[other + 1]?.[1] ?? atMs);
}

function stuckRequests({ workers, atMs }: EndpointLook, memory: TroubleMemory): Judgement {
  if (
    workers.some(
      ({ reqs_working: requests, cur_perf: served }) => (requests ?? 0) > 0 && (served ?? null) === null,
    )
  )
    return undefined;
  const stuck = [...memory.quiet].filter(([, { sinceMs }]) => atMs - sinceMs >= memory.leastStuckMs);
  const [first] = stuck;
  if (first === undefined) return null;
  const [id, { sinceMs }] = first;
  return {
    says:
      `has a worker (${id}) with requests in work that has served nothing for ${minutes(atMs - sinceMs)}: ` +
      'its counter is stuck, and keeps it running',
    facts: { workers: stuck.map(([worker]) => worker), seconds: (atMs - sinceMs) / 1000 },
  };
}

function slowMachine({ workers, lives, prices }: EndpointLook): Judgement {
  const perfs = new Map(lives.map(({ id, perf }) => [id, perf]));
  const machines = workers.flatMap(({ id, gpu_name: gpu }) => {
    const perf = perfs.get(id);
    return perf ? [{ id, gpu, seconds: 1 / perf, price: (prices.get(id)?.running ?? NaN) / perf }] : [];
  });
  if (machines.length <= LEAST_PEERS) return undefined;
  const usual = new Map(
    [...Map.groupBy(machines, ({ gpu }) => gpu)].map(([gpu, alike]) => [gpu, usualOf(alike, 'seconds')]),
  );
  const usualPrice = usualOf(machines, 'price');
  for (const { id, gpu, seconds, price } of machines) {
    const [slower, dearer] = [seconds / (usual.get(gpu) ?? NaN), price / usualPrice];
    const isSlow = slower >= FAR;
    const words = isSlow
      ? `takes ${rounded(slower)} times as long`
      : `costs ${rounded(dearer)} times as much`;
    if (isSlow || dearer >= FAR)
      return {
        says: `has a machine (worker ${id}) that ${words} for the same work as the others`,
        facts: { worker: id, ...(isSlow && { slower }), ...(dearer >= FAR && { dearer }) },
      };
  }
  return null;
}

/** NaN if too few are known: comparisons with it are false. */
function usualOf<Field extends string>(
  machines: readonly Readonly<Record<Field, number>>[],
  field: Field,
): number {
  const known = machines.map((machine) => machine[field]).filter((value) => value > 0);
  return known.length > LEAST_PEERS ? quantile(known, 0.5) : NaN;
}

function priceAboveFilter({ workers, prices, priceCeiling: ceiling }: EndpointLook): Judgement {
  if (ceiling === undefined) return undefined;
  const known = workers.flatMap(({ id }) => {
    const price = prices.get(id)?.running;
    return price === undefined ? [] : [{ id, price }];
  });
  if (known.length === 0 && workers.length > 0) return undefined;
  const dear = known.find(({ price }) => price > PRICE_TOLERANCE * ceiling);
  if (dear === undefined) return null;
  return {
    says: `has a worker (${dear.id}) at $${dear.price.toFixed(3)} an hour, and its worker groups search for at most $${ceiling.toFixed(3)}`,
    facts: { worker: dear.id, price: dear.price, ceiling },
  };
}

/** Heartbeats of a deployment move its deadline. */
function deletesSoon({ row, atMs: nowMs }: EndpointLook, { deadline }: TroubleMemory): Judgement {
  if (row?.['auto_delete_in_seconds'] === null) return null;
  if (deadline?.isFixed === undefined) return undefined;
  const leftMs = deadline.atMs - nowMs;
  if (!deadline.isFixed || leftMs > SOON_MS) return null;
  return {
    says: `deletes itself in ${minutes(Math.max(0, leftMs))}`,
    facts: { seconds: Math.max(0, leftMs) / 1000 },
  };
}

function minutes(ms: number): string {
  return ms < 2 * HOUR_MS ? `${Math.round(ms / MINUTE_MS)} min` : `${Math.round(ms / HOUR_MS)} h`;
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}

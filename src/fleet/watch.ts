/**
 * Watches endpoints: looks at their workers, and keeps lives and history. A failure concerns one look or one
 * endpoint.
 */
import type { Worker } from '../contract/operations/serverless/workers.ts';
import { missingNames, type WantedRow } from '../contract/wanted.ts';
import type { CheckedGroup } from '../scaling/rules/check.ts';
import type { EndpointSpend } from '../spend/hours.ts';
import { SpendWatch, type ListedInstances, type SpendService } from '../spend/spend-watch.ts';
import { backoffMs, Repeating } from '../time/repeating.ts';
import { within, type Clock } from '../time/clock.ts';
import {
  afterList,
  type EndpointsAnswer,
  type KnownEndpoints,
  watchedEndpoints,
} from './discovery/endpoints.ts';
import { History } from './history/history.ts';
import { ObservedEndpoint } from './observed-endpoint.ts';
import type { EndpointLook } from './troubles/memory.ts';
import type { Fleet, FleetNotice, FleetView, HistoryQuery, HistoryRow } from './view.ts';
import {
  afterLook,
  gapBetween,
  livesOf,
  statusBeforeReboot,
  type FleetEvent,
  type Look,
  type StartTimes,
  type WorkerLife,
} from './workers/lives.ts';
import {
  costPerHour,
  measure,
  type CostContext,
  type Prices,
  type WorkersAnswer,
} from './workers/measure.ts';
import { statusOf } from './workers/reports.ts';

export interface FleetService {
  endpoints(signal: AbortSignal): Promise<EndpointsAnswer>;
  /** `everyMs`: how often they are asked for. Waits for the rate limit. */
  workers(endpointId: number, everyMs: number, signal: AbortSignal): Promise<WorkersAnswer>;
  /** Never rejects: a key may lack the permission. */
  priceCeilings(signal: AbortSignal): Promise<PriceCeilings>;
  readonly prices: PriceSource;
  readonly spend: SpendService;
}

/** The highest price that worker groups search for, $/h, by endpoint id. */
export type PriceCeilings = ReadonlyMap<number, number>;

/** Prices of instances as they were last read. */
export interface PriceSource extends ListedInstances {
  known(): Prices;
  /** Reads them again if that is due; sooner if one is lacking. */
  refresh(isLacking: boolean): void;
}

interface FleetSettings {
  readonly endpoints: readonly WantedRow[];
  /** Ms. */
  readonly fleetInterval: number;
  readonly endpointGroups: readonly CheckedGroup[];
}

export interface FleetWatchOptions extends FleetSettings {
  readonly service: FleetService;
  /** STATE_DIR; undefined: the history is in memory. */
  readonly directory: string | undefined;
  readonly onEvent: (event: FleetEvent) => void;
  readonly notice: (notice: FleetNotice) => void;
  /** Called after each look. */
  readonly onTraits?: (traits: ObservedEndpoint['traits']) => void;
  readonly clock: Clock;
  readonly random: () => number;
}

interface Watched {
  readonly observation: ObservedEndpoint;
  readonly watch: Repeating;
}

/** Intervals after which two looks leave a hole. */
const MOST_GAP = 3;
/** The first looks after a start come within this time, ms. */
const FIRST_LOOKS_MS = 2_000;
/** Includes the wait for the rate limit, ms. */
const ANSWER_LIMIT_MS = 600_000;
const LIST_EVERY_MS = 300_000;
/** After a list that lacks an endpoint, ms. */
const DOUBT_MS = 30_000;

/** The golden ratio: it spaces first looks evenly for any number of endpoints. */
const GOLDEN = 0.618_033_988_75;

export class FleetWatch implements Fleet {
  readonly #options: FleetWatchOptions;
  readonly #history: History;
  readonly #spend: SpendWatch;
  readonly #lives = new Map<number, WorkerLife>();
  /** By label, of unwatched endpoints too. */
  readonly #starts = new Map<string, StartTimes>();
  readonly #watched = new Map<string, Watched>();
  #settings: FleetSettings;
  #listing: Repeating | undefined;
  #known: KnownEndpoints = [];
  #priceCeilings: PriceCeilings = new Map();
  #listFailures = 0;
  #hasList = false;
  /** Names that no endpoint has and that were reported. */
  #unknown: readonly string[] = [];
  #leaving: Promise<unknown> = Promise.resolve();

  constructor(options: FleetWatchOptions) {
    const { directory, clock, notice } = options;
    this.#options = options;
    this.#settings = options;
    this.#history = new History({
      directory,
      clock,
      kept: () => ({
        lives: this.#lives.values(),
        starts: this.#starts,
        known: knownOf(this.#known),
        ledger: this.#spend.ledger,
      }),
      notice,
    });
    this.#spend = new SpendWatch({
      service: options.service.spend,
      prices: options.service.prices,
      history: this.#history,
      intervalMs: () => this.#settings.fleetInterval,
      wantsAll: () => this.#settings.endpoints.some(({ by }) => by === 'all'),
      onUnanswered: (unanswered, cause) => notice({ kind: 'spend not told', ...unanswered, cause }),
      clock,
    });
  }

  /** Goes on from the stored state, if it can be read. */
  async start(): Promise<void> {
    const { clock } = this.#options;
    const kept = await this.#history.open();
    for (const life of kept?.lives ?? []) this.#lives.set(life.id, life);
    for (const [label, times] of kept?.starts ?? []) this.#starts.set(label, times);
    this.#known = (kept?.known ?? []).map(({ id, name, label }) => {
      return { id, name, label, row: undefined, missed: 0 };
    });
    this.#spend.start(kept?.ledger);
    if (this.#known.length > 0) this.#follow();
    this.#listing = new Repeating({ run: (signal) => this.#listEndpoints(signal), firstInMs: 0, clock });
  }

  apply(settings: FleetSettings): void {
    const { fleetInterval } = this.#settings;
    this.#settings = settings;
    this.#follow();
    this.#tellUnknown();
    if (settings.fleetInterval !== fleetInterval)
      for (const { watch } of this.#watched.values()) watch.wake();
  }

  view(): FleetView {
    const { endpointGroups } = this.#settings;
    const nowMs = this.#options.clock.now();
    const rows = new Map(this.#known.map(({ id, row }) => [id, row]));
    return {
      endpoints: Array.from(this.#watched.values(), ({ observation }) =>
        observation.view({
          row: rows.get(observation.id),
          group: endpointGroups.find(({ label }) => label === observation.label),
          sampledAtMs: this.#history.lastMs(observation.label),
          lives: livesOf(this.#lives, observation.label),
          nowMs,
        }),
      ),
      history: this.#history.kind,
      historyTrouble: this.#history.trouble,
      spend: this.#spend.view(),
      samples: true,
      isElsewhere: false,
    };
  }

  history(query: HistoryQuery): Promise<readonly HistoryRow[]> {
    return this.#history.query(query);
  }

  spends(): Promise<readonly EndpointSpend[]> {
    return this.#spend.spends();
  }

  async stop(): Promise<void> {
    await this.#listing?.stop();
    await Promise.all(Array.from(this.#watched.values(), ({ watch }) => watch.stop()));
    await this.#leaving;
    await this.#spend.stop();
    await this.#history.stop();
  }

  /** Returns the time until the next list, ms. */
  async #listEndpoints(signal: AbortSignal): Promise<number> {
    const { service, clock, random, notice } = this.#options;
    try {
      const answer = await within(clock, ANSWER_LIMIT_MS, signal, (ends) => service.endpoints(ends));
      this.#known = afterList(this.#known, answer);
      if (signal.aborted) return 0;
      this.#hasList = true;
      if (this.#listFailures > 0) notice({ kind: 'endpoints listed again', failures: this.#listFailures });
      this.#listFailures = 0;
      this.#tellUnknown();
      this.#follow();
      this.#priceCeilings = await service.priceCeilings(signal);
    } catch (error) {
      if (signal.aborted) return 0;
      this.#listFailures += 1;
      notice({ kind: 'endpoints not listed', error, failures: this.#listFailures });
      // An endpoint wanted by its id needs no list.
      this.#follow();
    }
    if (this.#listFailures > 0) return backoffMs(this.#listFailures, random());
    return this.#known.some(({ missed }) => missed > 0) ? DOUBT_MS : LIST_EVERY_MS;
  }

  /** Reports each name once, until an endpoint has it. */
  #tellUnknown(): void {
    // Before the first list nothing is known of any name.
    if (!this.#hasList) return;
    const unknown = missingNames(
      this.#settings.endpoints,
      this.#known.map(({ name }) => name),
    );
    const names = unknown.filter((name) => !this.#unknown.includes(name));
    this.#unknown = unknown;
    if (names.length > 0) this.#options.notice({ kind: 'endpoints unknown', names });
  }

  #follow(): void {
    const { notice } = this.#options;
    const wanted = watchedEndpoints(this.#settings.endpoints, this.#known);
    const stays = (label: string, id: number) => wanted.some((one) => one.label === label && one.id === id);
    const ended = [...this.#watched].filter(([label, { observation }]) => !stays(label, observation.id));
    const before = new Set(this.#watched.keys());
    for (const [label] of ended) this.#watched.delete(label);
    // A redeployed endpoint goes on under another id.
    for (const { id, label } of wanted) if (!this.#watched.has(label)) this.#begin(id, label);
    const begun = [...this.#watched.keys()].filter((label) => !before.has(label));
    const left = [...before].filter((label) => !this.#watched.has(label));
    this.#leaving = Promise.all([this.#leaving, ...ended.map(([, { watch }]) => watch.stop())]);
    if (begun.length > 0 || left.length > 0) notice({ kind: 'endpoints changed', begun, left });
    // Workers of a deleted endpoint should be gone with it; those of an unwatched one work on.
    const listed = new Set(this.#known.map(({ label }) => label));
    const forgotten = [...this.#lives.values()].filter(({ endpoint }) => !this.#watched.has(endpoint));
    const orphaned = forgotten.filter(({ endpoint }) => left.includes(endpoint) && !listed.has(endpoint));
    this.#spend.saw([], orphaned.map(idOf));
    for (const { id } of forgotten) this.#lives.delete(id);
    this.#history.record({ gone: forgotten.map(idOf), known: knownOf(this.#known) });
  }

  #begin(id: number, label: string): void {
    const { clock, random } = this.#options;
    const observation = new ObservedEndpoint(id, label, this.#starts.get(label));
    // Spreads the looks of all endpoints over the interval.
    const place = (this.#watched.size * GOLDEN + random() / 10) % 1;
    const watch = new Repeating({
      firstInMs: place * Math.min(FIRST_LOOKS_MS, this.#settings.fleetInterval),
      clock,
      run: async (signal) => {
        const begun = clock.now();
        const failures = await this.#look(observation, signal);
        const leastMs = failures === 0 ? 0 : backoffMs(failures, random());
        const { fleetInterval: intervalMs } = this.#settings;
        const ended = clock.now();
        // Missed looks are not made up for.
        const dueMs = begun + Math.max(1, Math.ceil((ended + leastMs - begun) / intervalMs)) * intervalMs;
        // A clock that is set back delays no look.
        return Math.min(dueMs - ended, leastMs + intervalMs);
      },
    });
    this.#watched.set(label, { observation, watch });
    this.#spend.watches(id, label);
  }

  /** Returns how many looks in a row have failed. */
  async #look(observation: ObservedEndpoint, signal: AbortSignal): Promise<number> {
    const { service, clock, notice } = this.#options;
    const { fleetInterval } = this.#settings;
    try {
      const answer = await within(clock, ANSWER_LIMIT_MS, signal, (ends) =>
        service.workers(observation.id, fleetInterval, ends),
      );
      this.#take(observation, answer);
      return 0;
    } catch (error) {
      if (signal.aborted) return 0;
      const failures = observation.failed(error);
      notice({ kind: 'look failed', endpoint: observation.label, error, failures });
      return failures;
    }
  }

  /** A sample, the lives of the workers, and what went wrong: each is stored before it is told. */
  #take(observation: ObservedEndpoint, read: WorkersAnswer): void {
    const { clock, notice, onEvent } = this.#options;
    const { id, label } = observation;
    // The history has whole milliseconds.
    const atMs = Math.floor(clock.now());
    const answer = observation.understand(read, this.#lives, atMs);
    const { workers } = answer;
    const prices = this.#pricesFor(workers);
    const costs: CostContext = {
      prices,
      told: this.#spend.toldFor(id),
      statusBeforeReboot: (worker) => statusBeforeReboot(this.#lives.get(worker)),
    };
    const sample = measure(answer, costs, atMs, observation.load.meaning);

    const gapMs = gapBetween(this.#history.lastMs(label), atMs, MOST_GAP * this.#settings.fleetInterval);
    const meaningOf = (worker: number) => observation.meaningOf(worker);
    const look = { endpoint: label, atMs, gapMs, workers, meaningOf };
    const { changed, gone, events } = afterLook(this.#lives, look);
    for (const life of changed) this.#lives.set(life.id, life);
    for (const worker of gone) this.#lives.delete(worker);
    this.#spend.saw(workers, gone);

    const failures = observation.succeeded(sample, events);
    const hasStarted = events.some(({ kind }) => kind === 'worker started');
    if (hasStarted) this.#starts.set(label, observation.starts);
    const starts = hasStarted && { starts: new Map([[label, observation.starts]]) };
    this.#history.record({ sample: [label, sample], lives: changed, gone, ...starts });

    if (failures > 0) notice({ kind: 'look succeeded again', endpoint: label, failures });
    for (const event of events) onEvent(event);
    // An unreadable row may be the ready worker that seems to be missing.
    if (answer.unreadable === 0) this.#judge(observation, { ...look, prices });
  }

  /** As they are known. If one is lacking, they are read again. */
  #pricesFor(workers: readonly Worker[]): Prices {
    const { prices } = this.#options.service;
    const known = prices.known();
    prices.refresh(workers.some((one) => costPerHour(statusOf(one), known.get(one.id)) === undefined));
    return known;
  }

  #judge(observation: ObservedEndpoint, look: Look & Pick<EndpointLook, 'prices'>): void {
    const { notice, onEvent, onTraits } = this.#options;
    const { id, label } = observation;
    const { notices, churned } = observation.judge({
      ...look,
      lives: livesOf(this.#lives, label),
      row: this.#known.find((one) => one.id === id)?.row,
      priceCeiling: this.#priceCeilings.get(id),
    });
    for (const { dollars } of churned) onEvent({ kind: 'worker churned', endpoint: label, dollars });
    for (const each of notices) notice(each);
    onTraits?.(observation.traits);
  }
}

const idOf = ({ id }: { readonly id: number }): number => id;

function knownOf(known: KnownEndpoints) {
  return known.map(({ id, name, label }) => ({ id, name, label }));
}

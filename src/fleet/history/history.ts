/**
 * The history of endpoints: takes what each look brings, folds it into minutes and hours, and answers what was when. It
 * never waits for where it is kept, and what cannot be stored just now is held, up to a bound, until it can be.
 */
import type { Clock } from '../../time/clock.ts';
import type { FleetSample } from '../sample.ts';
import type { LifeEvent, WorkerLife } from '../workers/lives.ts';
import { afterSample, goneOn, startOf } from './after-sample.ts';
import { fittingRows } from './fitting-rows.ts';
import { folded, type StepRow } from './fold.ts';
import { HeldWrites } from './held-writes.ts';
import { openOnceFree } from './places/open-once-free.ts';
import type { HistoryQuery, HistoryRow } from './row.ts';
import {
  NO_WRITE,
  type EndpointState,
  type HistoryStore,
  type StoredEndpoint,
  type StoredState,
  type Write,
} from './store.ts';
import { Storing } from './storing.ts';
import { tierOf, TIER_MS, type Tier } from './tiers.ts';

export interface HistoryOptions {
  readonly store: HistoryStore;
  readonly clock: Clock;
  /** All workers that are known, for a store that has lost what it had of them. */
  readonly lives: () => Iterable<WorkerLife>;
  /** Nothing can be stored any more, or something can again. */
  readonly onTrouble: (error: unknown) => void;
  readonly onStored: () => void;
}

/** What a look found, to be kept. */
export interface LookRecord {
  readonly label: string;
  readonly sample: FleetSample;
  readonly changed: readonly WorkerLife[];
  readonly gone: readonly number[];
  readonly events: readonly LifeEvent[];
}

export class History {
  readonly #options: HistoryOptions;
  readonly #states = new Map<string, EndpointState>();
  readonly #stopping = new AbortController();
  #known: readonly StoredEndpoint[] | undefined;
  readonly #held = new HeldWrites();
  /** Something that was held is lost: what is stored of the workers is to be replaced. */
  #isBehind = false;
  /** What was stored before is part of what is known here. */
  #hasLoaded = false;
  #trouble: string | undefined;
  readonly #storing: Storing;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#storing = new Storing({
      held: this.#held,
      store: () => this.#store(),
      onLost: () => (this.#isBehind = true),
      clock: options.clock,
    });
  }

  get kind(): HistoryStore['kind'] {
    return this.#options.store.kind;
  }

  /** Why nothing is stored just now. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** What was stored before, or why there is none just now: then it is tried again with each look. */
  async open(): Promise<StoredState | undefined> {
    try {
      const { store, clock } = this.#options;
      const stored = await openOnceFree(store, clock, this.#stopping.signal);
      for (const state of stored.endpoints) this.#states.set(state.label, state);
      this.#hasLoaded = true;
      return stored;
    } catch (error) {
      this.#isBehind = true;
      this.#fail(error);
      return undefined;
    }
  }

  lastMs(label: string): number | undefined {
    return this.#states.get(label)?.lastMs;
  }

  record({ label, sample, changed, gone, events }: LookRecord): void {
    const { state, closed, row } = afterSample(this.#states.get(label), label, sample);
    this.#states.set(label, state);
    this.#storing.add({
      ...NO_WRITE,
      label,
      state,
      rows: [row, ...closed],
      lives: changed,
      gone,
      starts: events.flatMap((event) => startOf(event, label, sample.atMs) ?? []),
    });
  }

  /** Workers that are no longer anybody's. */
  recordGone(gone: readonly number[]): void {
    if (gone.length > 0) this.#storing.add({ ...NO_WRITE, gone });
  }

  recordKnown(known: readonly StoredEndpoint[]): void {
    if (JSON.stringify(known) === JSON.stringify(this.#known)) return;
    this.#known = known;
    this.#storing.add({ ...NO_WRITE, known });
  }

  async query({ endpoint, fromMs, toMs, maxRows }: HistoryQuery): Promise<readonly HistoryRow[]> {
    const sinceMs = this.#states.get(endpoint)?.sinceMs ?? 0;
    const nowMs = this.#options.clock.now();
    const { keptMs } = this.#options.store;
    return fittingRows({ fromMs, toMs, maxRows, sinceMs, nowMs, keptMs }, (tier, beginMs) =>
      this.#rows(endpoint, tier, beginMs, toMs),
    );
  }

  /** What can neither be stored now nor be given to another that stores is lost. */
  async stop(): Promise<void> {
    const { store, clock } = this.#options;
    this.#stopping.abort(new Error('stopping'));
    await this.#storing.stop();
    try {
      if (store.add)
        for (const [label, rows] of await this.#held.unstored(store))
          await store.add(label, rows, clock.now());
    } catch (error) {
      this.#fail(error);
    }
    store.close();
  }

  async #rows(label: string, tier: Tier, fromMs: number, toMs: number): Promise<readonly StepRow[]> {
    const { store, clock } = this.#options;
    // What is on its way would be counted twice, or not at all.
    await this.#storing.atRest();
    const keptFromMs = clock.now() - store.keptMs[tier];
    const later = [...this.#held.rowsOf(label), ...(this.#states.get(label)?.open ?? [])].filter(
      (row) => tierOf(row) === tier && row.fromMs >= Math.max(fromMs, keptFromMs) && row.fromMs < toMs,
    );
    const stored = await store.read(label, tier, fromMs, toMs);
    if (later.length === 0) return stored;
    return tier === 'sample'
      ? [...stored, ...later].sort((a, b) => a.fromMs - b.fromMs)
      : folded([...stored, ...later], TIER_MS[tier]);
  }

  async #store(): Promise<boolean> {
    const { store, clock } = this.#options;
    try {
      if (!store.isOpen) await this.#adopt(await store.open());
      const isBehind = this.#isBehind;
      const first = isBehind ? [this.#everything()] : [];
      await store.write([...first, ...this.#held.batch], clock.now());
      if (isBehind) this.#isBehind = false;
      if (this.#trouble !== undefined) this.#options.onStored();
      this.#trouble = undefined;
      return true;
    } catch (error) {
      this.#isBehind ||= !store.isOpen;
      this.#fail(error);
      return false;
    }
  }

  /** Of workers and endpoints, as they are now: later ones of what is held say the same again. */
  #everything(): Write {
    return { ...NO_WRITE, gone: 'all', lives: [...this.#options.lives()], known: this.#known };
  }

  /** What was stored before is gone on from, or what is known here is stored in its place. */
  async #adopt(stored: StoredState): Promise<void> {
    this.#isBehind = true;
    if (stored.isOthers) await this.#giveWay();
    for (const state of stored.endpoints) {
      const own = this.#states.get(state.label);
      this.#states.set(state.label, own ? goneOn(state, own) : state);
      if (own) this.#close(state);
    }
    this.#hasLoaded = true;
  }

  /** Another has looked meanwhile: what it stored is gone on from, with what was seen here before it began. */
  async #giveWay(): Promise<void> {
    const { store } = this.#options;
    const unstoredRows = await this.#held.unstored(store);
    this.#held.replaceWith(Array.from(unstoredRows, ([label, rows]) => ({ ...NO_WRITE, label, rows })));
    this.#states.clear();
  }

  /**
   * What is stored as open has no end of its own any more, and becomes rows; but for a stretch that this process went on
   * with, and has the whole of.
   */
  #close(stored: EndpointState): void {
    const state = this.#states.get(stored.label);
    const held = this.#held.rowsOf(stored.label);
    const isOurs = (row: StepRow): boolean =>
      this.#hasLoaded &&
      [...(state?.open ?? []), ...held].some(
        ({ lengthMs, fromMs }) => lengthMs === row.lengthMs && fromMs === row.fromMs,
      );
    const rows = stored.open.filter((row) => !isOurs(row));
    this.#held.add({ ...NO_WRITE, label: stored.label, state, rows });
  }

  #fail(error: unknown): void {
    const words = error instanceof Error ? error.message : String(error);
    if (this.#trouble === undefined) this.#options.onTrouble(error);
    this.#trouble = words;
  }
}

/**
 * Cost of endpoints: told and billed by the service, and counted from samples. If the service refuses a
 * question, its figures are missing and the view names the permission.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../contract/times.ts';
import type { Charge } from '../contract/operations/spend.ts';
import { within, type Clock } from '../time/clock.ts';
import { Repeating } from '../time/repeating.ts';
import {
  billedDay,
  dayOf,
  daysUntil,
  NOTHING_BILLED,
  sum,
  sumOf,
  type Billed,
  type BilledDay,
} from './bill.ts';
import { BILL_DAYS, endpointSpend, monthOf, monthSoFar, spentOn, usualUntilNow } from './hours.ts';
import type { EndpointSpend, Figure, Hour, Month } from './hours.ts';

export interface SpendService {
  /** Dollars an hour by endpoint id; null: the service does not know. */
  told(signal: AbortSignal): Promise<ReadonlyMap<number, number | null>>;
  /** Of a UTC day such as `2026-11-28`; undefined if a row could not be read. */
  charges(day: string, signal: AbortSignal): Promise<readonly Charge[] | undefined>;
  /** Whether a repetition would not help. */
  howRefused(error: unknown): 'permission' | 'refused' | undefined;
}

export interface Unanswered {
  /** Needed for dollars an hour, or for the charges. */
  readonly permission: 'user_read' | 'billing_read';
  /** Whether its lack is the reason. */
  readonly isMissing: boolean;
  readonly error: string;
}

export interface SpendView {
  readonly endpoints: ReadonlyMap<
    string,
    {
      readonly today: Figure | undefined;
      /** Mean of the days before up to this time of day, dollars. */
      readonly usualToday: number | undefined;
      readonly month: Figure | undefined;
    }
  >;
  readonly month: Month | undefined;
  /** Instances whose worker is gone; undefined until instances were listed. */
  readonly orphans: { readonly instances: number; readonly spendPerHour: number | undefined } | undefined;
  readonly unanswered: readonly Unanswered[];
}

/** Outlives endpoints and workers: the owners of the bill's ids and of remaining instances. */
export interface Ledger {
  readonly labels: readonly (readonly [id: number, label: string])[];
  /** Gone workers by the id of their instance, Unix ms. */
  readonly former: readonly (readonly [id: number, goneMs: number])[];
}

export interface ListedInstances {
  /** By id, with the current dollars an hour if known. */
  known(): ReadonlyMap<number, { readonly now?: number | undefined }>;
  /** Unix ms; undefined: not yet. */
  listedAtMs(): number | undefined;
}

interface SpendHistory {
  labels(): readonly string[];
  /** `holeMs`: no sample counts for longer. */
  hours(label: string, fromMs: number, toMs: number, holeMs: number): Promise<readonly Hour[]>;
  record(kept: { readonly ledger: Ledger }): void;
}

interface SpendWatchOptions {
  readonly service: SpendService;
  readonly prices: ListedInstances;
  readonly history: SpendHistory;
  readonly intervalMs: () => number;
  /** Whether the bill includes endpoints that were never watched. */
  readonly wantsAll: () => boolean;
  /** Called once, until the service answers again. */
  readonly onUnanswered: (unanswered: Unanswered, cause: unknown) => void;
  readonly clock: Clock;
}

const COUNT_EVERY_MS = 15_000;
const RATES_EVERY_MS = 60_000;
/** Older told figures are out of date. */
const TOLD_FOR_MS = 10 * MINUTE_MS;
const BILL_EVERY_MS = 6 * HOUR_MS;
/** From the beginning of a day until its bill is final. */
const FINAL_AFTER_MS = 3 * DAY_MS;
/** From the beginning of a day: its last hours may be billed late. */
const WHOLE_AFTER_MS = DAY_MS + 6 * HOUR_MS;
const AFTER_FAILURE_MS = 5 * MINUTE_MS;
const AFTER_REFUSAL_MS = HOUR_MS;
/** A sample counts until the next one, but no longer than this or so many looks. */
const HOLE_MS = 5 * MINUTE_MS;
const HOLE_LOOKS = 3;
const ANSWER_LIMIT_MS = 600_000;
/** Instances outlive their workers for a while. */
const ORPHAN_AFTER_MS = 5 * MINUTE_MS;
const MOST_REMEMBERED = 10_000;

export class SpendWatch {
  readonly #options: SpendWatchOptions;
  readonly #labels = new Map<number, string>();
  readonly #former = new Map<number, number>();
  readonly #billed = new Map<string, { readonly day: BilledDay; readonly askedMs: number }>();
  readonly #hours = new Map<string, readonly Hour[]>();
  readonly #unanswered = new Map<Unanswered['permission'], Unanswered>();
  #told: { readonly atMs: number; readonly rates: ReadonlyMap<number, number | null> } | undefined;
  #countedDay: string | undefined;
  #counting: Promise<void> | undefined;
  #view: Omit<SpendView, 'orphans' | 'unanswered'> = { endpoints: new Map(), month: undefined };
  #repeated: readonly Repeating[] = [];

  constructor(options: SpendWatchOptions) {
    this.#options = options;
  }

  start({ labels, former }: Ledger = { labels: [], former: [] }): void {
    const { clock, intervalMs } = this.#options;
    for (const [id, label] of labels) this.#labels.set(id, label);
    for (const [id, goneMs] of former) this.#former.set(id, goneMs);
    this.#repeated = [
      (signal: AbortSignal) => this.#askRates(signal),
      (signal: AbortSignal) => this.#askBill(signal),
      async (signal: AbortSignal) => {
        await this.#count();
        return signal.aborted ? 0 : Math.max(COUNT_EVERY_MS, intervalMs());
      },
    ].map((run) => new Repeating({ run, firstInMs: 0, clock }));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#repeated.map((each) => each.stop()));
  }

  get ledger(): Ledger {
    return { labels: [...this.#labels], former: [...this.#former] };
  }

  /** Dollars an hour that the service tells. */
  toldFor(id: number): number | undefined {
    const { clock, intervalMs } = this.#options;
    const freshMs = Math.max(TOLD_FOR_MS, HOLE_LOOKS * intervalMs());
    const { atMs, rates } = this.#told ?? {};
    return clock.now() - (atMs ?? -Infinity) <= freshMs ? (rates?.get(id) ?? undefined) : undefined;
  }

  watches(id: number, label: string): void {
    if (this.#labels.get(id) === label) return;
    this.#labels.set(id, label);
    this.#keep();
  }

  saw(present: readonly { readonly id: number }[], gone: readonly number[]): void {
    const known = this.#options.prices.known();
    const listedMs = this.#options.prices.listedAtMs() ?? 0;
    const back = present.filter(({ id }) => this.#former.delete(id)).length;
    const ended = [...this.#former].filter(([id, goneMs]) => listedMs > goneMs && !known.has(id));
    for (const [id] of ended) this.#former.delete(id);
    for (const id of gone) this.#former.set(id, Math.floor(this.#options.clock.now()));
    if (back + ended.length + gone.length > 0) this.#keep();
  }

  view(): SpendView {
    const { prices } = this.#options;
    const listedMs = prices.listedAtMs();
    const costs = [...this.#former].flatMap(([id, goneMs]) => {
      const price = prices.known().get(id);
      return price && (listedMs ?? 0) > goneMs + ORPHAN_AFTER_MS ? [price.now] : [];
    });
    const spendPerHour = costs.every((cost) => cost !== undefined) ? sum(costs) : undefined;
    return {
      ...this.#view,
      orphans: listedMs === undefined ? undefined : { instances: costs.length, spendPerHour },
      unanswered: [...this.#unanswered.values()],
    };
  }

  /** Each endpoint that is or was watched, and all of the bill if all are wanted. */
  async spends(): Promise<readonly EndpointSpend[]> {
    await this.#count();
    return this.#known();
  }

  #known(): readonly EndpointSpend[] {
    const today = dayOf(new Date(this.#options.clock.now()));
    // A bill asked before the day was over, or just after, is incomplete.
    const days = [...this.#billed].flatMap(([name, { day, askedMs }]) =>
      name === today || askedMs >= Date.parse(name) + WHOLE_AFTER_MS ? [day] : [],
    );
    // A charge without an owner may belong to any endpoint.
    const nothing = days.flatMap(({ day, endpoints }) =>
      endpoints.has(null) ? [] : [[day, NOTHING_BILLED] as const],
    );
    // The last endpoint of a label has it now.
    const ids = new Map<string, number | null>(Array.from(this.#labels, ([id, label]) => [label, id]));
    for (const label of this.#hours.keys()) if (!ids.has(label)) ids.set(label, null);
    const billed = new Map(Array.from(ids.keys(), (label) => [label, new Map<string, Billed>(nothing)]));
    for (const { day, endpoints } of days)
      for (const [id, one] of endpoints) {
        const label = this.#labelOf(id);
        if (label === undefined) continue;
        const own = billed.get(label) ?? new Map<string, Billed>(id === null ? [] : nothing);
        billed.set(label, own.set(day, sumOf([own.get(day) ?? NOTHING_BILLED, one])));
        if (!ids.has(label)) ids.set(label, id);
      }
    return Array.from(billed, ([label, own]) =>
      endpointSpend(label, ids.get(label) ?? null, this.#hours.get(label) ?? [], own),
    );
  }

  #labelOf(id: number | null): string | undefined {
    const known = id === null ? undefined : this.#labels.get(id);
    if (known !== undefined || !this.#options.wantsAll()) return known;
    return id === null ? 'not told' : `#${id}`;
  }

  /** Returns the time until the next question, ms. */
  async #askRates(signal: AbortSignal): Promise<number> {
    const { service, clock, intervalMs } = this.#options;
    return this.#asking('user_read', signal, async (ends) => {
      const rates = await service.told(ends);
      this.#told = { atMs: clock.now(), rates };
      return Math.max(RATES_EVERY_MS, intervalMs());
    });
  }

  async #askBill(signal: AbortSignal): Promise<number> {
    const { service, clock } = this.#options;
    const nowMs = clock.now();
    const days = daysUntil(new Date(nowMs), BILL_DAYS - 1);
    for (const day of this.#billed.keys()) if (!days.includes(day)) this.#billed.delete(day);
    const due = days.filter(
      (day) => (this.#billed.get(day)?.askedMs ?? 0) < Date.parse(day) + FINAL_AFTER_MS,
    );
    for (const day of due.toReversed()) {
      const failedMs = await this.#asking('billing_read', signal, async (ends) => {
        const charges = await service.charges(day, ends);
        if (charges) this.#billed.set(day, { day: billedDay(day, charges), askedMs: nowMs });
        return 0;
      });
      if (failedMs > 0 || signal.aborted) return failedMs;
    }
    this.#recount();
    return BILL_EVERY_MS;
  }

  async #asking(
    permission: Unanswered['permission'],
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<number>,
  ): Promise<number> {
    const { clock, onUnanswered } = this.#options;
    try {
      const nextMs = await within(clock, ANSWER_LIMIT_MS, signal, ask);
      this.#unanswered.delete(permission);
      return nextMs;
    } catch (error) {
      if (signal.aborted) return 0;
      const refusal = this.#options.service.howRefused(error);
      const isMissing = refusal === 'permission';
      const unanswered = { permission, isMissing, error: (error as Error).message };
      if (!this.#unanswered.has(permission)) onUnanswered(unanswered, error);
      this.#unanswered.set(permission, unanswered);
      return refusal ? AFTER_REFUSAL_MS : AFTER_FAILURE_MS;
    }
  }

  /** Callers share a count that is under way. */
  #count(): Promise<void> {
    this.#counting ??= this.#countHours().finally(() => (this.#counting = undefined));
    return this.#counting;
  }

  /** Reads the hours since the last time; all of them once a day, because rows may come late. */
  async #countHours(): Promise<void> {
    const { history, clock, intervalMs } = this.#options;
    const holeMs = Math.max(HOLE_MS, HOLE_LOOKS * intervalMs());
    const nowMs = Math.floor(clock.now());
    const today = dayOf(new Date(nowMs));
    try {
      for (const label of history.labels()) {
        const known = (today === this.#countedDay ? this.#hours.get(label) : undefined) ?? [];
        const fromMs = known.at(-1)?.atMs ?? Date.parse(today) - BILL_DAYS * DAY_MS;
        const news = await history.hours(label, fromMs, nowMs, holeMs);
        this.#hours.set(label, [...known.slice(0, -1), ...news]);
      }
      this.#countedDay = today;
      this.#recount();
    } catch {
      // The history reports its own trouble.
    }
  }

  #recount(): void {
    const now = new Date(this.#options.clock.now());
    const spends = this.#known();
    const today = dayOf(now);
    const own = spends.map((spend) => {
      const ofToday = spentOn(spend, today, today);
      // Billed and counted figures do not compare.
      const usualToday = ofToday?.source === 'billed' ? undefined : usualUntilNow(spend, now.getTime());
      return [spend.endpoint, { today: ofToday, usualToday, month: monthSoFar([spend], now) }] as const;
    });
    this.#view = { endpoints: new Map(own), month: monthOf(spends, now) };
  }

  #keep(): void {
    for (const kept of [this.#labels, this.#former])
      for (const id of kept.keys()) if (kept.size > MOST_REMEMBERED) kept.delete(id);
    this.#options.history.record({ ledger: this.ledger });
  }
}

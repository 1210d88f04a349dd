/** The history of one process, gone at its end: for some days only, so that it stays small. */
import { added, type StepRow } from '../fold.ts';
import { packed, unpacked } from '../packed-row.ts';
import { NOTHING_STORED, type HistoryStore, type Write } from '../store.ts';
import { tierOf, TIER_MS, TIERS, type Tier } from '../tiers.ts';

const HOUR_MS = 3_600_000;
/** All rows of all endpoints are looked at for it. */
const PURGE_EVERY_MS = 60_000;

/** Some hundred bytes a row: a megabyte for each endpoint. */
const KEPT_MS: Readonly<Record<Tier, number>> = {
  sample: 2 * HOUR_MS,
  minute: 50 * HOUR_MS,
  hour: 40 * 24 * HOUR_MS,
};

/** By the begin of its stretch, in the order in which they came, which is that of time but where a clock was set. */
type Rows = Map<number, Uint8Array>;

export class MemoryHistory implements HistoryStore {
  readonly kind = 'memory';
  readonly keptMs = KEPT_MS;
  readonly isOpen = true;
  readonly #rows = new Map<string, Record<Tier, Rows>>();
  #purgedAtMs = -Infinity;

  open() {
    return Promise.resolve(NOTHING_STORED);
  }

  write(writes: readonly Write[], nowMs: number): Promise<void> {
    for (const { rows, label } of writes) for (const row of rows) this.#add(label, row);
    this.#purge(nowMs);
    return Promise.resolve();
  }

  read(label: string, tier: Tier, fromMs: number, toMs: number): Promise<readonly StepRow[]> {
    const found = [...(this.#rows.get(label)?.[tier] ?? [])].filter(([at]) => at >= fromMs && at < toMs);
    const rows = found.map(([at, bytes]) => unpacked(bytes, at, TIER_MS[tier]));
    return Promise.resolve(rows.sort((a, b) => a.fromMs - b.fromMs));
  }

  close(): void {
    this.#rows.clear();
  }

  #add(label: string, row: StepRow): void {
    const tiers = this.#rows.get(label) ?? { sample: new Map(), minute: new Map(), hour: new Map() };
    this.#rows.set(label, tiers);
    const rows = tiers[tierOf(row)];
    const before = rows.get(row.fromMs);
    const whole = before ? added(unpacked(before, row.fromMs, row.lengthMs), row) : row;
    rows.set(row.fromMs, packed(whole));
  }

  #purge(nowMs: number): void {
    // A clock that was set back is as good a reason as one that went on.
    if (Math.abs(nowMs - this.#purgedAtMs) < PURGE_EVERY_MS) return;
    this.#purgedAtMs = nowMs;
    for (const [label, tiers] of this.#rows) {
      for (const tier of TIERS) {
        for (const at of tiers[tier].keys()) {
          if (at < nowMs - this.keptMs[tier]) tiers[tier].delete(at);
        }
      }
      if (TIERS.every((tier) => tiers[tier].size === 0)) this.#rows.delete(label);
    }
  }
}

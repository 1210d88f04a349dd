/** A history of endpoints as the daemon would have written it, for benches that cannot wait for one. */
import * as sqlite from 'node:sqlite';
import { folded, rowOf, type StepRow } from '../../src/fleet/history/fold.ts';
import { HistoryFile } from '../../src/fleet/history/places/history-file.ts';
import { NO_WRITE } from '../../src/fleet/history/store.ts';

const INTERVAL_MS = 15_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** As long as the daemon keeps minutes. */
const MINUTE_DAYS = 100;

export interface HistorySpan {
  /** One each. */
  readonly labels: readonly string[];
  /** Until now, days. */
  readonly days: number;
  /** The last so many of them with every sample. */
  readonly fineDays: number;
  /** Its end, Unix ms. */
  readonly endMs: number;
}

/** @param path Of the database, which is made. */
export function writeHistory(path: string, { labels, days, fineDays, endMs }: HistorySpan): void {
  const beginMs = endMs - days * DAY_MS;
  const file = new HistoryFile(sqlite, path);
  for (let fromMs = beginMs; fromMs < endMs; fromMs += HOUR_MS) {
    const writes = labels.map((label, endpoint) => {
      const samples = hourOf(endpoint, fromMs);
      const minutes = fromMs >= endMs - MINUTE_DAYS * DAY_MS ? folded(samples, 60_000) : [];
      const fine = fromMs >= endMs - fineDays * DAY_MS ? samples : [];
      const rows = [...fine, ...minutes, ...folded(samples, HOUR_MS)];
      const state = { label, sinceMs: beginMs, lastMs: fromMs, open: [], inForce: undefined };
      return { ...NO_WRITE, label, rows, state };
    });
    file.write(writes, fromMs + HOUR_MS);
  }
  file.close();
}

/** A day with a busy afternoon, workers that come and go with it, and numbers with as many digits as real ones. */
function hourOf(endpoint: number, fromMs: number): StepRow[] {
  return Array.from({ length: HOUR_MS / INTERVAL_MS }, (_, index) => {
    const atMs = fromMs + index * INTERVAL_MS + endpoint * 137;
    const busy = 1 - Math.cos((atMs / DAY_MS) * 2 * Math.PI) + Math.sin(atMs / 77_777) / 3;
    const load = Math.abs(busy) * 2_345.678 * (1 + endpoint);
    const idle = Math.ceil(load / 900);
    const cold = 20 + endpoint - (idle % 20);
    return rowOf({
      atMs,
      measures: {
        load,
        load_average: load * 0.97,
        capacity_hot: idle * 1_013.77,
        capacity_cold: cold * 1_013.77,
        requests_working: Math.round(load / 100),
        spend_per_hour: idle * 0.4321 + cold * 0.0123,
      },
      workers: { idle, stopped: cold, loading: index % 3, error: index % 50 === 0 ? 1 : 0 },
    });
  });
}

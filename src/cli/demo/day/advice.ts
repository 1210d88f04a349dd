/** What was seen of the day, kept as a daemon keeps it, and what other parameters would have done with it. */
import type { Worker } from '../../../contract/operations/serverless/workers.ts';
import {
  recordedRow,
  recordedStarts,
  recordedStretches,
  type RecordedRow,
} from '../../../fleet/advice/recorded.ts';
import { inUnits, rowOf } from '../../../fleet/history/fold.ts';
import type { FleetSample } from '../../../fleet/sample.ts';
import { LivesByEndpoint } from '../../../fleet/workers/lives-by-endpoint.ts';
import { afterLook } from '../../../fleet/workers/lives.ts';
import { advise } from '../../../scaling/advice/advise.ts';
import type { AdviceReport } from '../../../scaling/advice/report.ts';
import type { ResolvedParameters } from '../../../scaling/rules/findings.ts';

/** Looks that are further apart leave a hole, ms. */
const MOST_GAP_MS = 120_000;

export class DayRecord {
  readonly #endpoint: string;
  readonly #lives = new LivesByEndpoint();
  readonly #rows: RecordedRow[] = [];
  readonly #starts: { readonly new: number[]; readonly cold: number[] } = { new: [], cold: [] };

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  look(sample: FleetSample, workers: readonly Worker[]): void {
    const previousMs = this.#rows.at(-1)?.fromMs;
    const look = { endpoint: this.#endpoint, atMs: sample.atMs, previousMs, workers };
    const { changed, gone, events } = afterLook(this.#lives, look, MOST_GAP_MS);
    for (const life of changed) this.#lives.put(life);
    for (const id of gone) this.#lives.remove(id);
    for (const event of events) if (event.kind === 'started') this.#starts[event.from].push(event.seconds);
    this.#rows.push(recordedRow(inUnits(rowOf(sample))));
  }

  /** The reserve of cold workers is left as it is, which is most of what a search would try. */
  advice(
    parameters: ResolvedParameters,
    signal: AbortSignal,
    progress: (share: number) => void,
  ): Promise<AdviceReport> {
    const { cold_mult, cold_workers, min_cold_load } = parameters;
    const recorded = {
      endpoint: this.#endpoint,
      stretches: recordedStretches(this.#rows),
      starts: recordedStarts({ performances: [], startSeconds: this.#starts }),
      performances: [...this.#lives.all()].flatMap(({ perf }) => perf ?? []),
      parameters,
    };
    const bounds = {
      cold_mult: [cold_mult, cold_mult],
      cold_workers: [cold_workers, cold_workers],
      min_cold_load: [min_cold_load, min_cold_load],
    } as const;
    const nowMs = this.#rows.at(-1)?.fromMs ?? 0;
    return advise(recorded, { nowMs }, { bounds, signal, progress: ({ share }) => progress(share) });
  }
}

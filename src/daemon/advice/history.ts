/** What the history has of an endpoint, as a question of advice: read in pages, and between them all else has its turn. */
import { packedRows, type PackedRows } from '../../fleet/advice/packed-rows.ts';
import { recordedRow, recordedStarts } from '../../fleet/advice/recorded.ts';
import type { EndpointView, Fleet } from '../../fleet/view.ts';
import type { Recorded } from '../../scaling/advice/recorded.ts';
import type { ResolvedParameters } from '../../scaling/rules/findings.ts';

/** The stretch of history that advice goes by, ms. */
export const WINDOW_MS = 7 * 86_400_000;
/** Of so long a time all looks fit into an answer, and what is made of them into V8's young generation. */
const PAGE_MS = 1_800_000;
const ROWS = 5_000;

export interface RecordedOf {
  readonly endpoint: Pick<EndpointView, 'endpoint' | 'measured'>;
  readonly parameters: ResolvedParameters;
  readonly parametersSinceMs: number | undefined;
  readonly nowMs: number;
}

/** With its rows still packed: whoever computes unpacks them. */
export type PackedRecorded = Omit<Recorded, 'stretches'> & { readonly pages: readonly PackedRows[] };

/** @throws Where the history cannot be read, or the signal aborts. */
export async function recordedOf(
  fleet: Pick<Fleet, 'history'>,
  { endpoint: { endpoint, measured }, parameters, parametersSinceMs, nowMs }: RecordedOf,
  signal: AbortSignal,
): Promise<PackedRecorded> {
  const pages: PackedRows[] = [];
  let lastMs = -Infinity;
  for (let fromMs = nowMs - WINDOW_MS; fromMs < nowMs; fromMs += PAGE_MS) {
    // A file answers at once, and so would all pages one after the other, without anything else or V8's own work between.
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    const toMs = Math.min(nowMs, fromMs + PAGE_MS);
    const page = await fleet.history({ endpoint, fromMs, toMs, maxRows: ROWS });
    // A row that has the begin of the page is in the one before it too.
    const rows = page.filter((row) => row.fromMs > lastMs).map(recordedRow);
    lastMs = rows.at(-1)?.fromMs ?? lastMs;
    pages.push(packedRows(rows));
  }
  return {
    endpoint,
    pages,
    starts: recordedStarts(measured),
    performances: measured.performances,
    parameters,
    parametersSinceMs,
  };
}

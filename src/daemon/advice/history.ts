/** What the history has of an endpoint, as a question of advice: read in pages, so that nothing else has to wait. */
import {
  recordedRow,
  recordedStarts,
  recordedStretches,
  type RecordedRow,
} from '../../fleet/advice/recorded.ts';
import type { EndpointView, Fleet } from '../../fleet/view.ts';
import type { Recorded } from '../../scaling/advice/recorded.ts';
import type { ResolvedParameters } from '../../scaling/rules/findings.ts';

/** The stretch of history that advice goes by, ms. */
export const WINDOW_MS = 7 * 86_400_000;
/**
 * Of so long a time all looks fit into an answer, and into V8's young generation: what is made of a page goes with it. Of
 * six hours, the daemon took 60 MB more after each advice, and kept them.
 */
const PAGE_MS = 1_800_000;
const ROWS = 5_000;

export interface RecordedOf {
  readonly endpoint: Pick<EndpointView, 'endpoint' | 'measured'>;
  readonly parameters: ResolvedParameters;
  readonly parametersSinceMs: number | undefined;
  readonly nowMs: number;
}

export async function recordedOf(
  fleet: Pick<Fleet, 'history'>,
  { endpoint: { endpoint, measured }, parameters, parametersSinceMs, nowMs }: RecordedOf,
): Promise<Recorded> {
  const rows: RecordedRow[] = [];
  for (let fromMs = nowMs - WINDOW_MS; fromMs < nowMs; fromMs += PAGE_MS) {
    const toMs = Math.min(nowMs, fromMs + PAGE_MS);
    const page = await fleet.history({ endpoint, fromMs, toMs, maxRows: ROWS });
    // A row that has the begin of the page is in the one before it too.
    const last = rows.at(-1)?.fromMs ?? -Infinity;
    rows.push(...page.filter((row) => row.fromMs > last).map(recordedRow));
  }
  return {
    endpoint,
    stretches: recordedStretches(rows),
    starts: recordedStarts(measured),
    performances: measured.performances,
    parameters,
    parametersSinceMs,
  };
}

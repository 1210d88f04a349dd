/** What a running daemon recorded of an endpoint, as advice takes it. */
import type { FleetHistory } from '../../daemon/http/fleet/answer.ts';
import {
  recordedRow,
  recordedStarts,
  recordedStretches,
  type RecordedRow,
} from '../../fleet/advice/recorded.ts';
import type { Aggregate, HistoryRow } from '../../fleet/history/row.ts';
import type { Measured } from '../../fleet/view.ts';
import type { Recorded } from '../../scaling/advice/recorded.ts';
import type { ResolvedParameters } from '../../scaling/rules/findings.ts';
import { DaemonAway, fetchFleet, type DaemonAddress } from '../fleet/daemon.ts';

/** What is asked for at once: of so long a time all looks fit into an answer, where they are still kept. */
const PAGE_SECONDS = 6 * 3600;
const ROWS = 5_000;

type Row = FleetHistory['endpoints'][number]['rows'][number];
type Stretch = Row['load'];

export interface Asked {
  readonly daemon: DaemonAddress;
  readonly endpoint: string;
  readonly parameters: ResolvedParameters;
  /** Since when they are these, Unix seconds; null where nobody has seen others. */
  readonly parametersSince: number | null;
  /** Unix seconds. */
  readonly from: number;
  readonly to: number;
}

/** @throws DaemonAway where it does not answer, or has no such endpoint any more */
export async function fetchRecorded(asked: Asked, signal: AbortSignal): Promise<Recorded> {
  const { daemon, endpoint, parameters, parametersSince, from, to } = asked;
  const rows: RecordedRow[] = [];
  let measured: Measured = { performances: [], startSeconds: { new: [], cold: [] } };
  for (let at = from; at < to; at += PAGE_SECONDS) {
    const query = {
      endpoint,
      from: String(at),
      to: String(Math.min(to, at + PAGE_SECONDS)),
      rows: String(ROWS),
    };
    const { endpoints } = await fetchFleet(daemon, query, signal);
    const [found] = endpoints;
    if (!found) throw new DaemonAway(`${daemon.url}: it no longer knows the endpoint ${endpoint}`);
    // A row of minutes or hours that has the begin of the page is in the one before it too.
    const last = rows.at(-1)?.fromMs ?? -Infinity;
    rows.push(...found.rows.map((row) => recordedRow(historyRow(row))).filter(({ fromMs }) => fromMs > last));
    if (found.measured) measured = measuredOf(found.measured);
  }
  return {
    endpoint,
    parameters,
    parametersSinceMs: parametersSince === null ? undefined : parametersSince * 1000,
    stretches: recordedStretches(rows),
    starts: recordedStarts(measured),
    performances: measured.performances,
  };
}

function measuredOf({
  performance,
  start_seconds,
}: NonNullable<FleetHistory['endpoints'][number]['measured']>): Measured {
  return { performances: performance, startSeconds: start_seconds };
}

function historyRow(row: Row): HistoryRow {
  const { from, length_seconds, samples, workers } = row;
  return {
    fromMs: from * 1000,
    lengthMs: length_seconds * 1000,
    samples,
    measures: {
      load: aggregateOf(row.load),
      load_average: aggregateOf(row.load_average),
      capacity_hot: aggregateOf(row.capacity_hot),
      capacity_cold: aggregateOf(row.capacity_cold),
      requests_working: aggregateOf(row.requests_working),
      cost_per_hour: aggregateOf(row.cost_per_hour),
    },
    workers: Object.fromEntries(Object.entries(workers).map(([status, each]) => [status, aggregateOf(each)])),
  };
}

function aggregateOf(stretch: Stretch): Aggregate {
  if (stretch === null) return { count: 0, sum: 0, peak: 0 };
  return { count: stretch.samples, sum: stretch.mean * stretch.samples, peak: stretch.peak };
}

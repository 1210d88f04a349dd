/** /api/fleet: what the daemon recorded of endpoints. Unix seconds; null is not known. */
import { setImmediate as othersTurn } from 'node:timers/promises';
import * as z from 'zod';
import { WORKER_STATUSES } from '../../contract/operations/serverless/workers.ts';
import type { Aggregate, Fleet, HistoryRow } from '../../fleet/view.ts';
import { MEASURE_NAMES, MEASURES, type Measure } from '../../fleet/workers/measure.ts';
import { count, publishedSchema, time, type DeepReadonly } from '../status/fact.ts';
import { badQuery, elsewhere, endpointField, FORMAT, inFormat, queryReader } from './query.ts';
import { csvOf, schemaRoute, type Reply, type RouteRequest, type Routes } from './reply.ts';

const stretch = z.object({
  mean: z.number(),
  peak: z.number().describe('The largest'),
  samples: count.describe('In which it was known; mean times this is the exact sum'),
});

const measures = Object.fromEntries(
  MEASURE_NAMES.map((name) => [name, stretch.nullable().describe(MEASURES[name])]),
) as Record<Measure, z.ZodNullable<typeof stretch>>;

const row = z.object({
  from: time,
  length_seconds: z
    .number()
    .min(0)
    .describe('0: one sample; else whole minutes, hours or days. A stretch without samples has no row'),
  samples: count,
  ...measures,
  workers: z.record(z.string(), stretch).describe('By status; none where there were no workers of it'),
});

const endpoint = z.object({
  endpoint_group: z.string().describe('As metrics and status name it'),
  endpoint_id: count,
  measured: z
    .object({
      performance: z.array(z.number()).describe('Of each worker that there is, units a second'),
      start_seconds: z
        .object({ new: z.array(z.number()), cold: z.array(z.number()) })
        .describe('How long the last starts took, from nothing and from stopped'),
    })
    .describe('What is known of single workers'),
  rows: z.array(row).describe('Oldest first'),
});

export const fleetHistorySchema = z.object({ from: time, to: time, endpoints: z.array(endpoint) });

export type FleetHistory = DeepReadonly<z.infer<typeof fleetHistorySchema>>;
type FleetHistoryRow = z.infer<typeof row>;

/** Served at /api/fleet/schema; the tree has it as deploy/fleet.schema.json. */
export const fleetJsonSchema = publishedSchema(
  'What a Pilotlight daemon recorded of its endpoints',
  fleetHistorySchema,
);

function fleetRow({ fromMs, lengthMs, samples, measures: known, workers }: HistoryRow): FleetHistoryRow {
  const measured = MEASURE_NAMES.map((name) => [name, stretchOf(known[name])]);
  const byStatus = Object.entries(workers).map(([status, all]) => [status, stretchOf(all)] as const);
  return {
    from: fromMs / 1000,
    length_seconds: lengthMs / 1000,
    samples,
    ...(Object.fromEntries(measured) as Pick<FleetHistoryRow, Measure>),
    workers: Object.fromEntries(byStatus.flatMap(([status, value]) => (value ? [[status, value]] : []))),
  };
}

function stretchOf({ count: known, sum, peak }: Aggregate): z.infer<typeof stretch> | null {
  return known === 0 ? null : { mean: sum / known, peak, samples: known };
}

const STATUSES = [...WORKER_STATUSES, 'unknown'];

const CSV_COLUMNS = [
  'endpoint_group',
  'endpoint_id',
  'from',
  'length_seconds',
  'samples',
  ...MEASURE_NAMES.flatMap((name) => [name, `${name}_peak`]),
  ...STATUSES.flatMap((status) => [`workers_${status}`, `workers_${status}_peak`]),
];

/** Always the same columns. A status without workers is 0. */
function fleetCsv({ endpoints }: FleetHistory): string {
  const lines = endpoints.flatMap(({ endpoint_group, endpoint_id, rows }) =>
    rows.map((one) => [
      endpoint_group,
      endpoint_id,
      new Date(one.from * 1000).toISOString(),
      one.length_seconds,
      one.samples,
      ...MEASURE_NAMES.flatMap((name) => [one[name]?.mean, one[name]?.peak]),
      ...STATUSES.flatMap((status) => [one.workers[status]?.mean ?? 0, one.workers[status]?.peak ?? 0]),
    ]),
  );
  return csvOf(CSV_COLUMNS, lines);
}

export function fleetRoutes(fleet: Fleet): Routes {
  return {
    'GET /api/fleet': (request) => answer(fleet, request),
    'GET /api/fleet/schema': schemaRoute(fleetJsonSchema),
  };
}

async function answer(fleet: Fleet, { headers, query }: RouteRequest): Promise<Reply> {
  const { endpoints: known, isElsewhere } = fleet.view();
  if (isElsewhere) return elsewhere();
  const labels = known.map(({ endpoint: label }) => label);
  const read = readFleetQuery(query, labels, Date.now());
  if ('problems' in read) return badQuery(read.problems);
  const { fromMs, toMs, rows: maxRows, format } = read;
  const endpoints: FleetHistory['endpoints'][number][] = [];
  // One by one: memory holds the rows of one endpoint, and other requests get a turn.
  for (const { endpoint: label, id, measured } of known) {
    if (!read.endpoints.includes(label)) continue;
    await othersTurn();
    const rows = await fleet.history({ endpoint: label, fromMs, toMs, maxRows });
    endpoints.push({
      endpoint_group: label,
      endpoint_id: id,
      measured: { performance: measured.performances, start_seconds: measured.startSeconds },
      rows: rows.map((one) => fleetRow(one)),
    });
  }
  const found: FleetHistory = { from: fromMs / 1000, to: toMs / 1000, endpoints };
  return inFormat(format, headers, found, fleetCsv);
}

const FIELDS = ['endpoint', 'from', 'to', 'rows', 'format'];
const DEFAULT_FROM = '-6h';
const DEFAULT_ROWS = '500';
/** The history folds to no fewer. */
const LEAST_ROWS = 16;
const MOST_ROWS = 5_000;
/** Of all endpoints together, so that an answer is bounded. */
const MOST_ROWS_IN_ALL = 20_000;

const ROWS = {
  read(text: string): number | undefined {
    const rows = /^\d+$/.test(text) ? Number(text) : 0;
    return rows >= LEAST_ROWS && rows <= MOST_ROWS ? rows : undefined;
  },
  allowed: `a whole number from ${LEAST_ROWS} to ${MOST_ROWS}`,
};

/** `toMs` is not included. */
export function readFleetQuery(query: URLSearchParams, endpoints: readonly string[], nowMs: number) {
  const { one, problems, wrong } = queryReader(query, FIELDS);
  const instant = {
    read: (text: string) => parseTime(text, nowMs),
    allowed:
      'now, -6h (s, m, h or d before now), Unix seconds, or ISO 8601 with its zone such as 2026-11-22T06:00:00Z',
  };
  const wanted = one('endpoint', endpointField(endpoints));
  const fromMs = one('from', instant, DEFAULT_FROM);
  const toMs = one('to', instant, 'now');
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs)
    wrong('from', query.get('from') || DEFAULT_FROM, 'a time before `to`');
  const rows = one('rows', ROWS, DEFAULT_ROWS);
  const format = one('format', FORMAT);
  if (problems.length > 0 || fromMs === undefined || toMs === undefined || rows === undefined)
    return { problems };
  const asked = wanted === undefined ? endpoints : [wanted];
  const share = Math.max(LEAST_ROWS, Math.floor(MOST_ROWS_IN_ALL / Math.max(1, asked.length)));
  return { endpoints: asked, fromMs, toMs, rows: Math.min(rows, share), format };
}

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** With a zone, because a guess could be wrong. A day alone is UTC. */
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;
/** The range of Date. */
const LAST_MS = 8.64e15;

function parseTime(text: string, nowMs: number): number | undefined {
  if (text === 'now') return nowMs;
  const [, amount, unit] = /^-(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  let ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : parseIso(text);
  if (amount !== undefined) ms = nowMs - Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS];
  return Math.abs(ms) <= LAST_MS ? ms : undefined;
}

/** NaN for a day that its month does not have: Date would take the next month. */
function parseIso(text: string): number {
  if (!ISO.test(text)) return Number.NaN;
  const day = text.slice(0, 'YYYY-MM-DD'.length);
  const midnight = new Date(day);
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  return isDay ? Date.parse(text) : Number.NaN;
}

import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Fleet } from '../../../fleet/view.ts';
import { json, schemaRoute, type Reply, type RouteRequest, type Routes } from '../reply.ts';
import { fleetCsv, fleetJsonSchema, fleetRow, type FleetHistory } from './answer.ts';

export const ELSEWHERE =
  'another replica watches the endpoints and keeps their history: ask the one whose /api/status says "samples": true';

export function fleetRoutes(fleet: Fleet): Routes {
  return {
    'GET /api/fleet': (request) => answer(fleet, request),
    'GET /api/fleet/schema': schemaRoute(fleetJsonSchema),
  };
}

async function answer(fleet: Fleet, { headers, query }: RouteRequest): Promise<Reply> {
  const { endpoints: known, isElsewhere } = fleet.view();
  if (isElsewhere) return json(503, { error: 'another_replica', msg: ELSEWHERE });
  const labels = known.map(({ endpoint }) => endpoint);
  const read = readFleetQuery(query, labels, Date.now());
  if ('problems' in read) return badQuery(read.problems);
  const { fromMs, toMs, rows: maxRows, format } = read;
  const endpoints: FleetHistory['endpoints'][number][] = [];
  // One by one: memory holds the rows of one endpoint, and other requests get a turn.
  for (const { endpoint, id, measured } of known) {
    if (!read.endpoints.includes(endpoint)) continue;
    await othersTurn();
    const rows = await fleet.history({ endpoint, fromMs, toMs, maxRows });
    endpoints.push({
      endpoint_group: endpoint,
      endpoint_id: id,
      measured: { performance: measured.performances, start_seconds: measured.startSeconds },
      rows: rows.map((row) => fleetRow(row)),
    });
  }
  const found: FleetHistory = { from: fromMs / 1000, to: toMs / 1000, endpoints };
  return inFormat(format, headers, found, fleetCsv);
}

export function badQuery(problems: readonly QueryProblem[]): Reply {
  const words = problems.map(({ field, got, allowed }) => `${field}: got ${got}; allowed: ${allowed}`);
  return json(400, { error: 'bad_request', msg: words.join('\n'), problems });
}

export function inFormat<Found>(
  format: string | undefined,
  { accept }: RouteRequest['headers'],
  found: Found,
  toCsv: (found: Found) => string,
): Reply {
  const isCsv = (format ?? preferred(accept)) === 'csv';
  const reply: Reply = isCsv ? { status: 200, type: 'text/csv', body: toCsv(found) } : json(200, found);
  return { ...reply, headers: { vary: 'accept' } };
}

function preferred(accept = ''): 'csv' | 'json' {
  return accept.includes('text/csv') && !accept.includes('application/json') ? 'csv' : 'json';
}

interface FleetQuery {
  readonly endpoints: readonly string[];
  /** Unix milliseconds; from the first on, before the second. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly rows: number;
  /** Undefined: the Accept header decides. */
  readonly format: Format | undefined;
}

const FORMATS = ['json', 'csv'] as const;
type Format = (typeof FORMATS)[number];

export interface QueryProblem {
  readonly field: string;
  readonly got: string;
  readonly allowed: string;
}

const FIELDS = ['endpoint', 'from', 'to', 'rows', 'format'] as const;
type Field = (typeof FIELDS)[number];

const DEFAULT_FROM = '-6h';
const DEFAULT_ROWS = 500;
/** The history folds to no fewer. */
const LEAST_ROWS = 16;
const MOST_ROWS = 5_000;
/** Of all endpoints together, so that an answer is bounded. */
const MOST_ROWS_IN_ALL = 20_000;
const SHOWN_CHARACTERS = 60;
const NAMED_ENDPOINTS = 50;

const TIME_ALLOWED =
  'now, -6h (s, m, h or d before now), Unix seconds, or ISO 8601 with its zone such as 2026-11-22T06:00:00Z';

export function readFleetQuery(
  query: URLSearchParams,
  endpoints: readonly string[],
  nowMs: number,
): FleetQuery | { readonly problems: readonly QueryProblem[] } {
  const problems: QueryProblem[] = [];
  const wrong = (field: string, got: string, allowed: string): undefined => {
    problems.push({ field, got: JSON.stringify(got.slice(0, SHOWN_CHARACTERS)), allowed });
    return undefined;
  };

  function one(field: Field): string | undefined {
    const values = query.getAll(field);
    if (values.length > 1) return wrong(field, values.join(', '), 'at most one');
    // A form leaves a field empty that is not given.
    return values[0] || undefined;
  }
  function time(field: Field, fallback: string): number | undefined {
    const text = one(field) ?? fallback;
    return parseTime(text, nowMs) ?? wrong(field, text, TIME_ALLOWED);
  }

  for (const field of new Set(query.keys()))
    if (!FIELDS.some((known) => known === field)) wrong(field, query.get(field) ?? '', FIELDS.join(', '));
  const endpoint = one('endpoint');
  if (endpoint !== undefined && !endpoints.includes(endpoint))
    wrong('endpoint', endpoint, knownInWords(endpoints));
  const fromMs = time('from', DEFAULT_FROM);
  const toMs = time('to', 'now');
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs)
    wrong('from', one('from') ?? DEFAULT_FROM, 'a time before `to`');
  const rowsText = one('rows') ?? String(DEFAULT_ROWS);
  const rows = Number(rowsText);
  if (!/^\d+$/.test(rowsText) || rows < LEAST_ROWS || rows > MOST_ROWS)
    wrong('rows', rowsText, `a whole number from ${LEAST_ROWS} to ${MOST_ROWS}`);
  const formatText = one('format');
  const format = FORMATS.find((name) => name === formatText);
  if (formatText !== undefined && format === undefined) wrong('format', formatText, FORMATS.join(', '));

  if (problems.length > 0 || fromMs === undefined || toMs === undefined) return { problems };
  const wanted = endpoint === undefined ? endpoints : [endpoint];
  const share = Math.max(LEAST_ROWS, Math.floor(MOST_ROWS_IN_ALL / Math.max(1, wanted.length)));
  return { endpoints: wanted, fromMs, toMs, rows: Math.min(rows, share), format };
}

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** With a zone, because a guess could be wrong. A day alone is UTC. */
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;
/** The range of Date. */
const LAST_MS = 8.64e15;

function parseTime(text: string, nowMs: number): number | undefined {
  if (text === 'now') return nowMs;
  const [, count, unit] = /^-(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  let ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : parseIso(text);
  if (count !== undefined) ms = nowMs - Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
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

export function knownInWords(endpoints: readonly string[]): string {
  if (endpoints.length === 0) return 'none: this daemon has found no endpoint (PILOTLIGHT_ENDPOINTS)';
  const named = endpoints.slice(0, NAMED_ENDPOINTS).join(', ');
  return endpoints.length > NAMED_ENDPOINTS ? `${named}, …` : named;
}

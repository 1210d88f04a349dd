/** The query of /api/fleet and /api/bill: each field once, and an answer that names everything that is wrong. */
import { json, type Reply, type RouteRequest } from './reply.ts';

interface QueryProblem {
  readonly field: string;
  readonly got: string;
  readonly allowed: string;
}

interface Field<Value> {
  /** Undefined: not allowed. */
  readonly read: (text: string) => Value | undefined;
  readonly allowed: string;
}

const SHOWN_CHARACTERS = 60;
const NAMED_ENDPOINTS = 50;

export function queryReader(query: URLSearchParams, fields: readonly string[]) {
  const problems: QueryProblem[] = [];
  function wrong(field: string, got: string, allowed: string): undefined {
    problems.push({ field, got: JSON.stringify(got.slice(0, SHOWN_CHARACTERS)), allowed });
    return undefined;
  }
  for (const field of new Set(query.keys()))
    if (!fields.includes(field)) wrong(field, query.get(field) ?? '', fields.join(', '));
  function one<Value>(field: string, { read, allowed }: Field<Value>, fallback?: string) {
    const values = query.getAll(field);
    if (values.length > 1) return wrong(field, values.join(', '), 'at most one');
    // A form leaves a field empty that is not given.
    const text = values[0] || fallback;
    return text === undefined ? undefined : (read(text) ?? wrong(field, text, allowed));
  }
  return { problems, wrong, one };
}

export function badQuery(problems: readonly QueryProblem[]): Reply {
  const words = problems.map(({ field, got, allowed }) => `${field}: got ${got}; allowed: ${allowed}`);
  return json(400, { error: 'bad_request', msg: words.join('\n'), problems });
}

export function endpointField(known: readonly string[]): Field<string> {
  const named = known.slice(0, NAMED_ENDPOINTS).join(', ');
  const nothing = 'none: this daemon has found no endpoint (PILOTLIGHT_ENDPOINTS)';
  return {
    read: (text) => known.find((name) => name === text),
    allowed: known.length === 0 ? nothing : known.length > NAMED_ENDPOINTS ? `${named}, …` : named,
  };
}

const FORMATS = ['json', 'csv'] as const;
type Format = (typeof FORMATS)[number];
export const FORMAT: Field<Format> = {
  read: (text) => FORMATS.find((name) => name === text),
  allowed: FORMATS.join(', '),
};

/** Without a format, the Accept header decides. */
export function inFormat<Found>(
  format: Format | undefined,
  { accept = '' }: RouteRequest['headers'],
  found: Found,
  toCsv: (found: Found) => string,
): Reply {
  const preferred = accept.includes('text/csv') && !accept.includes('application/json') ? 'csv' : 'json';
  const isCsv = (format ?? preferred) === 'csv';
  const reply: Reply = isCsv ? { status: 200, type: 'text/csv', body: toCsv(found) } : json(200, found);
  return { ...reply, headers: { vary: 'accept' } };
}

/** Of /api/fleet and /api/bill, while another replica watches. */
export function elsewhere(): Reply {
  const where = 'ask the one whose /api/status says "samples": true';
  const msg = `another replica watches the endpoints and keeps their history: ${where}`;
  return json(503, { error: 'another_replica', msg });
}

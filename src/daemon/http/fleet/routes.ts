import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Fleet } from '../../../fleet/view.ts';
import { json, schemaRoute, type Reply, type RouteRequest, type Routes } from '../reply.ts';
import { fleetCsv, fleetJsonSchema, fleetRow, type FleetHistory } from './answer.ts';
import { readFleetQuery, type QueryProblem } from './query.ts';

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

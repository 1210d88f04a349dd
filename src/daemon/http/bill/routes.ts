import { BILL_DAYS, type EndpointSpend } from '../../../spend/hours.ts';
import type { Fleet } from '../../../fleet/view.ts';
import { badQuery, ELSEWHERE, inFormat, knownInWords, type QueryProblem } from '../fleet/routes.ts';
import { json, schemaRoute, type Reply, type RouteRequest, type Routes } from '../reply.ts';
import { billAnswer, billCsv, billJsonSchema } from './answer.ts';

const FIELDS = ['endpoint', 'since', 'format'];
const DEFAULT_SINCE = '30d';
const FORMATS = ['json', 'csv'];

export function billRoutes(fleet: Fleet): Routes {
  return {
    'GET /api/bill': (request) => answer(fleet, request),
    'GET /api/bill/schema': schemaRoute(billJsonSchema),
  };
}

async function answer(fleet: Fleet, { headers, query }: RouteRequest): Promise<Reply> {
  const view = fleet.view();
  if (view.isElsewhere) return json(503, { error: 'another_replica', msg: ELSEWHERE });
  const spends = await fleet.spends();
  // A form leaves a field empty that is not given.
  const [wanted, sinceText, format] = FIELDS.map((field) => query.get(field) || undefined);
  const found = wanted === undefined ? spends : spends.filter((spend) => isCalled(spend, wanted));
  const since = Number(/^(\d{1,3})d$/.exec(sinceText ?? DEFAULT_SINCE)?.[1] ?? Number.NaN);
  const problems: QueryProblem[] = [];
  const wrong = (isWrong: boolean, field: string, got: string | undefined, allowed: string): void => {
    if (isWrong) problems.push({ field, got: JSON.stringify((got ?? '').slice(0, 60)), allowed });
  };
  for (const field of new Set(query.keys()))
    wrong(!FIELDS.includes(field), field, query.get(field) ?? '', FIELDS.join(', '));
  wrong(
    wanted !== undefined && found.length === 0,
    'endpoint',
    wanted,
    knownInWords(spends.map(({ endpoint }) => endpoint)),
  );
  wrong(!(since < BILL_DAYS), 'since', sinceText, `days such as 7d, at most ${BILL_DAYS - 1}d`);
  wrong(format !== undefined && !FORMATS.includes(format), 'format', format, FORMATS.join(', '));
  if (problems.length > 0) return badQuery(problems);

  const endpoints = view.endpoints.filter(({ endpoint }) =>
    found.some((spend) => spend.endpoint === endpoint),
  );
  const bill = billAnswer({
    spends: found,
    now: new Date(),
    since,
    view: { ...view, endpoints },
  });
  return inFormat(format, headers, bill, billCsv);
}

function isCalled({ endpoint, id }: EndpointSpend, wanted: string): boolean {
  return endpoint === wanted || String(id) === wanted;
}

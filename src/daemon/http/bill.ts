/** What `/api/bill` answers and `pilotlight bill` prints. Dollars, UTC days; null is not known. */
import * as z from 'zod';
import { DAY_MS, HOUR_MS } from '../../contract/times.ts';
import { dayOf, daysUntil, sumOf } from '../../spend/bill.ts';
import {
  BILL_DAYS,
  isSeen,
  monthOf,
  spentIn,
  spentOn,
  sumOfFigures,
  sumOfHours,
  type EndpointSpend,
  type Figure,
  type Hour,
} from '../../spend/hours.ts';
import type { Fleet, FleetView } from '../../fleet/view.ts';
import { count, publishedSchema, time } from '../status/fact.ts';
import { shownFigure, shownUnanswered } from '../status/fleet.ts';
import { badQuery, elsewhere, endpointField, FORMAT, inFormat, queryReader } from './query.ts';
import { csvOf, schemaRoute, type Reply, type RouteRequest, type Routes } from './reply.ts';

/** To a hundredth of a cent. */
const rounded = z.number().overwrite((value) => Math.round(value * 10_000) / 10_000);
const dollars = rounded;
const utcDay = z.string().describe('A UTC day, such as 2026-11-28');
const weakest = z
  .enum(['billed', 'told', 'estimated'])
  .describe('Of a sum, its weakest part: estimated is by the prices of instances, and lacks bandwidth');
const figure = z.object({ amount: dollars, source: weakest });

const uses = z
  .object({
    working: dollars.describe('Ready workers with requests'),
    idle: dollars.describe('Ready workers without'),
    starting: dollars.describe('Workers that load or start'),
    stopped: dollars.describe('The storage of stopped workers, and those that stop'),
  })
  .describe('Estimated from the prices of instances, so it adds up to what they cost, and not to the bill');

const billParts = z.object({ gpu: dollars, disk: dollars, bandwidth: dollars, other: dollars });

const dayRow = z.object({
  day: utcDay,
  endpoint_group: z.string().describe('As metrics name it; #ID of one that is known from the bill alone'),
  endpoint_id: count.nullable().describe('The last one that it had'),
  amount: dollars,
  source: weakest,
  seen_hours: rounded.describe('How much of the day this daemon saw'),
  billed: billParts
    .nullable()
    .describe('What the service billed, by what for; null: that is not what counts here'),
  uses: uses.nullable().describe('null: not seen'),
});

const dearHour = z.object({
  from: time,
  ...figure.shape,
  usual: dollars.describe('What this hour of the day costs on average, of the days asked for'),
  ready_workers: rounded.describe('On average'),
  starting_workers: rounded,
  uses,
  endpoint_group: z.string().describe('Of the endpoint that cost most of it'),
});

const comparison = z.object({
  day: utcDay,
  before: utcDay.describe('The same weekday before'),
  ...figure.shape,
  load: dollars.describe('Workers were at work for longer, at the price of before'),
  price: dollars.describe('Ready workers were dearer'),
  parameters: dollars.describe('More workers were kept ready or stopped than the work needed'),
  starts: dollars.describe('Workers started for longer'),
  other: dollars.describe('What the estimates do not have, such as bandwidth'),
});

const month = z.object({
  month: z.string().describe('Such as 2026-11'),
  so_far: figure,
  unknown_days: count.describe(
    'Days of it that were neither billed nor seen as a whole: it may have cost more',
  ),
  forecast: dollars
    .nullable()
    .describe('At its end, by weekday from the last four weeks; null: no whole day is known'),
  forecast_low: dollars
    .nullable()
    .describe('95 of 100 such months lie between; null with less than two weeks'),
  forecast_high: dollars.nullable(),
  days: count.describe('Whole days that the forecast goes by'),
});

const waste = z
  .object({
    idle: dollars.nullable().describe('Ready workers without requests'),
    starting: dollars.nullable().describe('Workers that load or start'),
    orphans: dollars.nullable().describe('Instances whose worker is gone'),
    orphan_instances: count.nullable(),
  })
  .describe('Now, dollars an hour, estimated');

export const billSchema = z.object({
  now: time,
  days: z.array(dayRow).describe('Oldest first; none for a day of which nothing is known'),
  today: figure.nullable(),
  month: month.nullable(),
  uses: uses.nullable().describe('Of all these days, as far as they were seen'),
  per_1000_units: dollars.nullable().describe('Of work; null: what the load means is not known'),
  dearest_hours: z.array(dearHour).describe('Three of them; none without a daemon'),
  yesterday: comparison.nullable().describe('null: one of the two days was not seen'),
  waste: waste.nullable(),
  unanswered: z
    .array(
      z.object({
        permission: z.enum(['user_read', 'billing_read']),
        is_missing: z.boolean().describe('Whether the key lacks it'),
        error: z.string(),
      }),
    )
    .describe('What the service did not tell'),
});

export type BillAnswer = z.infer<typeof billSchema>;
export type BillDay = BillAnswer['days'][number];

/** Served at /api/bill/schema; the tree has it as deploy/bill.schema.json. */
export const billJsonSchema = publishedSchema(
  'What endpoints cost, as a Pilotlight daemon tells it',
  billSchema,
);

interface BillFacts {
  readonly spends: readonly EndpointSpend[];
  readonly now: Date;
  /** Days back; today is not one of them. */
  readonly since: number;
  /** Undefined without a daemon. */
  readonly view: Pick<FleetView, 'endpoints' | 'spend'> | undefined;
}

const MOST_DEAR_HOURS = 3;

export function billAnswer({ spends, now, since, view }: BillFacts): BillAnswer {
  const today = dayOf(now);
  const days = daysUntil(now, since);
  const fromMs = Date.parse(days[0] ?? today);
  const hours = spends.flatMap((spend) =>
    spend.hours.flatMap((hour) =>
      hour.atMs < fromMs ? [] : [Object.assign({ endpoint: spend.endpoint }, hour)],
    ),
  );
  const all = sumOfHours(hours);
  // The schema rounds, and omits what is not told.
  return billSchema.parse({
    now: now.getTime() / 1000,
    days: days.flatMap((one) => spends.flatMap((spend) => dayRowOf(spend, one, today) ?? [])),
    today: shownFigure(sumOfFigures(spends.map((spend) => spentOn(spend, today, today)))),
    month: monthAnswer(spends, now),
    uses: all.usesMs === 0 ? null : all,
    per_1000_units: perThousandUnits(hours),
    dearest_hours: dearestHours(hours),
    yesterday: difference(spends, now),
    waste: view ? wasteOf(view) : null,
    unanswered: shownUnanswered(view?.spend.unanswered ?? []),
  } satisfies BillAnswer);
}

function dayRowOf(spend: EndpointSpend, one: string, today: string): BillDay | undefined {
  const spent = shownFigure(spentOn(spend, one, today));
  const [seen, bill] = [spend.days.get(one), spend.billed.get(one)];
  // Most endpoints of a bill did not exist on most days.
  if (!spent || (dollars.parse(spent.amount) === 0 && !seen)) return undefined;
  return {
    day: one,
    endpoint_group: spend.endpoint,
    endpoint_id: spend.id,
    ...spent,
    seen_hours: (seen?.seenMs ?? 0) / HOUR_MS,
    billed: (spent.source === 'billed' && bill) || null,
    uses: seen && seen.usesMs > 0 ? seen : null,
  };
}

function monthAnswer(spends: readonly EndpointSpend[], now: Date): BillAnswer['month'] {
  const known = monthOf(spends, now);
  const soFar = shownFigure(known?.soFar);
  if (!known || !soFar) return null;
  const { expected, range, days } = known.forecast ?? { days: 0 };
  return {
    month: dayOf(now).slice(0, 7),
    so_far: soFar,
    unknown_days: known.unknownDays,
    forecast: expected ?? null,
    forecast_low: range?.low ?? null,
    forecast_high: range?.high ?? null,
    days,
  };
}

function perThousandUnits(hours: readonly Hour[]): number | null {
  const known = sumOfHours(hours.filter(({ loadMs, seenMs }) => loadMs >= 0.99 * seenMs));
  const spent = spentIn(known);
  return spent && known.load > 0 ? (spent.dollars / known.load) * 1_000 : null;
}

function dearestHours(hours: readonly (Hour & { readonly endpoint: string })[]): BillAnswer['dearest_hours'] {
  const byHour = [...Map.groupBy(hours, ({ atMs }) => atMs)].map(([atMs, own]) => {
    const spent = sumOfFigures(own.map((hour) => spentIn(hour)));
    return { atMs, own, amount: spent?.dollars ?? 0, source: spent?.source ?? ('estimated' as const) };
  });
  const usual = Map.groupBy(byHour, ({ atMs }) => atMs % DAY_MS);
  return byHour
    .toSorted((a, b) => b.amount - a.amount)
    .slice(0, MOST_DEAR_HOURS)
    .map(({ atMs, own, amount, source }) => {
      const like = usual.get(atMs % DAY_MS) ?? [];
      const dearest = own.toSorted((a, b) => (spentIn(b)?.dollars ?? 0) - (spentIn(a)?.dollars ?? 0));
      return {
        from: atMs / 1000,
        amount,
        source,
        usual: like.reduce((sum, hour) => sum + hour.amount, 0) / like.length,
        ready_workers: meanOf(own, ({ readyMs }) => readyMs),
        starting_workers: meanOf(own, ({ startingMs }) => startingMs),
        uses: sumOfHours(own),
        endpoint_group: dearest[0]?.endpoint ?? '',
      };
    });
}

function meanOf(hours: readonly Hour[], part: (hour: Hour) => number): number {
  return hours.reduce((sum, hour) => sum + (hour.usesMs > 0 ? part(hour) / hour.usesMs : 0), 0);
}

function wasteOf({ endpoints, spend: { orphans } }: Pick<FleetView, 'endpoints' | 'spend'>) {
  const together = (name: 'spend_idle_per_hour' | 'spend_starting_per_hour'): number | null => {
    const parts = endpoints.map(({ sample }) => sample?.measures[name] ?? null);
    // Nothing is known until endpoints were listed.
    if (parts.length === 0 || parts.includes(null)) return null;
    return parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
  };
  return {
    idle: together('spend_idle_per_hour'),
    starting: together('spend_starting_per_hour'),
    orphans: orphans?.spendPerHour ?? null,
    orphan_instances: orphans?.instances ?? null,
  };
}

const { billed: _billed, uses: _uses, ...ofDay } = dayRow.shape;
const CSV_COLUMNS = Object.keys({ ...ofDay, ...billParts.shape, ...uses.shape }) as (keyof typeof ofDay)[];

export function billCsv({ days }: Pick<BillAnswer, 'days'>): string {
  const rows = days.map((one) => Object.assign({}, one, one.billed, one.uses));
  return csvOf(
    CSV_COLUMNS,
    rows.map((row) => CSV_COLUMNS.map((name) => row[name])),
  );
}

/** Why yesterday cost more or less than the same weekday before; null: one of the two was not seen. */
export function difference(spends: readonly EndpointSpend[], now: Date) {
  const [name, nameBefore] = [dayBack(now, 1), dayBack(now, 8)];
  if (!isSeen(spends, name) || !isSeen(spends, nameBefore)) return null;
  const [day, before] = [usesOn(spends, name), usesOn(spends, nameBefore)];
  // Prices make no difference if one is not known.
  const scale = day.price && before.price ? before.price / day.price : 1;
  const load = day.working * scale - before.working;
  const parameters = day.idle * scale - before.idle + day.stopped - before.stopped;
  const price = (day.working + day.idle) * (1 - scale);
  const starts = day.starting - before.starting;
  const { dollars: amount, source } = totalDifference(spends, name, nameBefore);
  const other = amount - load - price - parameters - starts;
  return { day: name, before: nameBefore, amount, source, load, price, parameters, starts, other };
}

function dayBack(now: Date, days: number): string {
  return dayOf(new Date(now.getTime() - days * DAY_MS));
}

/** `price`: of a ready worker, dollars a ms. */
function usesOn(spends: readonly EndpointSpend[], day: string) {
  const all = sumOfHours(spends.flatMap(({ days }) => days.get(day) ?? []));
  return { ...all, price: all.readyMs === 0 ? undefined : (all.working + all.idle) / all.readyMs };
}

/** Compares figures of one kind: billed and estimated ones differ. */
function totalDifference(spends: readonly EndpointSpend[], day: string, before: string): Figure {
  const isBilled = [day, before].every((one) => spends.some(({ billed }) => billed.has(one)));
  const figureOf = (one: string): Figure | undefined => {
    if (!isBilled)
      return sumOfFigures(spends.map(({ days }) => days.get(one)).map((hours) => hours && spentIn(hours)));
    return { dollars: sumOf(spends.flatMap(({ billed }) => billed.get(one) ?? [])).total, source: 'billed' };
  };
  const [one, other] = [figureOf(day), figureOf(before)];
  const { source } = sumOfFigures([one, other]) ?? { source: 'estimated' as const };
  return { dollars: (one?.dollars ?? 0) - (other?.dollars ?? 0), source };
}

export function billRoutes(fleet: Fleet): Routes {
  return {
    'GET /api/bill': (request) => answer(fleet, request),
    'GET /api/bill/schema': schemaRoute(billJsonSchema),
  };
}

const FIELDS = ['endpoint', 'since', 'format'];
const DEFAULT_SINCE = '30d';
const SINCE = {
  read(text: string): number | undefined {
    const days = Number(/^(\d{1,3})d$/.exec(text)?.[1] ?? Number.NaN);
    return days < BILL_DAYS ? days : undefined;
  },
  allowed: `days such as 7d, at most ${BILL_DAYS - 1}d`,
};

async function answer(fleet: Fleet, { headers, query }: RouteRequest): Promise<Reply> {
  const view = fleet.view();
  if (view.isElsewhere) return elsewhere();
  const known = await fleet.spends();
  const { one, problems } = queryReader(query, FIELDS);
  const { allowed } = endpointField(known.map(({ endpoint }) => endpoint));
  const named = (wanted: string) => {
    const found = known.filter(({ endpoint, id }) => endpoint === wanted || String(id) === wanted);
    return found.length > 0 ? found : undefined;
  };
  const spends = one('endpoint', { read: named, allowed }) ?? known;
  const since = one('since', SINCE, DEFAULT_SINCE);
  const format = one('format', FORMAT);
  if (problems.length > 0 || since === undefined) return badQuery(problems);
  const endpoints = view.endpoints.filter(({ endpoint }) =>
    spends.some((spend) => spend.endpoint === endpoint),
  );
  const bill = billAnswer({ spends, now: new Date(), since, view: { ...view, endpoints } });
  return inFormat(format, headers, bill, billCsv);
}

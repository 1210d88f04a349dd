/** /api/bill on a real listener, with a recorded fleet; and what makes a day dearer. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, test } from 'vitest';
import { billJsonSchema, difference, type BillAnswer } from '../../../../src/daemon/http/bill.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/contract/times.ts';
import { NOTHING_BILLED } from '../../../../src/spend/bill.ts';
import { endpointSpend, type EndpointSpend, type Hour } from '../../../../src/spend/hours.ts';
import { listenWithFleet, type FleetListener } from '../../../support/fleet-listener.ts';
import { endpointView, fleetView, recordedFleet } from '../../../support/recorded-fleet.ts';

const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const dayAgo = (days: number): string => new Date(TODAY_MS - days * DAY_MS).toISOString().slice(0, 10);

interface Use {
  readonly working?: number;
  readonly idle?: number;
  readonly starting?: number;
  readonly stopped?: number;
  /** Of a ready worker, an hour. */
  readonly price?: number;
}

/** Each hour of a day, dollars an hour. */
function hoursOf(
  daysAgo: number,
  { working = 1, idle = 0.5, starting = 0.2, stopped = 0.1, price = 0.5 }: Use,
): Hour[] {
  return Array.from({ length: 24 }, (_, hour) => ({
    atMs: TODAY_MS - daysAgo * DAY_MS + hour * HOUR_MS,
    seenMs: HOUR_MS,
    toldMs: HOUR_MS,
    told: working + idle + starting + stopped + 0.05,
    estimated: 0,
    working,
    idle,
    starting,
    stopped,
    usesMs: HOUR_MS,
    readyMs: ((working + idle) / price) * HOUR_MS,
    startingMs: HOUR_MS,
    load: 100,
    loadMs: HOUR_MS,
  }));
}

let listener: FleetListener | undefined;
afterEach(() => listener?.[Symbol.asyncDispose]());

async function serve(
  spends: readonly EndpointSpend[],
  over: Parameters<typeof fleetView>[1] = {},
): Promise<string> {
  const view = fleetView(
    spends.map(({ endpoint, id }) => endpointView({ endpoint, id: id ?? 0 })),
    over,
  );
  listener = await listenWithFleet(recordedFleet(() => view, {}, spends));
  return `${listener.url}/api/bill`;
}

const billed = new Map([[dayAgo(1), { ...NOTHING_BILLED, gpu: 40, bandwidth: 2, total: 42 }]]);
const CHAT = endpointSpend('chat', 31, [...hoursOf(8, {}), ...hoursOf(1, { working: 3 })], billed);
const FORMULA = endpointSpend('=1+1', 32, hoursOf(1, {}), new Map());

test('tells days, kinds of use, the dearest hours and what is wasted, each figure with its source', async () => {
  const url = await serve([CHAT, FORMULA]);
  const bill = (await (await fetch(`${url}?since=9d&endpoint=chat`)).json()) as BillAnswer;
  expect(new Ajv2020().compile(billJsonSchema())(bill)).toBe(true);
  expect(bill.days).toMatchObject([
    {
      day: dayAgo(8),
      endpoint_id: 31,
      amount: 44.4,
      source: 'told',
      billed: null,
      uses: { working: 24, idle: 12 },
    },
    { day: dayAgo(1), amount: 42, source: 'billed', billed: { gpu: 40, bandwidth: 2 }, seen_hours: 24 },
  ]);
  expect(bill.uses).toEqual({ working: 96, idle: 24, starting: 9.6, stopped: 4.8 });
  expect(bill.dearest_hours).toHaveLength(3);
  expect(bill.dearest_hours[0]).toMatchObject({
    amount: 3.85,
    source: 'told',
    usual: 2.85,
    ready_workers: 7,
    starting_workers: 1,
    endpoint_group: 'chat',
  });
  expect(bill.waste).toEqual({ idle: 0.8, starting: 0.4, orphans: null, orphan_instances: null });
  expect(bill.yesterday).toMatchObject({ day: dayAgo(1), before: dayAgo(8), load: 48, price: 0 });
});

test('does not say that nothing is wasted before endpoints were listed', async () => {
  const bill = (await (await fetch(await serve([]))).json()) as BillAnswer;
  expect(bill.waste).toMatchObject({ idle: null, starting: null });
});

test('has a line of CSV for each day and endpoint, in which no name is a formula', async () => {
  const answer = await fetch(await serve([CHAT, FORMULA]), { headers: { accept: 'text/csv' } });
  expect(answer.headers.get('content-type')).toContain('text/csv');
  const lines = (await answer.text()).split('\r\n');
  expect(lines).toContain(`${dayAgo(1)},chat,31,42,billed,24,40,0,2,0,72,12,4.8,2.4`);
  expect(lines).toContain(`${dayAgo(1)},'=1+1,32,44.4,told,24,,,,,24,12,4.8,2.4`);
});

test('says all that is wrong with a query at once, and that another replica has the bill', async () => {
  const answer = await fetch(`${await serve([CHAT])}?endpoint=draw&since=40d&format=xml&days=3`);
  const { problems } = (await answer.json()) as { problems: { field: string }[] };
  expect([answer.status, problems.map(({ field }) => field)]).toEqual([
    400,
    ['days', 'endpoint', 'since', 'format'],
  ]);
  await listener?.[Symbol.asyncDispose]();
  expect((await fetch(await serve([CHAT], { isElsewhere: true }))).status).toBe(503);
});

describe('yesterday against the same weekday before', () => {
  const compare = (before: Use, after: Use) => {
    const spend = endpointSpend('chat', 31, [...hoursOf(8, before), ...hoursOf(1, after)], new Map());
    const found = difference([spend], new Date(TODAY_MS + HOUR_MS));
    const { load = 0, price = 0, parameters = 0, starts = 0, other = 0, amount } = { ...found };
    expect(load + price + parameters + starts + other).toBeCloseTo(amount ?? Number.NaN, 9);
    return [load, price, parameters, starts, other].map((part) => Math.round(part * 100) / 100 + 0);
  };

  test.each<[string, Use, Use, number[]]>([
    ['more work is load', {}, { working: 2 }, [24, 0, 0, 0, 0]],
    ['a longer idle reserve is parameters', {}, { idle: 1, stopped: 0.2 }, [0, 0, 14.4, 0, 0]],
    ['dearer workers are price', {}, { working: 2, idle: 1, price: 1 }, [0, 36, 0, 0, 0]],
    ['more starting is starts', {}, { starting: 1.2 }, [0, 0, 0, 24, 0]],
    [
      'all of it adds up',
      {},
      { working: 4, idle: 2, starting: 0, stopped: 0, price: 1 },
      [24, 72, 9.6, -4.8, 0],
    ],
  ])('%s', (_, before, after, parts) => {
    expect(compare(before, after)).toEqual(parts);
  });

  test('is not told of days that nobody saw', () => {
    const spend = endpointSpend('chat', 31, [...hoursOf(8, {}).slice(0, 20), ...hoursOf(1, {})], new Map());
    expect(difference([spend], new Date(TODAY_MS + HOUR_MS))).toBeNull();
  });
});

import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, expect, test } from 'vitest';
import type { FleetHistory } from '../../../../../src/daemon/http/fleet/answer.ts';
import { fleetJsonSchema } from '../../../../../src/daemon/http/fleet/answer.ts';
import type { HistoryQuery, HistoryRow } from '../../../../../src/fleet/view.ts';
import { listenWithFleet, type FleetListener } from '../../../../support/fleet-listener.ts';
import { endpointView, fleetView, minuteRow, recordedFleet } from '../../../../support/recorded-fleet.ts';

const AT = Date.parse('2026-11-22T10:00:00Z');
const RANGE = 'from=2026-11-22T10:00:00Z&to=2026-11-22T11:00:00Z';

let listener: FleetListener | undefined;
afterEach(async () => {
  await listener?.[Symbol.asyncDispose]();
});

async function serve(rows: Readonly<Record<string, readonly HistoryRow[]>>): Promise<string> {
  const names = Object.keys(rows);
  const view = fleetView(names.map((endpoint, index) => endpointView({ endpoint, id: 31 + index })));
  listener = await listenWithFleet(recordedFleet(() => view, rows));
  return `${listener.url}/api/fleet`;
}

/** RFC 4180, read by its letter. */
function parseCsv(text: string): string[][] {
  expect(text.endsWith('\r\n')).toBe(true);
  const record = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  const rows: string[][] = [[]];
  for (const [, quoted, bare, end] of text.matchAll(record)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? bare ?? '');
    if (end === '\r\n') rows.push([]);
  }
  expect(rows.pop()).toEqual([]);
  return rows;
}

test('tells the recorded rows of each endpoint, null where nothing is known', async () => {
  const url = await serve({ chat: [minuteRow(AT, { load: null })], code: [] });
  const answer = await fetch(`${url}?${RANGE}`);
  expect(answer.headers.get('content-type')).toBe('application/json');
  const found = (await answer.json()) as FleetHistory;
  expect(found).toMatchObject({ from: AT / 1000, to: AT / 1000 + 3600 });
  expect(found.endpoints[1]).toEqual({
    endpoint_group: 'code',
    endpoint_id: 32,
    measured: { performance: [], start_seconds: { new: [], cold: [] } },
    rows: [],
  });
  expect(found.endpoints[0]?.rows).toEqual([
    {
      from: AT / 1000,
      length_seconds: 60,
      samples: 4,
      load: null,
      load_average: { mean: 40, peak: 40, samples: 4 },
      load_in_flight: null,
      capacity_hot: { mean: 60, peak: 60, samples: 4 },
      capacity_cold: { mean: 100, peak: 100, samples: 4 },
      requests_working: { mean: 12, peak: 12, samples: 4 },
      spend_per_hour: { mean: 3.2, peak: 3.2, samples: 4 },
      spend_told_per_hour: null,
      spend_idle_per_hour: { mean: 0.8, peak: 0.8, samples: 4 },
      spend_starting_per_hour: { mean: 0.4, peak: 0.4, samples: 4 },
      spend_stopped_per_hour: { mean: 0.1, peak: 0.1, samples: 4 },
      workers: { idle: { mean: 6, peak: 6, samples: 4 }, stopped: { mean: 10, peak: 10, samples: 4 } },
    },
  ]);
});

test('lets others have their turn between two endpoints', async () => {
  const order: string[] = [];
  const view = fleetView([endpointView(), endpointView({ endpoint: 'code', id: 32 })]);
  listener = await listenWithFleet({
    ...recordedFleet(() => view, {}),
    spends: () => Promise.resolve([]),
    history({ endpoint }) {
      order.push(endpoint);
      setImmediate(() => order.push('another'));
      return Promise.resolve([]);
    },
  });
  await fetch(`${listener.url}/api/fleet?${RANGE}`);
  expect(order.slice(0, 3)).toEqual(['chat', 'another', 'code']);
});

test('asks the history for what was asked, and for no more than its bound', async () => {
  const asked: HistoryQuery[] = [];
  const view = fleetView([endpointView(), endpointView({ endpoint: 'code', id: 32 })]);
  listener = await listenWithFleet({
    view: () => view,
    spends: () => Promise.resolve([]),
    history(query) {
      asked.push(query);
      return Promise.resolve([]);
    },
  });
  await fetch(`${listener.url}/api/fleet?endpoint=code&${RANGE}&rows=17`);
  expect(asked).toEqual([{ endpoint: 'code', fromMs: AT, toMs: AT + 3_600_000, maxRows: 17 }]);
});

test('a replica that does not watch says that another one has the history', async () => {
  const view = fleetView([], { samples: false, isElsewhere: true });
  listener = await listenWithFleet(recordedFleet(() => view, { chat: [minuteRow(AT)] }));
  const answer = await fetch(`${listener.url}/api/fleet?${RANGE}&endpoint=chat&format=csv`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'application/json']);
  expect(await answer.json()).toEqual({
    error: 'another_replica',
    msg: expect.stringContaining('ask the one whose /api/status says "samples": true') as string,
  });
});

test.each([
  ['?', {}, 'application/json'],
  ['?format=csv', {}, 'text/csv; charset=utf-8'],
  ['?', { accept: 'text/csv' }, 'text/csv; charset=utf-8'],
  ['?', { accept: 'application/json, text/csv;q=0.5' }, 'application/json'],
  ['?', { accept: '*/*' }, 'application/json'],
  ['?format=json', { accept: 'text/csv' }, 'application/json'],
])('%s with %o is answered as %s', async (query, headers, type) => {
  const url = await serve({ chat: [] });
  const answer = await fetch(url + query, { headers });
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('vary')]).toEqual([
    200,
    type,
    'accept',
  ]);
});

test('as CSV has the same columns always, and an empty field where nothing is known', async () => {
  const url = await serve({ chat: [minuteRow(AT, { load: null })] });
  const [header = [], row = [], ...others] = parseCsv(
    await (await fetch(`${url}?${RANGE}&format=csv`)).text(),
  );
  expect(others).toEqual([]);
  expect(header.slice(0, 7)).toEqual([
    'endpoint_group',
    'endpoint_id',
    'from',
    'length_seconds',
    'samples',
    'load',
    'load_peak',
  ]);
  const value = (column: string): string | undefined => row[header.indexOf(column)];
  expect(row).toHaveLength(header.length);
  expect([value('from'), value('load'), value('capacity_hot_peak')]).toEqual([
    '2026-11-22T10:00:00.000Z',
    '',
    '60',
  ]);
  expect([value('workers_idle'), value('workers_error'), value('workers_unknown_peak')]).toEqual([
    '6',
    '0',
    '0',
  ]);
  expect(parseCsv(await (await fetch(`${await serve({ chat: [] })}?format=csv`)).text())).toEqual([header]);
});

test.each([
  ['=cmd|calc', "'=cmd|calc"],
  ['+1', "'+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['＝1', "'＝1"],
  ['=1,"x"\r\nnext', '\'=1,"x"\r\nnext'],
  ['a,b "c"', 'a,b "c"'],
  ['chat', 'chat'],
])('an endpoint named %j is one field and no formula', async (name, field) => {
  const url = await serve({ [name]: [minuteRow(AT)] });
  const [, row = []] = parseCsv(await (await fetch(`${url}?${RANGE}&format=csv`)).text());
  expect(row[0]).toBe(field);
  expect(row[1]).toBe('31');
});

test('a bad query is a 400 that says everything at once, for people and for programs', async () => {
  const url = await serve({ chat: [] });
  const answer = await fetch(`${url}?endpoint=no&rows=x&format=csv`);
  expect(answer.status).toBe(400);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(await answer.json()).toEqual({
    error: 'bad_request',
    msg: 'endpoint: got "no"; allowed: chat\nrows: got "x"; allowed: a whole number from 16 to 5000',
    problems: [
      { field: 'endpoint', got: '"no"', allowed: 'chat' },
      { field: 'rows', got: '"x"', allowed: 'a whole number from 16 to 5000' },
    ],
  });
});

test('answers fit the published schema, with no field that it does not name', async () => {
  const url = await serve({ chat: [minuteRow(AT, { load: null }), minuteRow(AT + 60_000)], code: [] });
  const served = await fetch(`${url}/schema`);
  expect(served.headers.get('content-type')).toBe('application/schema+json');
  const schema = (await served.json()) as object;
  expect(schema).toEqual(fleetJsonSchema());
  const validate = new Ajv2020({ allErrors: true, strict: false }).compile(schema);
  const answer: unknown = await (await fetch(`${url}?${RANGE}`)).json();
  expect(validate(answer) ? [] : validate.errors).toEqual([]);
  expect(validate({ ...(answer as object), endpoints: [{}] })).toBe(false);
});

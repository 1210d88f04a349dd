import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, expect, test } from 'vitest';
import { fleetJsonSchema, readFleetQuery, type FleetHistory } from '../../../../src/daemon/http/fleet.ts';
import type { Fleet, HistoryQuery, HistoryRow } from '../../../../src/fleet/view.ts';
import { listenWithFleet, type FleetListener } from '../../../support/fleet-listener.ts';
import { endpointView, fleetView, minuteRow, recordedFleet } from '../../../support/recorded-fleet.ts';

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

/** Two endpoints, and what is asked of their history. */
async function serveTwo(onAsked: (query: HistoryQuery) => void): Promise<string> {
  const view = fleetView([endpointView(), endpointView({ endpoint: 'code', id: 32 })]);
  const history: Fleet['history'] = async (query) => {
    onAsked(query);
    return [];
  };
  listener = await listenWithFleet({ ...recordedFleet(() => view), history });
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
  const url = await serveTwo(({ endpoint }) => {
    order.push(endpoint);
    setImmediate(() => order.push('another'));
  });
  await fetch(`${url}?${RANGE}`);
  expect(order.slice(0, 3)).toEqual(['chat', 'another', 'code']);
});

test('asks the history for what was asked, and for no more than its bound', async () => {
  const asked: HistoryQuery[] = [];
  const url = await serveTwo((query) => asked.push(query));
  await fetch(`${url}?endpoint=code&${RANGE}&rows=17`);
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
  expect(header.join()).toMatch(/^endpoint_group,endpoint_id,from,length_seconds,samples,load,load_peak,/);
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

const NOW = Date.parse('2026-11-22T12:00:00Z');
const HOUR = 3_600_000;

function read(query: string, endpoints: readonly string[] = ['chat', 'code']) {
  return readFleetQuery(new URLSearchParams(query), endpoints, NOW);
}

function problemsOf(query: string, endpoints?: readonly string[]): string[] {
  const answer = read(query, endpoints);
  return 'problems' in answer
    ? answer.problems.map(({ field, got, allowed }) => `${field}: ${got}: ${allowed}`)
    : [];
}

test('without a word it asks for the last six hours of all endpoints', () => {
  expect(read('')).toEqual({
    endpoints: ['chat', 'code'],
    fromMs: NOW - 6 * HOUR,
    toMs: NOW,
    rows: 500,
    format: undefined,
  });
});

test.each([
  ['-30m', NOW - HOUR / 2],
  ['-1.5h', NOW - 1.5 * HOUR],
  ['-7d', NOW - 7 * 24 * HOUR],
  ['1700000000.5', 1_700_000_000_500],
  ['2026-11-22', Date.parse('2026-11-22T00:00:00Z')],
  ['2026-11-22T06:00:00.250%2B02:00', Date.parse('2026-11-22T04:00:00.250Z')],
])('takes %s as a time', (text, ms) => {
  expect(read(`from=${text}`)).toMatchObject({ fromMs: ms, toMs: NOW });
});

test.each([
  'yesterday',
  '2026-11-22T06:00',
  '2026-02-31',
  '2026-04-31T06:00:00Z',
  '6h',
  '1e9',
  '-99999999999999d',
])('refuses %s as a time', (text) => {
  expect(problemsOf(`from=${encodeURIComponent(text)}`)).toEqual([
    expect.stringMatching(/^from: ".*": now, -6h /),
  ]);
});

test('names everything that is wrong at once, with what it got and what is allowed', () => {
  expect(problemsOf('endpoint=chta&from=-1h&to=-2h&rows=0&format=xml&since=1d&rows=')).toEqual([
    'since: "1d": endpoint, from, to, rows, format',
    'endpoint: "chta": chat, code',
    'from: "-1h": a time before `to`',
    'rows: "0, ": at most one',
    'format: "xml": json, csv',
  ]);
});

test.each(['15', '5001', '1.5', '-1', 'many', '١٢'])('refuses %s rows', (rows) => {
  expect(problemsOf(`rows=${rows}`)).toEqual([
    `rows: ${JSON.stringify(rows)}: a whole number from 16 to 5000`,
  ]);
});

test('says so where no endpoint is watched, and cuts what it repeats', () => {
  expect(problemsOf('endpoint=chat', [])).toEqual([
    'endpoint: "chat": none: this daemon has found no endpoint (PILOTLIGHT_ENDPOINTS)',
  ]);
  expect(problemsOf(`endpoint=${'x'.repeat(5_000)}`)[0]?.length).toBeLessThan(120);
});

test('bounds the rows of all endpoints together', () => {
  const many = Array.from({ length: 100 }, (_, index) => `e${index}`);
  expect(read('rows=5000', many)).toMatchObject({ rows: 200 });
  expect(read('rows=5000&endpoint=e7', many)).toMatchObject({ rows: 5_000, endpoints: ['e7'] });
  expect(read('rows=5000', Array.from({ length: 50_000 }, String))).toMatchObject({ rows: 16 });
});

test('is not confused by names that objects have', () => {
  expect(problemsOf('endpoint=__proto__&constructor=1', ['chat'])).toEqual([
    'constructor: "1": endpoint, from, to, rows, format',
    'endpoint: "__proto__": chat',
  ]);
});

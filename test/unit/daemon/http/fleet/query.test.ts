import { expect, test } from 'vitest';
import { readFleetQuery } from '../../../../../src/daemon/http/fleet/routes.ts';

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

/** What an answer says about the rate limit, in the shapes in which the service says it. */
import { describe, expect, test } from 'vitest';
import { operationOf } from '../../../src/contract/operations.ts';
import {
  rateLimitOf,
  retryAfterMs as headerMs,
  thresholdMs as namedMs,
  type RateLimit,
} from '../../../src/wire/rate-limit.ts';
import { decodeResponse, type WireResponse } from '../../../src/wire/response.ts';

/** 2026-07-25T10:00:00Z */
const SERVED_S = 1_784_973_600;
const SERVED = new Date(SERVED_S * 1000).toUTCString();

function refused(text: string, headers: WireResponse['headers'] = {}, status = 429) {
  return decodeResponse(operationOf('deployments.heartbeat'), { status, text, headers });
}

const WORDS = 'API requests too frequent';
const LIVE = { error: 'HTTPTooManyRequests', msg: WORDS, retry_after: 10, limit: 5, remaining: 0 };
type Wait = number | undefined;

describe('a 429', () => {
  const ERROR = `{"success":false,"error":"rate_limited","msg":"${WORDS}"}`;
  test.each<[shape: string, text: string, retryAfterMs: Wait, thresholdMs: Wait]>([
    ['JSON, as captured', JSON.stringify(LIVE).replace('5', '5.0'), 10_000, undefined],
    ['plain text', WORDS, undefined, undefined],
    ['plain text with a threshold', `${WORDS}: endpoint threshold=3.0`, undefined, 3_000],
    ['detail', `{"detail":"${WORDS} endpoint threshold=2.0"}`, undefined, 2_000],
    ['the JSON error body', ERROR, undefined, undefined],
  ])('of the shape %s says when to come back', (_, text, retryAfterMs, thresholdMs) => {
    expect(refused(text)).toMatchObject({ meaning: 'throttled', retryAfterMs, thresholdMs });
    expect(refused(text, { 'retry-after': '7' })).toMatchObject({ retryAfterMs: 7_000, thresholdMs });
  });

  test('has the words and the fields of the captured one', () => {
    expect(refused(JSON.stringify(LIVE))).toMatchObject({
      code: 'HTTPTooManyRequests',
      message: WORDS,
      fields: { retry_after: 10, limit: 5, remaining: 0 },
    });
  });

  const RESET = { 'x-ratelimit-reset': String(SERVED_S + 4), date: SERVED };
  test.each<
    [name: string, headers: WireResponse['headers'], body: unknown, retryAfterMs: number | undefined]
  >([
    ['the header', { ...RESET, 'retry-after': '7' }, LIVE, 7_000],
    ['a date in it', { ...RESET, 'retry-after': new Date((SERVED_S + 8) * 1000).toUTCString() }, LIVE, 8_000],
    ['the body, where the header says nothing', { ...RESET, 'retry-after': 'soon' }, LIVE, 10_000],
    ['the body as text', RESET, { ...LIVE, retry_after: '2.5' }, 2_500],
    ['the reset, where the body says nothing', RESET, { ...LIVE, retry_after: -1 }, 4_000],
    ['the body, where the header says 0 s', { 'retry-after': '0' }, LIVE, 10_000],
    ['no time, where both say 0 s', { 'retry-after': '0' }, { ...LIVE, retry_after: 0 }, undefined],
    ['the reset of plain text', RESET, 'API requests too frequent', 4_000],
    ['no reset without a Date', { 'x-ratelimit-reset': RESET['x-ratelimit-reset'] }, 'no', undefined],
    ['no reset that is over', { ...RESET, 'x-ratelimit-reset': String(SERVED_S) }, 'no', undefined],
  ])('goes by %s', (_, headers, body, retryAfterMs) => {
    expect(refused(JSON.stringify(body), headers)).toMatchObject({ retryAfterMs });
  });

  test('alone says so: of another refusal the header counts, and nothing else', () => {
    const { retry_after: _, ...others } = LIVE;
    expect(refused(JSON.stringify(LIVE), RESET, 503)).toMatchObject({ retryAfterMs: undefined });
    const other = refused(JSON.stringify(others), { ...RESET, 'retry-after': '3' }, 503);
    expect(other).toMatchObject({ retryAfterMs: 3_000, thresholdMs: undefined });
  });
});

describe('the tightest bucket', () => {
  const of = (limit?: string, remaining?: string, reset?: string): WireResponse['headers'] => ({
    date: SERVED,
    ...(limit !== undefined && { 'x-ratelimit-limit': limit }),
    ...(remaining !== undefined && { 'x-ratelimit-remaining': remaining }),
    ...(reset !== undefined && { 'x-ratelimit-reset': reset }),
  });
  const NOT_SAID = { limit: undefined, remaining: undefined, resetMs: undefined };

  test.each<[headers: WireResponse['headers'], rate: Partial<RateLimit> | undefined]>([
    [of('5.0', '0', String(SERVED_S + 10)), { limit: 5, remaining: 0, resetMs: 10_000 }],
    [of('1', '0.25', String(SERVED_S + 1.5)), { limit: 1, remaining: 0.25, resetMs: 1_500 }],
    [of('5', '-3'), { limit: 5, remaining: -3 }],
    [of(undefined, '4'), { remaining: 4 }],
    [of('0', '0'), { remaining: 0 }],
    [of('5;w=10', '4'), { remaining: 4 }],
    [of('9'.repeat(400), '4'), { remaining: 4 }],
    [of('5', '4', String(SERVED_S - 60)), { limit: 5, remaining: 4, resetMs: 0 }],
    [of('5', '4', '10'), { limit: 5, remaining: 4 }],
    [of('5', '4', `${SERVED_S}000`), { limit: 5, remaining: 4 }],
    [
      { ...of('5', '4', String(SERVED_S)), date: undefined },
      { limit: 5, remaining: 4 },
    ],
    [{ 'x-ratelimit-limit': [' 5 ', '9'] }, { limit: 5 }],
    [of('many', 'few', 'soon'), undefined],
    [of(), undefined],
  ])('of %j is %j', (headers, rate) => {
    expect(rateLimitOf(headers)).toEqual(rate && { ...NOT_SAID, ...rate });
  });

  test('of a 429 without headers is what its body says', () => {
    expect(rateLimitOf({}, LIVE)).toEqual({ ...NOT_SAID, limit: 5, remaining: 0 });
    expect(rateLimitOf(of('2', '1'), LIVE)).toMatchObject({ limit: 2, remaining: 1 });
    expect(rateLimitOf({}, { limit: 'x', remaining: null })).toBeUndefined();
  });
});

const LONGEST = 2 ** 31 - 1;

test.each<[header: string | string[], date: string | undefined, ms: number | undefined]>([
  ['7', undefined, 7_000],
  [' 0 ', undefined, 0],
  ['1.25', undefined, 1_250],
  [['3', '9'], undefined, 3_000],
  ['9'.repeat(400), undefined, LONGEST],
  ['Sat, 25 Jul 2026 10:00:09 GMT', SERVED, 9_000],
  ['Saturday, 25-Jul-26 10:00:09 GMT', SERVED, 9_000],
  ['Sat, 25 Jul 2026 09:00:00 GMT', SERVED, 0],
  ['Sat, 21 Nov 9999 10:00:09 GMT', SERVED, LONGEST],
  ['Sat, 25 Jul 2026 10:00:09 GMT', undefined, undefined],
  ...['-5', 'NaN', '2s', '1.', 'soon, or later', '- Sat, 25 Jul 2026 10:00:09 GMT', ''].map(
    (text) => [text, SERVED, undefined] as [string, string, undefined],
  ),
])('Retry-After %s of an answer at %s is %j ms', (header, date, ms) => {
  expect(headerMs({ 'retry-after': header, date })).toBe(ms);
});

test('Retry-After counts from our clock where the answer has no Date', () => {
  const header = 'Sat, 25 Jul 2026 10:00:09 GMT';
  expect(headerMs({ 'retry-after': header }, SERVED_S * 1000)).toBe(9_000);
});

test.each<[text: string, ms: number | undefined]>([
  ['API requests too frequent: endpoint threshold=3.0', 3_000],
  ['Threshold = 3.25 s', 3_250],
  ['threshold:2', 2_000],
  [`threshold=${'9'.repeat(400)}`, LONGEST],
  ['threshold=0', undefined],
  ['threshold=-3', undefined],
  ['athreshold=2', undefined],
  ['threshold per key=2', undefined],
])('%s: a threshold of %j ms', (text, ms) => {
  expect(namedMs(text)).toBe(ms);
});

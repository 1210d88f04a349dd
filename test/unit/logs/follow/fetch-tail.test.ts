/** What comes of one poll, over a transport that answers as a test says. */
import { expect, test, vi } from 'vitest';
import { createClient } from '../../../../src/client/client.ts';
import type { Exchange } from '../../../../src/client/transport/transport.ts';
import { createTailFetcher } from '../../../../src/logs/follow/pipeline.ts';
import type { LogSource } from '../../../../src/logs/record.ts';
import type { WireResponse } from '../../../../src/wire/response.ts';
import { answer, AnsweringTransport, never } from '../../../support/answering-transport.ts';

const broken = (code: string) => Object.assign(new Error('broken'), { code });

type Given = WireResponse | Error | ((exchange: Exchange) => Promise<WireResponse>);

async function polled(given: Given, kind: LogSource['kind'] = 'workergroup') {
  const transport = new AnsweringTransport(given);
  const client = createClient({ baseUrl: 'http://a.test', apiKey: 'key', transport });
  const { signal } = new AbortController();
  const said = await createTailFetcher(client)({
    source: kind === 'workergroup' ? { kind, id: 7 } : { kind, id: 7, name: 'chat' },
    tail: 200,
    everyMs: 1_000,
    signal,
  });
  // When to ask again is the follower's decision.
  expect(transport.calls).toEqual([expect.stringContaining(`/get_${kind}_logs`)]);
  return said;
}

test.each([
  ['Retry-After', answer(429, 'slow down', { 'retry-after': '7' }), 7_000],
  ['a threshold', answer(429, 'API requests too frequent: endpoint threshold=3.0'), 3_000],
  ['nothing', answer(503, ''), undefined],
])('%s in a refusal says how long the group is left alone', async (_, given, retryAfterMs) => {
  const { kind, ...said } = await polled(given);
  expect(kind).toBe('error');
  expect('retryAfterMs' in said ? said.retryAfterMs : undefined).toBe(retryAfterMs);
});

test('the log of an endpoint is asked for as its own', () => polled(answer(200, 'line\n'), 'endpoint'));

test.each([
  ['an answer that is larger than what is taken', broken('ERR_BODY_TOO_LARGE'), 'surely'],
  ['what the service calls too large', answer(413, ''), 'surely'],
  ['what a gateway did not wait for', answer(504, ''), 'perhaps'],
  ['what the service failed at', answer(500, ''), 'perhaps'],
  ['what was cut', broken('ECONNRESET'), 'perhaps'],
  ['what had no connection', broken('ECONNREFUSED'), undefined],
  ['what is refused', answer(403, ''), undefined],
])('%s may come through with fewer lines, or not', async (_, given, tooLarge) => {
  const said = await polled(given);
  expect('tooLarge' in said ? said.tooLarge : undefined).toBe(tooLarge);
});

const UNKNOWN_GROUP = 'authenticate_workergroup_with_apikey: invalid api_key or workergroup not found';

test.each([
  ['a bare JSON string', answer(200, JSON.stringify(UNKNOWN_GROUP)), true],
  ['a message', answer(200, JSON.stringify({ msg: UNKNOWN_GROUP })), true],
  ['a 404', answer(404, '{"success":false,"error":"not_found","msg":"no such worker group"}'), true],
  ['a 400', answer(400, JSON.stringify({ error_msg: UNKNOWN_GROUP })), true],
  ['a page of a gateway', answer(404, '<html>404 Not Found</html>'), undefined],
  ['another refusal', answer(400, '{"error_msg":"tail must be a number"}'), undefined],
])('%s may say that the group is not there yet', async (_, given, notFound) => {
  expect(await polled(given)).toMatchObject({ kind: 'error', ...(notFound && { notFound }) });
  expect('notFound' in (await polled(given))).toBe(notFound === true);
});

test.each([
  [119_000, 'text'],
  [121_000, 'error'],
])('an answer that takes %d ms is one of kind %s: the vendor waits 120 s for logs', async (ms, kind) => {
  vi.useFakeTimers();
  try {
    const late = () =>
      new Promise<WireResponse>((resolve) => {
        setTimeout(() => resolve(answer(200, { logs: 'a\n' })), ms);
      });
    const said = polled((exchange) => Promise.race([late(), never(exchange)]));
    await vi.advanceTimersByTimeAsync(ms);
    expect(await said).toMatchObject({ kind, ...(kind === 'error' && { tooLarge: 'perhaps' }) });
  } finally {
    vi.useRealTimers();
  }
});

/** What is left of an answer when a fault has struck, without sockets. */
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { jsonAnswer, type Answer } from '../../../../src/emulator/answer.ts';
import {
  exchangeWithFaults,
  faultSchema,
  type FaultInput,
  type FaultRecord,
  type Strikes,
} from '../../../../src/emulator/faults.ts';

function strikes(...faults: readonly FaultInput[]): Strikes {
  const records = faults.map((fault, index): FaultRecord => ({
    id: `fault-${index}`,
    fault: faultSchema.parse(fault),
    startsAtMs: 0,
    endsAtMs: Infinity,
    matched: 0,
    struck: 0,
  }));
  return {
    latencies: records.filter(({ fault }) => fault.kind === 'latency') as unknown as Strikes['latencies'],
    decisive: records.find(({ fault }) => fault.kind !== 'latency') as unknown as Strikes['decisive'],
  };
}

async function exchanged(given: Strikes, { gone = false, lifted = true } = {}) {
  const sent: Answer[] = [];
  const wrote: unknown[] = [];
  let performed = 0;
  const raw = {
    destroyed: gone,
    socket: { resetAndDestroy: () => wrote.push('reset') },
    writeHead: (status: number, headers: object) => wrote.push(status, headers),
    write: (body: Buffer, done: () => void) => (wrote.push(body.toString()), done()),
    destroy: () => wrote.push('destroyed'),
  } as unknown as ServerResponse;
  const status = await exchangeWithFaults(given, {
    raw,
    random: () => 0.5,
    refuse: (code, message) => jsonAnswer(500, { error: code, msg: message }),
    closing: lifted ? new AbortController().signal : AbortSignal.abort(),
    perform: () => {
      performed += 1;
      return jsonAnswer(200, { n: 12 });
    },
    send: (answer) => sent.push(answer),
    lifted: (id) => Promise.resolve(void wrote.push(`lifted ${id}`)),
  });
  return { status, sent, wrote, performed };
}

const WHOLE = '{"n":12}';

const BUG = '{"error":"internal_error","msg":"Internal server error"}';

test.each<[FaultInput, number, string, string, number]>([
  [{ kind: 'status', status: 500 }, 500, 'application/json', BUG, 0],
  [{ kind: 'status', status: 500, takesEffect: true }, 500, 'application/json', BUG, 1],
  [{ kind: 'status', status: 404, takesEffect: true }, 404, 'text/html', '404 Not Found', 1],
  [{ kind: 'status', status: 502 }, 502, 'text/html', '502 Bad Gateway', 0],
  [{ kind: 'status', status: 503 }, 503, 'text/html', '503 Service Unavailable', 0],
  [{ kind: 'status', status: 504 }, 504, 'text/html', '504 Gateway Timeout', 0],
  [{ kind: 'truncated', connection: 'kept' }, 200, 'application/json', WHOLE.slice(0, 4), 1],
  [{ kind: 'empty' }, 200, 'application/json', '', 1],
  [{ kind: 'empty', takesEffect: false }, 200, 'application/json', '', 0],
  [{ kind: 'html' }, 200, 'text/html; charset=utf-8', '<p>Checking your browser before you proceed.</p>', 0],
  [{ kind: 'hang' }, 200, 'application/json', WHOLE, 1],
  [{ kind: 'hang', takesEffect: true }, 200, 'application/json', WHOLE, 1],
])('%j', async (fault, status, contentType, text, performed) => {
  const ran = await exchanged(strikes(fault));
  expect([ran.status, ran.performed, ran.sent[0]?.status]).toEqual([status, performed, status]);
  expect(ran.sent[0]?.contentType).toMatch(contentType);
  if (contentType.startsWith('text/html')) {
    expect(ran.sent[0]?.text).toMatch(/^<!DOCTYPE html>\r\n<html>\r\n<head><title>[^]+<\/html>\r\n$/);
    expect(ran.sent[0]?.text).toContain(text);
  } else expect(ran.sent[0]?.text).toBe(text);
  expect(ran.wrote).toEqual(fault.kind === 'hang' ? ['lifted fault-0'] : []);
});

test('a throttle says when to come back where it is told to', async () => {
  const plain = await exchanged(strikes({ kind: 'throttled' }));
  expect([plain.status, plain.sent[0]?.headers?.['retry-after']]).toEqual([429, undefined]);
  const asked = await exchanged(strikes({ kind: 'throttled', retryAfterSeconds: 7 }));
  expect(asked.sent[0]?.headers).toMatchObject({ 'retry-after': '7' });
});

test('a client that has gone gets nothing, and one that hung changes nothing then', async () => {
  const gone = await exchanged({ latencies: [], decisive: undefined }, { gone: true });
  expect([gone.status, gone.sent, gone.performed]).toEqual([null, [], 1]);
  const hung = await exchanged(strikes({ kind: 'hang' }), { gone: true });
  expect([hung.status, hung.performed]).toEqual([null, 0]);
  const closed = await exchanged(strikes({ kind: 'hang' }), { lifted: false });
  expect([closed.status, closed.sent, closed.performed]).toEqual([null, [], 0]);
});

test('latencies add up on their side, with their jitter', async () => {
  const side = { kind: 'latency', side: 'request', ms: 20, jitterMs: 600 } as const;
  const started = performance.now();
  expect((await exchanged(strikes(side, { ...side, ms: 30, jitterMs: 0 }))).status).toBe(200);
  // Chance gives half of the jitter here.
  expect(performance.now() - started).toBeGreaterThanOrEqual(349);
});

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { TransportError } from '../../../src/client/errors.ts';
import { startEmulator, type Emulator, type FaultInput } from '../../../src/emulator/index.ts';

const EMULATOR = new URL('../../../src/emulator/index.ts', import.meta.url).href;

let emulator: Emulator;
let client: Client;

beforeEach(async () => {
  emulator = await startEmulator({ clock: 'frozen' });
  client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
});

afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await emulator.close();
});

const once1 = { retry: false } as const;

/** One heartbeat, one attempt. */
function beat(id = 42) {
  return client.deployments.heartbeat({ id }, once1);
}

function beats(id = 42): number {
  return emulator.deployments.get(id).beats;
}

async function rawBeat(id = 42): Promise<Response> {
  const headers = { authorization: `Bearer ${emulator.apiKey}` };
  return fetch(`${emulator.url}/api/v0/deployment/${id}/heartbeat/`, { method: 'POST', headers });
}

/** A request that has arrived reaches its fault within the same turn of the event loop. */
function untilItHangs(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Heartbeats one after the other: `.` for each that is answered, `x` for each that is not. */
async function outcomes(count: number, id = 42): Promise<string> {
  let text = '';
  for (let call = 0; call < count; call += 1) text += (await rawBeat(id)).status === 200 ? '.' : 'x';
  return text;
}

describe('the connection', () => {
  test('is refused by the kernel while `refused` lasts, and comes back on the same port', async () => {
    await beat();
    await emulator.faults.add({ kind: 'refused', forMs: 5_000 });
    await expect(beat()).rejects.toMatchObject({ code: 'transport', reason: 'refused' });
    const socket = connect(emulator.port, '127.0.0.1');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
    await emulator.clock.advance(5_000);
    await expect(beat()).resolves.toMatchObject({ success: true });
    expect(beats()).toBe(2);
  });

  test('is refused later, and again listens when the fault is cleared before its end', async () => {
    const fault = await emulator.faults.add({ kind: 'refused', startInMs: 1_000, forMs: 60_000 });
    await beat();
    await emulator.clock.advance(1_000);
    await expect(beat()).rejects.toMatchObject({ reason: 'refused' });
    await fault.clear();
    await beat();
  });

  test.each([
    { takesEffect: false, made: 0 },
    { takesEffect: true, made: 1 },
  ])('is reset, with the change made: $takesEffect', async ({ takesEffect, made }) => {
    await emulator.faults.add({ kind: 'reset', takesEffect });
    await expect(beat()).rejects.toMatchObject({ code: 'transport', reason: 'reset' });
    expect(beats()).toBe(made);
    expect(emulator.journal.entries()).toMatchObject([{ status: null, faults: ['fault-1'] }]);
  });

  test('ends in the middle of the body when it is truncated', async () => {
    await emulator.faults.add({ kind: 'truncated' });
    await expect(beat()).rejects.toBeInstanceOf(TransportError);
    expect(beats()).toBe(1);
  });
});

describe('an answer', () => {
  const WORDS = 'API requests too frequent';
  const TEXT = `${WORDS}: endpoint threshold=3.0`;
  const DETAIL = `{"detail":"${WORDS} endpoint threshold=2.0"}`;
  const ERROR = `{"error":"rate_limited","msg":"${WORDS}"}`;
  const BUG = '{"error":"internal_error","msg":"Internal server error"}';

  test.each<[FaultInput, number, string, string, number]>([
    [{ kind: 'throttled', shape: 'text' }, 429, 'text/plain', WORDS, 0],
    [{ kind: 'throttled', shape: 'text', thresholdSeconds: 3 }, 429, 'text/plain', TEXT, 0],
    [{ kind: 'throttled', shape: 'detail', thresholdSeconds: 2 }, 429, 'application/json', DETAIL, 0],
    [{ kind: 'throttled', shape: 'error' }, 429, 'application/json', ERROR, 0],
    [{ kind: 'status', status: 500 }, 500, 'application/json', BUG, 0],
    [{ kind: 'status', status: 500, takesEffect: true }, 500, 'application/json', BUG, 1],
    [{ kind: 'status', status: 404, takesEffect: true }, 404, 'text/html', '404 Not Found', 1],
    [{ kind: 'status', status: 502 }, 502, 'text/html', '502 Bad Gateway', 0],
    [{ kind: 'status', status: 503 }, 503, 'text/html', '503 Service Unavailable', 0],
    [{ kind: 'status', status: 504 }, 504, 'text/html', '504 Gateway Timeout', 0],
    [{ kind: 'empty' }, 200, 'application/json', '', 1],
    [{ kind: 'empty', takesEffect: false }, 200, 'application/json', '', 0],
    [{ kind: 'html' }, 200, 'text/html', 'Checking your browser before you proceed.', 0],
  ])('of %j', async (fault, status, contentType, text, made) => {
    await emulator.faults.add(fault);
    const response = await rawBeat();
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toContain(contentType);
    const body = await response.text();
    if (contentType === 'text/html') {
      expect(body).toMatch(/^<!DOCTYPE html>\r\n<html>\r\n<head><title>[^]+<\/html>\r\n$/);
      expect(body).toContain(text);
    } else expect(body).toBe(text);
    expect(beats()).toBe(made);
  });

  test('of a throttle says when to come back only if it is told to', async () => {
    const fault = await emulator.faults.add({ kind: 'throttled' });
    expect((await rawBeat()).headers.get('retry-after')).toBeNull();
    await fault.clear();
    await emulator.faults.add({ kind: 'throttled', retryAfterSeconds: 7 });
    expect((await rawBeat()).headers.get('retry-after')).toBe('7');
  });

  test('comes after all latencies of its side', async () => {
    await emulator.faults.add({ kind: 'latency', ms: 200 });
    await emulator.faults.add({ kind: 'latency', ms: 30 });
    const started = performance.now();
    await beat();
    expect(performance.now() - started).toBeGreaterThanOrEqual(225);
  });

  test.each([
    { side: 'response', made: 1 },
    { side: 'request', made: 0 },
  ] as const)('comes late, the change made before or after the wait: %j', async ({ side, made }) => {
    await emulator.faults.add({ kind: 'latency', ms: 60_000, side });
    const giveUp = new AbortController();
    const answer = client.deployments.heartbeat({ id: 42 }, { ...once1, signal: giveUp.signal });
    await emulator.journal.waitFor({ id: 42 }, { arrived: true });
    await untilItHangs();
    expect(beats()).toBe(made);
    giveUp.abort();
    await expect(answer).rejects.toMatchObject({ code: 'aborted' });
  });

  test.each([
    { takesEffect: false, made: 0 },
    { takesEffect: true, made: 1 },
  ])(
    'never comes while a request hangs, and comes when the fault is lifted: %j',
    async ({ takesEffect, made }) => {
      const fault = await emulator.faults.add({ kind: 'hang', takesEffect });
      const answer = beat();
      await emulator.journal.waitFor({ operation: 'deployments.heartbeat' }, { arrived: true });
      await untilItHangs();
      expect(beats()).toBe(made);
      await fault.clear();
      await expect(answer).resolves.toMatchObject({ success: true });
      expect(beats()).toBe(1);
    },
  );

  test('comes even if the hang is lifted before the request has reached it', async () => {
    const fault = await emulator.faults.add({ kind: 'hang' });
    const answer = beat();
    await emulator.journal.waitFor({ id: 42 }, { arrived: true });
    await fault.clear();
    await expect(answer).resolves.toMatchObject({ success: true });
  });

  test('comes when the time of a hang is over; one that gave up changes nothing', async () => {
    await emulator.faults.add({ kind: 'hang', forMs: 60_000 });
    const giveUp = new AbortController();
    const abandoned = client.deployments.heartbeat({ id: 43 }, { ...once1, signal: giveUp.signal });
    await emulator.journal.waitFor({ id: 43 }, { arrived: true });
    giveUp.abort();
    await expect(abandoned).rejects.toMatchObject({ code: 'aborted' });
    const answer = beat(42);
    await emulator.journal.waitFor({ id: 42 }, { arrived: true });
    await untilItHangs();
    await emulator.clock.advance(60_000);
    await answer;
    expect([beats(42), beats(43)]).toEqual([1, 0]);
  });
});

describe('which requests are struck', () => {
  const failing = { kind: 'status', status: 500 } as const;

  test.each([
    { select: { every: 3 }, struck: '..x..x..x' },
    { select: { nth: 2 }, struck: '.x.......' },
    { select: { times: 2 }, struck: 'xx.......' },
    { select: { every: 2, times: 3 }, struck: '.x.x.x...' },
    { select: { probability: 0 }, struck: '.........' },
  ])('$select', async ({ select, struck }) => {
    await emulator.faults.add({ ...failing, ...select });
    expect(await outcomes(9)).toBe(struck);
  });

  test('a probability strikes the same requests after every reset', async () => {
    await emulator.faults.add({ ...failing, probability: 0.5 });
    const first = await outcomes(30);
    await emulator.reset();
    await emulator.faults.add({ ...failing, probability: 0.5 });
    expect(await outcomes(30)).toBe(first);
    expect(first).toMatch(/x.*\./);
  });

  test('those of an operation, an id, a key', async () => {
    await emulator.faults.add({ ...failing, id: 43 });
    expect([await outcomes(2, 42), await outcomes(2, 43)]).toEqual(['..', 'xx']);
    await emulator.faults.clear();
    await emulator.faults.add({ ...failing, operation: 'users.current' });
    expect(await outcomes(1)).toBe('.');
    await expect(client.users.current({}, once1)).rejects.toMatchObject({ status: 500 });
    await emulator.faults.clear();
    await emulator.faults.add({ ...failing, key: emulator.apiKey });
    expect(await outcomes(1)).toBe('x');
    expect(JSON.stringify(emulator.faults.list())).not.toContain(emulator.apiKey);
    await expect(emulator.faults.add({ ...failing, key: 'no such key' })).rejects.toThrow('key:');
  });

  test('those of a time window', async () => {
    await emulator.faults.add({ ...failing, startInMs: 1_000, forMs: 1_000 });
    expect(await outcomes(1)).toBe('.');
    await emulator.clock.advance(1_000);
    expect(await outcomes(1)).toBe('x');
    await emulator.clock.advance(999);
    expect(await outcomes(1)).toBe('x');
    await emulator.clock.advance(1);
    expect(await outcomes(1)).toBe('.');
    expect(emulator.faults.list()).toMatchObject([{ kind: 'status', active: false, matched: 2, struck: 2 }]);
  });
});

test('closing ends at once with requests that hang or wait', async () => {
  await emulator.faults.add({ kind: 'hang', id: 42 });
  await emulator.faults.add({ kind: 'latency', ms: 60_000, id: 43 });
  const answers = Promise.allSettled([beat(42), beat(43)]);
  await emulator.journal.waitFor({}, { arrived: true, count: 2 });
  const started = performance.now();
  await emulator.close();
  expect(performance.now() - started).toBeLessThan(1_000);
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('a port that another got while connections were refused is taken back as soon as it is free', async () => {
  await emulator.faults.add({ kind: 'refused' });
  const other = createServer().listen(Number(new URL(emulator.url).port), '127.0.0.1');
  await once(other, 'listening');
  const lifted = emulator.faults.clear();
  // Longer than any patience with a connection of a moment.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  other.close();
  await lifted;
  expect((await fetch(`${emulator.url}/docs`)).status).toBe(200);
});

test('after closing nothing is left that would keep the process alive', async () => {
  const program = `
    const { startEmulator } = await import(${JSON.stringify(EMULATOR)});
    const emulator = await startEmulator();
    await emulator.faults.add({ kind: 'hang', id: 42 });
    await emulator.faults.add({ kind: 'hang', id: 44, forMs: 3_600_000 });
    await emulator.faults.add({ kind: 'latency', ms: 3_600_000, id: 43 });
    await emulator.faults.add({ kind: 'refused', startInMs: 3_600_000, forMs: 1 });
    for (const id of [42, 43]) {
      const headers = { authorization: 'Bearer ' + emulator.apiKey };
      fetch(emulator.url + '/api/v0/deployment/' + id + '/heartbeat', { method: 'POST', headers }).catch(() => {});
    }
    await emulator.journal.waitFor({}, { arrived: true, count: 2 });
    await emulator.close();
    await emulator.close();
    console.log('closed');
  `;
  const args = ['--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 120_000 });
  expect(stdout).toBe('closed\n');
});

import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createApiKey } from '../../src/client/api-key.ts';
import { loadHeartConfig } from '../../src/config/load-heart.ts';
import { startEmulator, type Emulator, type FaultInput } from '../../src/emulator/index.ts';
import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import { Heart } from '../../src/heartbeat/heart.ts';
import { createRandom } from '../../src/scaling/planner/load.ts';
import type { Span } from '../simulation/scenario.ts';
import { until } from '../support/daemon.ts';
import { startFaultProxy, type FaultMode, type FaultProxy } from '../support/fault-proxy.ts';
import { isLong } from '../support/long.ts';
import { openWindow, watchLateness } from '../support/real-time-window.ts';

const TTL_MS = 20_000;
const OUTAGE_MS = 11_000;
/** Offsets of the outage for each kind: 33 hearts, and 220 in `npm run test:long -- test/alone/outages`. */
const OFFSETS = Number(process.env['OUTAGE_OFFSETS'] ?? 3);
const SEED = Number(process.env['OUTAGE_SEED'] ?? Date.now() % 1_000_000);
/** An outage may begin anywhere in it. */
const VENDOR_INTERVAL_MS = TTL_MS / 2;
/** The vendor's deployment is the heart's plus this. */
const VENDOR = 100_000;
const START_SPREAD_MS = 4_000;

/**
 * The heartbeat of the vendor's SDK, as its sources have it: a thread that sends, sleeps min(T/2, 60 s) and sends
 * again. A new connection for each request, no timeout, the status never looked at, and the first exception ends
 * the thread. The peer to beat.
 */
function startVendorLoop({ url, apiKey }: Pick<Emulator, 'url' | 'apiKey'>, id: number): Disposable {
  const stopping = new AbortController();
  const { signal } = stopping;
  async function run(): Promise<void> {
    for (;;) {
      await sendOnce(`${url}/api/v0/deployment/${id}/heartbeat`, apiKey, signal);
      await delay(VENDOR_INTERVAL_MS, undefined, { signal });
    }
  }
  run().catch(() => {});
  return { [Symbol.dispose]: () => stopping.abort() };
}

function sendOnce(url: string, apiKey: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${apiKey}` };
    request(url, { method: 'POST', headers, agent: false, signal }, (response) => {
      response.on('error', reject).on('end', resolve).resume();
    })
      .on('error', reject)
      .end();
  });
}

type Outage = ({ readonly mode: FaultMode } | { readonly fault: FaultInput }) & {
  readonly intervalMs?: number;
};

const OUTAGES: Readonly<Record<string, Outage>> = {
  'connection refused': { mode: { kind: 'refuse' } },
  'hang at connect': { mode: { kind: 'hang-at-connect' } },
  'hang after the request': { mode: { kind: 'hang-after-request' } },
  'hang in the body': { mode: { kind: 'hang-in-body' } },
  'connection reset': { mode: { kind: 'reset' } },
  // The interval is shorter than an idle connection is kept. So a request uses it again and meets the fault.
  'half-open connection': { mode: { kind: 'half-open' }, intervalMs: 3_000 },
  'slow, 20 bytes/s': { mode: { kind: 'slow', bytesPerSecond: 20 } },
  'body cut in half': { mode: { kind: 'cut-body' } },
  'status 503': { fault: { kind: 'status', status: 503 } },
  '429 as plain text': { fault: { kind: 'throttled', shape: 'text' } },
  'HTML with status 200': { fault: { kind: 'html' } },
};

interface Cell {
  readonly emulator: Emulator;
  readonly id: number;
  readonly kind: string;
  readonly outage: Outage;
  readonly offsetMs: number;
}

interface CellResult {
  readonly kind: string;
  readonly offsetMs: number;
  readonly lapsed: boolean;
  /** That it lapsed though it had a window, by the times that this process really kept. */
  readonly window: Span | undefined;
  readonly vendorLapsed: boolean;
  /** As the heart names it at the end. */
  readonly state: string;
  /** Attempts that failed, and questions. */
  readonly failures: number;
  readonly minMarginMs: number;
}

/**
 * Lives through one outage, a heart and the vendor's loop side by side behind the same proxy, until a deployment has
 * lapsed whose last heartbeat came before it. For the table it lives an outage longer: a loop that a half answer has
 * killed loses its deployment only then.
 */
async function runCell(cell: Cell): Promise<CellResult> {
  const { emulator, id, kind, offsetMs } = cell;
  const { intervalMs } = cell.outage;
  await using proxy = await startFaultProxy(emulator.port);
  const url = proxy.url;
  const { settings } = loadHeartConfig({
    PILOTLIGHT_API_KEY: emulator.apiKey,
    PILOTLIGHT_BASE_URL: url,
    PILOTLIGHT_DEPLOYMENTS: `${id}@${TTL_MS}ms`,
    PILOTLIGHT_HEARTBEAT_INTERVAL: intervalMs === undefined ? 'auto' : `${intervalMs}ms`,
  });
  if (!settings) throw new Error('the cell is configured wrongly');
  const timing = timingFor({ ttl: TTL_MS, interval: intervalMs ?? 'auto' });
  using lateness = watchLateness(timing.tick);
  const sentAt = new Map<number, number>();
  let basis = performance.now();
  let failures = 0;
  const heart = new Heart({
    baseUrl: url,
    apiKey: createApiKey(emulator.apiKey, undefined),
    deployments: settings.deployments,
    settings,
    listener: {
      notice(_, notice) {
        if (notice.type === 'failed') failures += 1;
        if (notice.type === 'sent') sentAt.set(notice.attempt, performance.now());
        if (notice.type === 'accepted') basis = sentAt.get(notice.attempt) ?? basis;
      },
      // A question may use the half-open connection first. Then the heartbeat opens another.
      exchange({ code }) {
        if (!code.startsWith('2')) failures += 1;
      },
      removed() {},
      replaced() {},
      discovery() {},
      keyUnreadable() {},
      app() {},
    },
  });
  await using _heart = { [Symbol.asyncDispose]: () => heart.stop() };
  using _vendor = startVendorLoop({ url, apiKey: emulator.apiKey }, id + VENDOR);
  const books = (which: number) => emulator.deployments.get(which);
  await until(() => books(id).beats > 0 && books(id + VENDOR).beats > 0);
  await delay(offsetMs);

  const struckAt = performance.now();
  const heal = await strike(cell, proxy);
  await delay(OUTAGE_MS - (performance.now() - struckAt));
  await heal();
  const outage = { from: struckAt, to: performance.now() };
  await delay((isLong ? OUTAGE_MS : 0) + TTL_MS + 500 - (performance.now() - struckAt));
  // On a busy machine an attempt may still be under way.
  await until(() => books(id).expired || heart.snapshotOf(id)?.state === 'healthy');
  const lapsed = books(id).expired;
  return {
    kind,
    offsetMs,
    lapsed,
    window: lapsed ? openWindow([outage, ...lateness.spans], basis, timing) : undefined,
    vendorLapsed: books(id + VENDOR).expired,
    state: heart.snapshotOf(id)?.state ?? 'none',
    failures,
    minMarginMs: books(id).minMarginMs ?? 0,
  };
}

async function strike({ emulator, id, outage }: Cell, proxy: FaultProxy): Promise<() => Promise<void>> {
  if ('mode' in outage) {
    await proxy.switchTo(outage.mode);
    return () => proxy.switchTo({ kind: 'pass' });
  }
  const faults = [id, id + VENDOR].map((struck) =>
    emulator.faults.add(Object.assign({}, outage.fault, { id: struck })),
  );
  const handles = await Promise.all(faults);
  return async () => {
    await Promise.all(handles.map((handle) => handle.clear()));
  };
}

// Real sockets and real time: all cells at once, so that the whole takes as long as one.
test(`an outage of 11 s loses nothing that had a window, whatever its kind (seed ${SEED})`, async () => {
  const random = createRandom(SEED);
  const cells = Object.entries(OUTAGES).flatMap(([kind, outage], row) =>
    Array.from({ length: OFFSETS }, (_, column) => ({ kind, outage, id: 1 + row * OFFSETS + column })),
  );
  await using emulator = await startEmulator({
    seed: {
      deployments: cells.flatMap(({ id }) =>
        [id, id + VENDOR].map((each) => ({ id: each, ttl: TTL_MS / 1000 })),
      ),
    },
  });
  const results = await Promise.all(
    cells.map(async ({ kind, outage, id }) => {
      const offsetMs = VENDOR_INTERVAL_MS * random();
      await delay((START_SPREAD_MS * id) / cells.length);
      return runCell({ emulator, id, kind, outage, offsetMs });
    }),
  );
  process.stdout.write(table(results));
  // Where this process stood still for seconds, the outage was longer than it was meant to be.
  expect(results.filter(({ window }) => window !== undefined)).toEqual([]);
  const saved = results.filter(({ lapsed }) => !lapsed);
  expect(saved).not.toEqual([]);
  expect(saved.filter(({ state }) => state !== 'healthy')).toEqual([]);
  // Else the outages were none.
  for (const kind of Object.keys(OUTAGES))
    expect(
      results.some((result) => result.kind === kind && result.failures > 0),
      kind,
    ).toBe(true);
  expect(results.some(({ vendorLapsed }) => vendorLapsed)).toBe(true);
});

function table(results: readonly CellResult[]): string {
  const rows = Object.entries(Object.groupBy(results, ({ kind }) => kind)).map(([kind, of = []]) => [
    kind,
    `${of.filter(({ lapsed }) => lapsed).length}/${of.length}`,
    `${of.filter(({ vendorLapsed }) => vendorLapsed).length}/${of.length}`,
    `${(Math.min(...of.map(({ minMarginMs }) => minMarginMs)) / 1000).toFixed(1)} s`,
  ]);
  const head = ['outage of 11 s, TTL 20 s', 'pilotlight lapsed', 'vendor SDK lapsed', 'closest approach'];
  return [head, ...rows].map((row) => `${row.map((text) => text.padEnd(24)).join(' ')}\n`).join('');
}

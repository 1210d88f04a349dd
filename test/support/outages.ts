/** What can happen to the way between a heart and the service, and one deployment that it happens to. */
import { createApiKey } from '../../src/client/api-key.ts';
import { loadHeartConfig } from '../../src/config/load-heart.ts';
import type { Emulator, FaultInput } from '../../src/emulator/index.ts';
import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import { Heart } from '../../src/heartbeat/heart.ts';
import { until } from './daemon.ts';
import { openWindow, watchLateness } from './real-time-window.ts';
import { startFaultProxy, type FaultMode, type FaultProxy } from './fault-proxy.ts';
import type { Span } from '../simulation/span.ts';
import { startVendorLoop } from './vendor-loop.ts';

export type Outage = { readonly mode: FaultMode } | { readonly fault: FaultInput };

export const OUTAGES: Readonly<Record<string, Outage>> = {
  'connection refused': { mode: { kind: 'refuse' } },
  'hang at connect': { mode: { kind: 'hang-at-connect' } },
  'hang after the request': { mode: { kind: 'hang-after-request' } },
  'hang in the body': { mode: { kind: 'hang-in-body' } },
  'connection reset': { mode: { kind: 'reset' } },
  'half-open connection': { mode: { kind: 'half-open' } },
  'slow, 20 bytes/s': { mode: { kind: 'slow', bytesPerSecond: 20 } },
  'body cut in half': { mode: { kind: 'cut-body' } },
  'status 503': { fault: { kind: 'status', status: 503 } },
  '429 as plain text': { fault: { kind: 'throttled', shape: 'text' } },
  'HTML with status 200': { fault: { kind: 'html' } },
};

export interface Cell {
  readonly emulator: Emulator;
  /** The heart's deployment; the vendor's is this plus VENDOR. */
  readonly id: number;
  readonly ttlMs: number;
  readonly outage: Outage;
  readonly outageMs: number;
  readonly offsetMs: number;
}

export interface CellResult {
  readonly lapsed: boolean;
  /** That it lapsed though it had a window, by the times that this process really kept. */
  readonly window: Span | undefined;
  readonly vendorLapsed: boolean;
  /** As the heart names it at the end. */
  readonly state: string;
  /** Attempts that failed, as the heart counts. */
  readonly failures: number;
  readonly minMarginMs: number;
}

export const VENDOR = 100_000;

/**
 * Lives through one outage, a heart and the vendor's loop side by side behind the same proxy, and one TTL more: a loop
 * that a half answer has killed loses its deployment only then.
 */
export async function runCell(cell: Cell): Promise<CellResult> {
  const { emulator, id, ttlMs } = cell;
  await using proxy = await startFaultProxy(emulator.port);
  const url = proxy.url;
  const { settings } = loadHeartConfig({
    PILOTLIGHT_API_KEY: emulator.apiKey,
    PILOTLIGHT_BASE_URL: url,
    PILOTLIGHT_DEPLOYMENTS: `${id}@${ttlMs}ms`,
  });
  if (!settings) throw new Error('the cell is configured wrongly');
  const timing = timingFor({ ttl: ttlMs, interval: 'auto' });
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
      exchange() {},
      removed() {},
      replaced() {},
      discovery() {},
      keyUnreadable() {},
      app() {},
    },
  });
  await using _heart = { [Symbol.asyncDispose]: () => heart.stop() };
  using _vendor = startVendorLoop({ url, apiKey: emulator.apiKey, deploymentId: id + VENDOR, ttlMs });
  const books = (which: number) => emulator.deployments.get(which);
  await until(() => books(id).beats > 0 && books(id + VENDOR).beats > 0);
  await wait(cell.offsetMs);

  const struckAt = performance.now();
  const heal = await strike(cell, proxy);
  await wait(cell.outageMs - (performance.now() - struckAt));
  await heal();
  const outage = { from: struckAt, to: performance.now() };
  await wait(cell.outageMs + ttlMs + 500 - (performance.now() - struckAt));
  const lapsed = books(id).expired;
  return {
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

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

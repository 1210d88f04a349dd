/**
 * `chaos` over real sockets and in real time: the real driver, client and transport, a way that breaks and a service
 * that fails, as a seed has it. Whoever expires must have had no window.
 */
import { createTransport } from '../../../src/client/transport/transport.ts';
import { createPartialClient } from '../../../src/client/caller.ts';
import { serverlessOperations } from '../../../src/contract/operations/serverless/serverless.ts';
import type { Emulator, FaultInput } from '../../../src/emulator/index.ts';
import { createBeatPort } from '../../../src/heartbeat/driver/beat.ts';
import { HeartbeatDriver } from '../../../src/heartbeat/driver/driver.ts';
import type { StepFunction } from '../../../src/heartbeat/engine/engine.ts';
import { timingFor } from '../../../src/heartbeat/engine/formulas.ts';
import { openWindow, watchLateness } from '../../support/real-time-window.ts';
import { Random } from '../random.ts';
import type { Span } from '../scenario.ts';
import { WAYS, wayOf, type Ground, type WayName } from './ways.ts';

export interface StormOptions {
  readonly emulator: Emulator;
  readonly ground: Ground;
  readonly seed: number;
  readonly ttlMs: number;
  readonly lengthMs: number;
  /** A broken engine in place of the real one. It is not excused by a machine that is late, which would hide it. */
  readonly broken?: StepFunction | undefined;
  /** The only way, and the only kinds of faults of it and of the service; default: as the seed has it. */
  readonly only?: Only | undefined;
}

export interface Only {
  readonly way: WayName;
  readonly faults: readonly string[];
}

export interface StormResult {
  readonly seed: number;
  readonly way: string;
  readonly faults: readonly string[];
  readonly beats: number;
  readonly lapsed: boolean;
  readonly window: Span | undefined;
  readonly mostOpen: number;
}

const SERVICE_FAULTS: readonly FaultInput[] = [
  { kind: 'status', status: 503 },
  { kind: 'status', status: 500, takesEffect: true },
  { kind: 'html' },
  { kind: 'empty', takesEffect: false },
  { kind: 'hang' },
  { kind: 'reset', takesEffect: true },
  { kind: 'truncated' },
  { kind: 'throttled', shape: 'text' },
  { kind: 'throttled', shape: 'detail', thresholdSeconds: 1 },
];
/** What a service that names a threshold asks for after it is well again, ms. */
const LONGEST_WAIT_MS = 1_100;

export async function storm({ emulator, ground, seed, ttlMs, lengthMs, broken, only }: StormOptions) {
  const random = new Random(seed);
  const name = any(random, [only?.way ?? wayOf(seed)]);
  await using way = await WAYS[name](ground, seed);
  const timing = timingFor({ ttl: ttlMs, interval: 'auto' });
  await using transport = createTransport(way.resolve);
  using lateness = watchLateness(timing.tick);
  const bad: Span[] = [];
  const sentAt = new Map<number, number>();
  let basis = performance.now();
  let mostOpen = 0;
  emulator.deployments.add({ id: seed, ttl: ttlMs / 1000 });
  const client = createPartialClient(
    { 'deployments.heartbeat': serverlessOperations['deployments.heartbeat'] },
    { transport, baseUrl: way.baseUrl, apiKey: emulator.apiKey },
  );
  const driver = new HeartbeatDriver({
    key: emulator.apiKey,
    ...(broken && { step: broken }),
    ports: {
      clock: { mono: () => performance.now(), wall: Date.now },
      random: () => random.next(),
      setTimer(ms, fn) {
        const timer = setTimeout(fn, ms);
        return () => clearTimeout(timer);
      },
      beat: createBeatPort(client),
      readKey: async () => emulator.apiKey,
      listener(_, notice) {
        mostOpen = Math.max(mostOpen, transport.open);
        if (notice.type === 'sent') sentAt.set(notice.attempt, performance.now());
        if (notice.type === 'accepted') basis = sentAt.get(notice.attempt) ?? basis;
      },
    },
  });
  driver.add({ id: seed, ttl: ttlMs, interval: 'auto' });

  const service = emulator.deployments;
  const faults: string[] = [];
  const endsAt = performance.now() + lengthMs;
  while (performance.now() < endsAt && !service.get(seed).expired) {
    await until(performance.now() + random.between(0.2, 3) * timing.rescue);
    const from = performance.now();
    const heal = await strike();
    // Begun before it was awaited, and whole until it has been ended.
    await until(from + faultLength(random, ttlMs));
    const wait = await heal();
    if (!way.isAlwaysOpen) bad.push({ from, to: performance.now() + wait });
  }
  // What lapses now was lost by what came before.
  await until(performance.now() + ttlMs);
  await driver.stop();
  const { expired: lapsed, beats } = service.get(seed);
  service.remove(seed);
  const excused = broken === undefined ? [...bad, ...lateness.spans] : bad;
  const window = lapsed ? openWindow(excused, basis, timing) : undefined;
  const result: StormResult = { seed, way: name, faults, beats, lapsed, window, mostOpen };
  return result;

  function isMet(kind: string): boolean {
    return only?.faults.includes(kind) ?? true;
  }

  /** Begins a fault; what ends it answers for how long the service still does not want to be reached, ms. */
  async function strike(): Promise<() => Promise<number>> {
    const ofService = way.isAlwaysOpen ? [] : SERVICE_FAULTS.filter(({ kind }) => isMet(kind));
    const ofWay = Object.entries(way.faults).filter(([kind]) => isMet(kind));
    if (ofWay.length === 0 || (ofService.length > 0 && random.chance(0.35))) {
      const fault = any(random, ofService);
      faults.push(fault.kind);
      const handle = await emulator.faults.add({ ...fault, id: seed } as FaultInput);
      return async () => {
        await handle.clear();
        return fault.kind === 'throttled' ? LONGEST_WAIT_MS : 0;
      };
    }
    const [kind, begin] = any(random, ofWay);
    faults.push(kind);
    await begin();
    return async () => {
      await way.heal();
      return 0;
    };
  }
}

function any<T>(random: Random, choices: readonly T[]): T {
  const choice = choices[Math.floor(random.next() * choices.length)];
  if (choice === undefined) throw new Error('nothing to choose from');
  return choice;
}

function faultLength(random: Random, ttlMs: number): number {
  return random.chance(0.6) ? random.between(0, 0.3 * ttlMs) : random.between(0.3 * ttlMs, 0.9 * ttlMs);
}

async function until(at: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - performance.now())));
}

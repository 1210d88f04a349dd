import type { Timing } from '../../src/heartbeat/engine/formulas.ts';
import type { AttemptOutcome } from '../../src/heartbeat/engine/state.ts';
import type { Random } from './random.ts';

/** What becomes of a request that meets a fault. Times are ms after it was sent. */
export interface Fate {
  readonly effectAfter?: number;
  readonly after?: number;
  readonly outcome?: AttemptOutcome;
  readonly connects?: boolean;
  readonly breaksSocket?: boolean;
}

interface Draw {
  readonly random: Random;
  readonly quick: number;
  readonly late: number;
  readonly timing: Timing;
  /** The longest Retry-After that the service may name. */
  readonly patience: number;
}

const FATES = {
  hang: () => ({ breaksSocket: true }),
  /** Packets are dropped, or TCP is taken and TLS never answered. */
  'hang-connecting': () => ({ connects: false }),
  refused: ({ quick }) => ({ after: quick, outcome: { type: 'failed', reason: 'connect' } }),
  /** Node's resolver gives up after 5 s where the name server is silent. */
  dns: ({ random, quick }) => ({
    after: random.chance(0.5) ? quick : 5000,
    outcome: { type: 'failed', reason: 'dns' },
  }),
  reset: ({ late }) => ({ after: late, outcome: { type: 'failed', reason: 'reset' } }),
  'lost-answer': ({ random, quick, late }) =>
    random.chance(0.5)
      ? { effectAfter: quick, breaksSocket: true }
      : { effectAfter: quick, after: late + quick, outcome: { type: 'failed', reason: 'reset' } },
  'server-error': ({ random, quick, late }) => ({
    after: random.chance(0.8) ? quick : late * 3,
    outcome: { type: 'failed', reason: 'server-error' },
  }),
  html: ({ quick }) => ({ after: quick, outcome: { type: 'failed', reason: 'unreadable' } }),
  /** A gateway that lost its route says it in its own words. */
  'gateway-404': ({ quick }) => ({ after: quick, outcome: { type: 'failed', reason: 'status' } }),
  'not-found': ({ quick }) => ({ after: quick, outcome: { type: 'not-found' } }),
  /** Slower than A; sometimes the engine waits for it all the same. */
  slow: ({ random, timing }) => {
    const after = random.between(timing.attemptTimeout, 60_000);
    return { effectAfter: after, after };
  },
  throttled: ({ random, quick, late }) => ({
    after: random.chance(0.8) ? quick : late,
    outcome: { type: 'throttled' },
  }),
  'throttled-threshold': ({ random, quick }) => ({
    after: quick,
    outcome: { type: 'throttled', thresholdMs: random.between(500, 5000) },
  }),
  'throttled-retry-after': ({ random, quick, patience }) => ({
    after: quick,
    outcome: { type: 'throttled', retryAfterMs: random.between(0, patience) },
  }),
  unauthorized: ({ random, quick, late }) => ({
    after: random.chance(0.8) ? quick : late,
    outcome: { type: 'unauthorized' },
  }),
} as const satisfies Record<string, (draw: Draw) => Fate>;

export type Fault = keyof typeof FATES;

/** All but these. A connection that is never made is none of them: it has a scenario of its own (crowds.ts). */
export function faultsBut(...others: readonly Fault[]): readonly [Fault, ...Fault[]] {
  const left = new Set<Fault>([...others, 'hang-connecting']);
  return (Object.keys(FATES) as Fault[]).filter((fault) => !left.has(fault)) as [Fault, ...Fault[]];
}

export function fateOf(fault: Fault, timing: Timing, patience: number, random: Random): Fate {
  const quick = random.between(1, 30);
  const late = random.between(1, timing.attemptTimeout);
  return FATES[fault]({ random, quick, late, timing, patience });
}

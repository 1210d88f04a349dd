/** Pacers with one mistake each. The simulation must notice every one. */

import type { Outcome } from '../../src/heartbeat/engine/outcome.ts';
import { Pacer, type Departure } from '../../src/heartbeat/driver/pacing/pacer.ts';

/** A suspicion rules at once, as the first pacer had it. */
class Rash extends Pacer {
  override get confirmed(): boolean {
    return this.gap > 0;
  }
}

/** Nothing ever speaks against a limit, and it is believed at first sight. */
class Stubborn extends Rash {
  override forget(): void {}
}

/** There is no limit. */
class Blind extends Pacer {
  override settled(): void {}
}

/** An attempt arrives when it leaves, whatever the network does to it. */
class Exact extends Pacer {
  override settled(departure: Departure, outcome: Outcome): void {
    super.settled(departure, outcome, departure.arrival.at);
  }
}

/** Whatever fails is the limit's doing. */
class Nervous extends Rash {
  override settled(departure: Departure, outcome: Outcome, mono: number): void {
    const failed = outcome.type === 'failed' || outcome.type === 'throttled';
    super.settled(departure, failed ? { type: 'throttled', thresholdMs: 3000 } : outcome, mono);
  }
}

export const BROKEN_PACERS = {
  'a suspicion rules': () => new Rash(),
  'contradictions are ignored': () => new Stubborn(),
  'there is no pacer': () => new Blind(),
  'no margin for the network': () => new Exact(),
  'every failure is a limit': () => new Nervous(),
} as const satisfies Record<string, () => Pacer>;

export type BrokenPacer = keyof typeof BROKEN_PACERS;

import { autoInterval, clockAllowance, MIN_SPACING, rescueTime, type TimingChoice } from './formulas.ts';

/** A combination of TTL and interval that the engine cannot keep its promise with. */
export interface TimingProblem {
  /** The value to change. */
  readonly change: 'ttl' | 'interval';
  /** What it is now, ms. */
  readonly got: number;
  /** It must be at least this, ms. */
  readonly atLeast?: number;
  /** It must be at most this, ms. */
  readonly atMost?: number;
  /** One sentence, without the name of the deployment or of the variable. */
  readonly message: string;
}

/**
 * Refuses I + X > T − ε: with such values one missed beat may already be the last, because no time is left in
 * which a recovering service is sure to be reached. Returns the value to change and its limit, or undefined.
 */
export function checkTiming(choice: TimingChoice): TimingProblem | undefined {
  const { ttl, interval } = choice;
  if (interval !== 'auto' && interval < MIN_SPACING) {
    return {
      change: 'interval',
      got: interval,
      atLeast: MIN_SPACING,
      message: `an interval of ${seconds(interval)} is below ${seconds(MIN_SPACING)}, the shortest time between two heartbeats`,
    };
  }
  if (ttl === undefined) return undefined;
  const chosen = interval === 'auto' ? autoInterval(ttl) : interval;
  if (leavesRoom(ttl, chosen)) return undefined;

  const longest = Math.floor(longestInterval(ttl));
  if (longest >= autoInterval(ttl)) {
    return {
      change: 'interval',
      got: chosen,
      atMost: longest,
      message: `an interval of ${seconds(chosen)} leaves no time to recover before a TTL of ${seconds(ttl)}: use auto, or at most ${seconds(longest)}`,
    };
  }
  const shortest = shortestTtl();
  return {
    change: 'ttl',
    got: ttl,
    atLeast: shortest,
    message: `a TTL of ${seconds(ttl)} is too short to survive one failed heartbeat: use at least ${seconds(shortest)}`,
  };
}

function longestInterval(ttl: number): number {
  return ttl - clockAllowance(ttl) - rescueTime(ttl);
}

function leavesRoom(ttl: number, interval: number): boolean {
  return interval <= longestInterval(ttl);
}

/** The shortest TTL that works with interval auto, to the next tenth of a second. */
function shortestTtl(): number {
  let ttl = 100;
  while (!leavesRoom(ttl, autoInterval(ttl))) ttl += 100;
  return ttl;
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

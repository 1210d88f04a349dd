/** How far one change may go: what bounds allow of what is one step away from today's set. Pure. */
import { ADVISED_PARAMETERS, type AdvisedParameter, type AdvisedSet } from '../advice/advice.ts';
import type { Bounds } from './bounds.ts';

/** "A step" is at most so many times more or less. */
export const STEP_FACTOR = 1.5;

/** What decides an end of a span: the bound that a person wrote, or the length of one step. */
export type Limit = 'bound' | 'step';

export interface Span {
  readonly least: number;
  readonly most: number;
  readonly leastBy: Limit;
  readonly mostBy: Limit;
}

/** By parameter, of those that bounds name; undefined: one step from today's value does not get inside its bounds. */
export type Reach = Readonly<Partial<Record<AdvisedParameter, Span | undefined>>>;

/**
 * Each parameter by a factor of 1.5 at most, or by one worker where that is more: without it 1 would never become 2, nor
 * 0 anything. What one worker is of a load is what one was measured to do.
 * @param workerPerformance Units/s; undefined while none was measured
 */
export function reachOf(
  today: Readonly<Record<string, number>> | AdvisedSet,
  bounds: Bounds,
  workerPerformance: number | undefined,
  factor = STEP_FACTOR,
): Reach {
  const reach: Partial<Record<AdvisedParameter, Span | undefined>> = {};
  for (const name of ADVISED_PARAMETERS) {
    const [bound, now] = [bounds[name], (today as Partial<AdvisedSet>)[name]];
    if (!bound || now === undefined) continue;
    const worker = ONE_WORKER[name](workerPerformance);
    const isWhole = name === 'cold_workers';
    const down = Math.min(now / factor, Math.max(0, now - worker));
    const up = Math.max(now * factor, now + worker);
    reach[name] = within(bound, isWhole ? Math.ceil(down) : down, isWhole ? Math.floor(up) : up);
  }
  return reach;
}

/** What one worker is of each parameter, in its unit; of a fraction it is nothing. */
const ONE_WORKER: Readonly<Record<AdvisedParameter, (performance: number | undefined) => number>> = {
  target_util: () => 0,
  cold_mult: () => 0,
  cold_workers: () => 1,
  min_load: (performance = 0) => performance,
  min_cold_load: (performance = 0) => performance,
};

function within(
  [boundLeast, boundMost]: readonly [number, number],
  down: number,
  up: number,
): Span | undefined {
  const span: Span = {
    least: Math.max(boundLeast, inThreeDigits(down, 'up')),
    most: Math.min(boundMost, inThreeDigits(up, 'down')),
    leastBy: boundLeast >= down ? 'bound' : 'step',
    mostBy: boundMost <= up ? 'bound' : 'step',
  };
  return span.least <= span.most ? span : undefined;
}

/** As people write them: what a step ends at is sent to the service, and read by people. */
function inThreeDigits(value: number, direction: 'up' | 'down'): number {
  if (value === 0) return 0;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  const steps = value / unit;
  const whole = direction === 'up' ? Math.ceil(steps - 1e-9) : Math.floor(steps + 1e-9);
  return Number((whole * unit).toPrecision(3));
}

/** Which parameters stand at an end of their span, and what that end is: there the computation did not decide alone. */
export function limitsOf(to: Readonly<Partial<Record<AdvisedParameter, number>>>, reach: Reach) {
  const limits: Partial<Record<AdvisedParameter, Limit>> = {};
  for (const name of ADVISED_PARAMETERS) {
    const [value, span] = [to[name], reach[name]];
    if (value === undefined || span === undefined) continue;
    if (isSame(value, span.least)) limits[name] = span.leastBy;
    else if (isSame(value, span.most)) limits[name] = span.mostBy;
  }
  return limits;
}

/** Numbers that went through JSON and a service: equal but for the last digits. */
export function isSame(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(one), Math.abs(other));
}

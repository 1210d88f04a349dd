/** The cheapest set that keeps the limit and is one step away, found by trying each parameter in turn. */
import {
  ADVISED_PARAMETERS,
  type AdvisedParameter,
  type AdvisedSet,
} from '../../../src/scaling/advice/advice.ts';
import { isSame, type Reach, type Span } from '../../../src/scaling/autotune/reach.ts';

/** What a set would do, in whatever world it is tried. */
export interface Outcome {
  readonly cost: number;
  readonly p99Seconds: number;
}

export interface StepSearch {
  readonly today: AdvisedSet;
  readonly reach: Reach;
  readonly limitSeconds: number;
  readonly evaluate: (set: AdvisedSet) => Outcome;
}

export interface Tried extends Outcome {
  readonly set: AdvisedSet;
}

/** In which direction each parameter costs less. */
const CHEAPER: Readonly<Record<AdvisedParameter, 'up' | 'down'>> = {
  target_util: 'up',
  cold_mult: 'down',
  cold_workers: 'down',
  min_load: 'down',
  min_cold_load: 'down',
};
/** Times that all parameters are gone through: the second finds what the first made possible. */
const ROUNDS = 2;

/** Yields each set that is tried, so that whoever drives it may pause. Returns today's where none is better. */
export function* searchStep(search: StepSearch): Generator<Tried, Tried> {
  const { today, reach, limitSeconds, evaluate } = search;
  const known = new Map<string, Tried>();
  function* tryOut(set: AdvisedSet): Generator<Tried, Tried> {
    const key = ADVISED_PARAMETERS.map((name) => set[name]).join(' ');
    const before = known.get(key);
    if (before) return before;
    const tried = { set, ...evaluate(set) };
    known.set(key, tried);
    yield tried;
    return tried;
  }
  const names = ADVISED_PARAMETERS.filter((name) => reach[name]);
  const first = yield* tryOut(today);
  // Where all of them may go the cheap way at once, nothing is cheaper.
  const cheapest = yield* tryOut({
    ...today,
    ...Object.fromEntries(names.map((name) => [name, cheapEnd(name, reach)])),
  });
  let best = better(first, cheapest, limitSeconds);
  if (best === cheapest) return best;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = best;
    for (const name of names) {
      for (const value of valuesOf(name, reach, best.set[name])) {
        best = better(best, yield* tryOut({ ...best.set, [name]: value }), limitSeconds);
      }
    }
    if (best === before) break;
  }
  return best;
}

/** A set that keeps the limit before one that does not; of two that keep it the cheaper, of two others the quicker. */
function better(one: Tried, other: Tried, limitSeconds: number): Tried {
  const [oneKeeps, otherKeeps] = [one.p99Seconds <= limitSeconds, other.p99Seconds <= limitSeconds];
  if (oneKeeps !== otherKeeps) return oneKeeps ? one : other;
  const isBetter = oneKeeps ? other.cost < one.cost : other.p99Seconds < one.p99Seconds;
  return isBetter ? other : one;
}

function cheapEnd(name: AdvisedParameter, reach: Reach): number {
  const span = reach[name];
  if (!span) throw new RangeError(`${name} is out of reach`);
  return CHEAPER[name] === 'up' ? inward(span.most, span, 'down') : inward(span.least, span, 'up');
}

/** As far as it goes the cheap way, half of that, and as far as it goes the other way, which may let others go cheaper. */
function valuesOf(name: AdvisedParameter, reach: Reach, now: number): number[] {
  const span = reach[name];
  if (!span) return [];
  const cheap = cheapEnd(name, reach);
  const dear = CHEAPER[name] === 'up' ? inward(span.least, span, 'up') : inward(span.most, span, 'down');
  const half =
    name === 'cold_workers' ? Math.round((cheap + now) / 2) : inward((cheap + now) / 2, span, 'up');
  return [...new Set([cheap, half, dear])].filter(
    (value) => value >= span.least && value <= span.most && !isSame(value, now),
  );
}

/** Three digits, as people write them, but never out of the span. */
function inward(value: number, span: Span, direction: 'up' | 'down'): number {
  if (value === 0) return 0;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  const steps = value / unit;
  const whole = direction === 'up' ? Math.ceil(steps - 1e-9) : Math.floor(steps + 1e-9);
  const round = Number((whole * unit).toPrecision(3));
  return round >= span.least && round <= span.most ? round : value;
}

/** Many steered worlds, one after the other, and what came of all. */
import { seedsOf } from '../prove.ts';
import { inWords, isForeseen, violations, worse } from './judge.ts';
import { steer, STEERING, type Steering } from './steered.ts';
import { worldOf, type Kind } from './world.ts';

/** How many there are: STEERING_WORLDS in the environment (`npm run test:long`), or four. */
export const WORLDS = Number(process.env['STEERING_WORLDS'] ?? 4);
/** The seeds of this part of them. */
export const [FIRST_SEED, LAST_SEED] = seedsOf(WORLDS);
export const MIDDLE_SEED = Math.floor((FIRST_SEED + LAST_SEED) / 2);
/** What a world may take on a busy machine, ms. */
export const PATIENCE_MS = 120_000 + WORLDS * 15_000;

export interface Tally {
  /** Rules that were broken. */
  readonly broken: readonly string[];
  /** Worlds that cost more or made wait longer than they may, where the load was foreseen, and where it was not. */
  readonly foreseen: { count: number; readonly worse: string[] };
  readonly unseen: { count: number; readonly worse: string[] };
  /** Cost of the steered week in the twin's, each. */
  readonly costs: readonly number[];
}

export async function tally(
  of: Iterable<number>,
  steering: Steering = STEERING,
  only?: Kind,
): Promise<Tally> {
  const broken: string[] = [];
  const costs: number[] = [];
  const foreseen = { count: 0, worse: [] as string[] };
  const unseen = { count: 0, worse: [] as string[] };
  for (const seed of of) {
    const world = worldOf(seed, only);
    if (!world) continue;
    const steered = await steer(world, steering);
    const story = inWords(steered);
    broken.push(...violations(steered).map((what) => `${what} -- ${story}`));
    const kind = isForeseen(steered) ? foreseen : unseen;
    kind.count += 1;
    const causes = worse(steered);
    if (causes.length > 0) kind.worse.push(`${causes.join(', ')} -- ${story}`);
    costs.push(steered.week.steered.cost / steered.week.twin.cost);
  }
  return { broken, foreseen, unseen, costs };
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Seeds from one to the other, both included. */
export function seeds(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

/** Seeded random numbers for the planner: the same seed gives the same plan, byte for byte. */

export type Random = () => number;

/**
 * sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, uniform in [0, 1) in steps of 2^-32. The first
 * numbers are thrown away so that neighbouring seeds have nothing in common.
 */
export function createRandom(seed: number): Random {
  return randomFrom(seededState(seed));
}

/** Four words: whoever keeps them can go on where another left off. */
export type RandomState = Int32Array<ArrayBuffer>;

export function seededState(seed: number): RandomState {
  const state = Int32Array.of(seed | 0, Math.floor(seed / 2 ** 32) | 0, 0x9e3779b9 | 0, 1);
  const next = randomFrom(state);
  for (let round = 0; round < 16; round += 1) next();
  return state;
}

/** Numbers from that state on; each moves it. */
export function randomFrom(state: RandomState): Random {
  return function next(): number {
    const [a, b, c, counter] = [
      state[0] as number,
      state[1] as number,
      state[2] as number,
      state[3] as number,
    ];
    const sum = (a + b + counter) | 0;
    state[3] = counter + 1;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
}

/** An exponentially distributed number with the given mean. */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random());
}

/** Seeded random numbers: the same seed gives the same plan and the same emulator, byte for byte. */

export type Random = () => number;

/** sfc32 (PractRand), uniform in [0, 1). The first numbers are dropped: neighbouring seeds share them. */
export function createRandom(seed: number): Random {
  let [a, b, c, counter] = [seed | 0, Math.floor(seed / 2 ** 32) | 0, 0x9e3779b9 | 0, 1];
  function next(): number {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }
  for (let round = 0; round < 16; round += 1) next();
  return next;
}

/** Log-normal, with a standard deviation of three times the mean. */
export function heavyTailed(random: Random, mean: number): number {
  const sigma = Math.sqrt(Math.log(1 + 3 ** 2));
  // Box, Muller 1958.
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return mean * Math.exp(sigma * normal - sigma ** 2 / 2);
}

export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random());
}

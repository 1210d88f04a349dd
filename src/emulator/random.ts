import type { Random } from '../scaling/planner/load.ts';

export { createRandom, type Random } from '../scaling/planner/load.ts';

/** Neighbouring pairs give unrelated seeds. */
export function mixSeeds(first: number, second: number): number {
  let mixed = Math.imul(first ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(second + 0x7f4a7c15, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

export function randomBytes(random: Random, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)));
}

export function randomHex(random: Random, bytes: number): string {
  return randomBytes(random, bytes).toString('hex');
}

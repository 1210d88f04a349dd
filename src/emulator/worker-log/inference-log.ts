/**
 * What an inference server writes: start-up with progress bars, requests, idle and busy statistics, warnings,
 * tracebacks, and many lines that repeat word for word. A pure function of (seed, index): line 1,000,000 of a
 * log can be asked for without the lines before it, so a log grows by looking at the clock.
 */
import { createRandom, mixSeeds, type Random } from '../random.ts';
import { SCENES, startup } from './scenes.ts';

/** Stands in a line for the time at which it is written, which the log knows and the scenes do not. */
export const TIME_MARK = '\u0001';

/** Lines are made by the block, since a scene spans several: the last scene of a block may be cut short. */
const BLOCK = 64;
/** Blocks kept ready: more than the longest tail needs. */
const CACHED_BLOCKS = 512;

export interface InferenceLog {
  /** Line `index` (from 0) of the log of that seed, with TIME_MARK where its time belongs. */
  line(seed: number, index: number): string;
}

export function createInferenceLog(): InferenceLog {
  const blocks = new Map<string, readonly string[]>();
  return {
    line(seed, index) {
      const number = Math.floor(index / BLOCK);
      const name = `${seed}:${number}`;
      let block = blocks.get(name);
      if (!block) {
        block = makeBlock(seed, number);
        blocks.set(name, block);
        for (const oldest of blocks.keys()) {
          if (blocks.size <= CACHED_BLOCKS) break;
          blocks.delete(oldest);
        }
      }
      return block[index % BLOCK] ?? '';
    },
  };
}

function makeBlock(seed: number, number: number): string[] {
  const random = createRandom(mixSeeds(seed, number));
  const lines: string[] = number === 0 ? startup(random) : [];
  while (lines.length < BLOCK) lines.push(...pickScene(random)(random));
  return lines.slice(0, BLOCK);
}

const TOTAL_WEIGHT = SCENES.reduce((sum, { weight }) => sum + weight, 0);

function pickScene(random: Random): (random: Random) => string[] {
  let left = random() * TOTAL_WEIGHT;
  for (const { weight, scene } of SCENES) {
    left -= weight;
    if (left < 0) return scene;
  }
  return startup;
}

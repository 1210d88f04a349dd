/**
 * What an inference server writes: start-up with progress bars, requests, idle and busy statistics, warnings,
 * tracebacks, and many lines that repeat word for word. A pure function of (seed, index): line 1,000,000 of a
 * log can be asked for without the lines before it, so a log grows by looking at the clock.
 */
import { createRandom, mixSeeds, type Random } from '../random.ts';
import type { Scenery } from '../state/endpoints/worker-groups.ts';
import { SCENERIES, startup, type Scene } from './scenes.ts';

/** Stands in a line for the time at which it is written, which the log knows and the scenes do not. */
export const TIME_MARK = '\u0001';

/** Lines are made by the block, since a scene spans several: the last scene of a block may be cut short. */
const BLOCK = 64;
/** Blocks kept ready: more than the longest tail needs. */
const CACHED_BLOCKS = 512;

export interface InferenceLog {
  /** Line `index` (from 0) of the log of that seed, with TIME_MARK where its time belongs. */
  line(seed: number, index: number, scenes?: Scenery): string;
}

export function createInferenceLog(): InferenceLog {
  const blocks = new Map<string, readonly string[]>();
  return {
    line(seed, index, scenes = 'all') {
      const number = Math.floor(index / BLOCK);
      const name = `${seed}:${number}:${scenes}`;
      let block = blocks.get(name);
      if (!block) {
        block = makeBlock(seed, number, scenes);
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

function makeBlock(seed: number, number: number, scenes: Scenery): string[] {
  const random = createRandom(mixSeeds(seed, number));
  // Where an engine starts workers, their starts are written when they happen.
  const lines: string[] = number === 0 && scenes === 'all' ? startup(random) : [];
  while (lines.length < BLOCK) lines.push(...pickScene(SCENERIES[scenes], random)(random));
  return lines.slice(0, BLOCK);
}

function pickScene(scenes: readonly Scene[], random: Random): Scene['scene'] {
  let left = random() * scenes.reduce((sum, { weight }) => sum + weight, 0);
  for (const { weight, scene } of scenes) {
    left -= weight;
    if (left < 0) return scene;
  }
  return startup;
}

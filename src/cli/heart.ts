import { createRequire } from 'node:module';
import type * as Heart from '../heartbeat/process/main.ts';

/** The heart is a bundle of its own (.config/build.ts): `import` with a literal path would take it into this one. */
const ENTRY = import.meta.url.endsWith('.ts') ? '../heartbeat/process/main.ts' : './heart.cjs';

/**
 * Resolves when the heart has ended with nothing to beat with; otherwise it ends the process. Required, for `import`
 * would first look through a file of CommonJS for what it exports: 1 MB of memory that stays.
 */
export async function runHeart(): Promise<void> {
  const heart = createRequire(import.meta.url)(ENTRY) as typeof Heart;
  await heart.runHeart();
}

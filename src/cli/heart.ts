import { createRequire, enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import type * as Heart from '../heartbeat/process/main.ts';

/** The heart is a bundle of its own (.config/build.ts): `import` with a literal path would take it into this one. */
const IS_BUNDLE = !import.meta.url.endsWith('.ts');
const ENTRY = IS_BUNDLE ? './heart.cjs' : '../heartbeat/process/main.ts';

/**
 * Resolves when the heart has ended with nothing to beat with; otherwise it ends the process. Required, for `import`
 * would first look through a file of CommonJS for what it exports: 1 MB of memory that stays.
 */
export async function runHeart(): Promise<void> {
  // What V8 has compiled stays beside the bundle for the next start, which is a tenth sooner; where the folder may not be
  // written to, nothing does. Who may write there may change the bundle itself.
  if (IS_BUNDLE) enableCompileCache(fileURLToPath(new URL('.compile-cache', import.meta.url)));
  const heart = createRequire(import.meta.url)(ENTRY) as typeof Heart;
  await heart.runHeart(async () => {
    const { loadConfig } = await import('../config/load.ts');
    return loadConfig().problems;
  });
}

import { createRequire, enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import type * as Heart from '../heartbeat/process/main.ts';

/** The heart is a bundle of its own (.config/build.ts): a literal path in `import` would include it here. */
const IS_BUNDLE = !import.meta.url.endsWith('.ts');
const ENTRY = IS_BUNDLE ? './heart.cjs' : '../heartbeat/process/main.ts';

/** Required: `import` would first scan the file for its exports, and keep 1 MB of memory. */
export async function runHeart(): Promise<void> {
  // V8's compiled code stays beside the bundle, so that the next start is a tenth sooner.
  if (IS_BUNDLE) enableCompileCache(fileURLToPath(new URL('.compile-cache', import.meta.url)));
  const heart = createRequire(import.meta.url)(ENTRY) as typeof Heart;
  await heart.runHeart(async () => {
    const { loadConfig } = await import('../config/load.ts');
    return loadConfig().problems;
  });
}

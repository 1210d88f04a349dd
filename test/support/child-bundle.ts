/** Bundles a child process into one file: reading sources would take most of each short life. */
import { buildSync } from 'esbuild';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './temporary-folder.ts';

export function childBundle(source: URL): Disposable & { readonly path: string } {
  const folder = temporaryFolder();
  const path = join(folder.path, 'child.mjs');
  buildSync({
    entryPoints: [fileURLToPath(source)],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22.19',
    // As in .config/build.ts: what undici asks for, and what CommonJS packages call.
    define: { esbuildDetection: 'true' },
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
  });
  return { path, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

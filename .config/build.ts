/**
 * Bundles the program and the library into dist/: their entries, one for the thread of the heartbeats, and a
 * chunk for each part that a run may not need (emulator, pretty printer, …), loaded when it does. Their types
 * are another step, build-types.ts, which an image need not take. Everything lies flat in dist/, so that a file
 * looked up beside
 * `import.meta.url` is found from whichever chunk asks.
 */
import { build } from 'esbuild';
import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const out = join(root, 'dist');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

rmSync(out, { recursive: true, force: true });
const result = await build({
  entryPoints: {
    pilotlight: join(root, 'src/cli/main.ts'),
    index: join(root, 'src/index.ts'),
    emulator: join(root, 'src/emulator/index.ts'),
    'heartbeat-worker': join(root, 'src/heartbeat/isolation/worker.ts'),
  },
  outdir: out,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  chunkNames: '[name]-[hash]',
  minifySyntax: true,
  minifyWhitespace: true,
  keepNames: true,
  legalComments: 'none',
  metafile: true,
  define: {
    PILOTLIGHT_VERSION: JSON.stringify(version),
    PILOTLIGHT_REVISION: JSON.stringify(process.env['REVISION'] ?? 'unknown'),
  },
  // CommonJS packages in an ES module bundle still call require for Node's own modules.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});

for (const folder of ['src/daemon/status-page', 'src/emulator/docs']) {
  const page = join(root, folder);
  for (const name of readdirSync(page))
    if (!name.endsWith('.ts')) copyFileSync(join(page, name), join(out, name));
}

const bytes = Object.values(result.metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
process.stdout.write(
  `dist/: ${Object.keys(result.metafile.outputs).length} files, ${(bytes / 1024).toFixed(0)} KiB\n`,
);

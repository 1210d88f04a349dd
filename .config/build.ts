/**
 * Bundles the program and the library into dist/, or into the folder that is named: their entries, one for the thread
 * of the heartbeats, and a chunk for each part that a run may not need (emulator, pretty printer, …), loaded when it
 * does. Their types are another step, build-types.ts, which an image need not take. Everything lies flat in it, so
 * that a file looked up beside `import.meta.url` is found from whichever chunk asks.
 */
import { build } from 'esbuild';
import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const out = process.argv[2] ?? join(root, 'dist');
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

// What is read as a file: the status page, the emulator's documentation, and the parts of a plan's page.
for (const folder of ['src/daemon/status-page', 'src/emulator/docs', 'src/cli/plan/report']) {
  for (const name of readdirSync(join(root, folder)))
    if (!name.endsWith('.ts')) copyFileSync(join(root, folder, name), join(out, name));
}
for (const name of ['uPlot.iife.min.js', 'uPlot.min.css'])
  copyFileSync(join(root, 'node_modules/uplot/dist', name), join(out, name));

const bytes = Object.values(result.metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
process.stdout.write(
  `${out}: ${Object.keys(result.metafile.outputs).length} files, ${(bytes / 1024).toFixed(0)} KiB\n`,
);

/**
 * Bundles the program and the library into dist/, or into the folder that is named: their entries, one for the thread
 * of the heartbeats, and a chunk for each part that a run may not need (emulator, pretty printer, …), loaded when it
 * does. Their types are another step, build-types.ts, which an image need not take. Everything lies flat in it, so
 * that a file looked up beside `import.meta.url` is found from whichever chunk asks.
 *
 * Three bundles that share no chunks: what a process loads is in few files then, and each file costs its start a
 * millisecond or two. The daemon is in the first; the other commands and the library are in the second.
 */
import { build, type Plugin } from 'esbuild';
import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const out = process.argv[2] ?? join(root, 'dist');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

rmSync(out, { recursive: true, force: true });

/** The command line is in another bundle than the entry that may need it. */
const commandLineApart: Plugin = {
  name: 'command line apart',
  setup(plugins) {
    plugins.onResolve({ filter: /\/program\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './program.js', external: true } : undefined,
    );
  },
};

/**
 * Node's own modules are required, not imported. To import one reads all its exports, and some are getters that load
 * more: WebSocket of node:http Node's own copy of undici, webcrypto of node:crypto all its algorithms. That is
 * 14 MB and 16 ms for each thread.
 */
const nodeRequired: Plugin = {
  name: 'node modules are required',
  setup(plugins) {
    plugins.onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'import-statement' && isBuiltin(path) ? { path, namespace: 'required' } : undefined,
    );
    plugins.onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

/** Every agent here has HTTP/2 switched off (see transport.ts): its code is left out, and node:http2 with node:tls. */
const withoutHttp2: Plugin = {
  name: 'no HTTP/2',
  setup(plugins) {
    plugins.onLoad({ filter: /\/undici\/lib\/dispatcher\/client-h2\.js$/ }, () => ({ contents: '' }));
  },
};

const BUNDLES: readonly Record<string, string>[] = [
  { pilotlight: 'src/cli/main.ts' },
  { program: 'src/cli/program.ts', index: 'src/index.ts', emulator: 'src/emulator/index.ts' },
  { 'heartbeat-worker': 'src/heartbeat/isolation/worker.ts' },
];
const outputs = await Promise.all(BUNDLES.map(async (entries) => (await bundle(entries)).metafile.outputs));

function bundle(entryPoints: Record<string, string>) {
  return build({
    absWorkingDir: root,
    entryPoints,
    plugins: [commandLineApart, nodeRequired, withoutHttp2],
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
}

// What is read as a file: the status page, the emulator's documentation, and the parts of a plan's page.
for (const folder of ['src/daemon/status-page', 'src/emulator/docs', 'src/cli/plan/report']) {
  for (const name of readdirSync(join(root, folder)))
    if (!name.endsWith('.ts')) copyFileSync(join(root, folder, name), join(out, name));
}
for (const name of ['uPlot.iife.min.js', 'uPlot.min.css'])
  copyFileSync(join(root, 'node_modules/uplot/dist', name), join(out, name));

const files = outputs.flatMap((bundled) => Object.values(bundled));
const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
process.stdout.write(`${out}: ${files.length} files, ${(bytes / 1024).toFixed(0)} KiB\n`);

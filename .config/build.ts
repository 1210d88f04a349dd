/**
 * Bundles the program and the library into dist/, or into the folder that is named. Their types are another step,
 * build-types.ts, which an image need not take. Everything lies flat in it, so that a file looked up beside
 * `import.meta.url` is found from whichever chunk asks. LICENSES.txt has the licences of the packages that are in it.
 *
 * The heart is one file of CommonJS; everything else is ES modules, with a chunk for each part that a run may not need
 * (emulator, pretty printer, …), loaded when it does. An ES module that imports one of Node's own reads all that it
 * exports, used or not, and each file is looked up and linked: the heart's first heartbeat would leave 30 ms later. And
 * once it has started it needs no file any more, which may be replaced by then.
 */
import { build, transformSync, type BuildOptions, type Metafile } from 'esbuild';
import { copyFileSync, cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { licences } from './licences.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = process.argv[2] ?? join(root, 'dist');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

const DEFINITIONS = {
  // undici asks for it: without its second, experimental HTTP parser, 170 KiB that each start would read.
  esbuildDetection: 'true',
  PILOTLIGHT_VERSION: JSON.stringify(version),
  PILOTLIGHT_REVISION: JSON.stringify(process.env['REVISION'] ?? 'unknown'),
};

/**
 * One file, as src/cli/heart.ts loads it. To keep a function's name where it has to be changed, esbuild writes it down
 * for every function at the start: half a megabyte of the heart. Only a class that shares its name with another needs it.
 */
const HEART: BuildOptions = {
  entryPoints: { heart: 'src/heartbeat/process/main.ts' },
  format: 'cjs',
  keepNames: false,
  minifyWhitespace: true,
  outExtension: { '.js': '.cjs' },
  // CommonJS has no import.meta.
  banner: { js: "const __moduleUrl=require('node:url').pathToFileURL(__filename).href;" },
  // undici loads it although HTTP/2 is off here, and does without where a Node is built without it (its client-h2.js).
  alias: { 'node:http2': join(root, '.config/no-http2.cjs') },
  define: { ...DEFINITIONS, 'import.meta.url': '__moduleUrl' },
};

const MODULES: BuildOptions = {
  entryPoints: {
    pilotlight: 'src/cli/main.ts',
    daemon: 'src/daemon/process/main.ts',
    index: 'src/index.ts',
    emulator: 'src/emulator/index.ts',
    'trial-thread': 'src/scaling/parallel/trial-thread.ts',
  },
  format: 'esm',
  splitting: true,
  // Packages share names, and an error's name is what a user reads.
  keepNames: true,
  chunkNames: '[name]-[hash]',
  // CommonJS packages in a bundle of ES modules call require for Node's own modules.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
  define: DEFINITIONS,
};

rmSync(out, { recursive: true, force: true });
const metafiles = await Promise.all([bundle(HEART), bundle(MODULES)]);
for (const { outputs } of metafiles) minifyBesideLibrary(outputs);

async function bundle(options: BuildOptions) {
  const { metafile } = await build({
    ...options,
    absWorkingDir: root,
    outdir: out,
    bundle: true,
    platform: 'node',
    target: 'node22.19',
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  return metafile;
}

/**
 * The library keeps its lines, because an uncaught error shows its line. All other code is minified, because white space
 * costs the daemon memory.
 */
function minifyBesideLibrary(outputs: Metafile['outputs']): void {
  const library = new Set<string>();
  const waiting = Object.keys(outputs).filter((name) => /^(?:index|emulator)\.js$/.test(basename(name)));
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (library.has(name)) continue;
    library.add(name);
    for (const { path, external } of outputs[name]?.imports ?? []) if (!external) waiting.push(path);
  }
  for (const name of Object.keys(outputs).filter((each) => each.endsWith('.js') && !library.has(each))) {
    const file = join(root, name);
    const { code } = transformSync(readFileSync(file, 'utf8'), {
      minifyWhitespace: true,
      legalComments: 'none',
    });
    writeFileSync(file, code);
  }
}

// Files that are read as they are: the status page, the parts of the page of a plan, and the emulator's Swagger UI.
const READ = ['src/daemon/status/page', 'src/cli/plan/report'];
for (const folder of READ) {
  cpSync(join(root, folder), out, { recursive: true, filter: (name) => !name.endsWith('.ts') });
}
for (const name of ['uPlot.iife.min.js', 'uPlot.min.css'])
  copyFileSync(join(root, 'node_modules/uplot/dist', name), join(out, name));
// All of Swagger UI but a second copy of its code.
cpSync(join(root, 'node_modules/@fastify/swagger-ui/static'), join(out, 'swagger-ui'), {
  recursive: true,
  filter: (name) => !name.endsWith('/swagger-ui.js'),
});

// uPlot comes as a file; it is in no bundle.
const inputs = ['node_modules/uplot/', ...metafiles.flatMap((metafile) => Object.keys(metafile.inputs))];
const swaggerUi = 'Swagger UI, in swagger-ui/ (Apache-2.0)\n\nCopyright 2020-2021 SmartBear Software Inc.\n';
const apache = readFileSync(join(root, 'LICENSE'), 'utf8');
const texts = [licences(root, inputs), `${swaggerUi}\n${apache}`];
writeFileSync(join(out, 'LICENSES.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`));

const files = metafiles.flatMap((metafile) => Object.keys(metafile.outputs));
const bytes = files.reduce((sum, file) => sum + statSync(join(root, file)).size, 0);
process.stdout.write(`${out}: ${files.length} files, ${(bytes / 1024).toFixed(0)} KiB\n`);

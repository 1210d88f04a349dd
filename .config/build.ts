/**
 * Bundles the program and the library into dist/, or into the folder that is named: their entries, one for the process
 * of the daemon, and a chunk for each part that a run may not need (emulator, pretty printer, …), loaded when it does.
 * Their types are another step, build-types.ts, which an image need not take. Everything lies flat in it, so that a
 * file looked up beside `import.meta.url` is found from whichever chunk asks. LICENSES.txt has the licences of the
 * packages that are in it.
 *
 * Two bundles that share no chunks: what a process loads is in few files then, and each file costs its start a
 * millisecond or two. The daemon is in the first; the other commands and the library are in the second.
 */
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { licences } from './licences.ts';

const root = new URL('..', import.meta.url).pathname;
const out = process.argv[2] ?? join(root, 'dist');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

const requireHere = createRequire(import.meta.url) as (path: string) => object;
/** Not what nobody here uses, and `import * as crypto` of a library would read with all the others. */
const IDENTIFIER = /^(?!default$|fips$|webcrypto$|subtle$)[A-Za-z_$][\w$]*$/;

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

/** These take 4 ms to load, and of them only functions are used, none of them by the first heartbeat. */
const LATE = new Set(['crypto', 'node:crypto', 'child_process', 'node:child_process']);

/**
 * Node's own modules are required, not imported, and of each only the names that are used are read. To import one, or
 * to copy its properties, reads all of them, and some load more: WebSocket of node:http Node's own copy of undici,
 * webcrypto of node:crypto all its algorithms, diff of node:util the streams of stderr. That is 14 MB and 20 ms for
 * each process. Some are required only by the call of one of their functions.
 */
const nodeRequired: Plugin = {
  name: 'node modules are required',
  setup(plugins) {
    plugins.onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'import-statement' && isBuiltin(path) ? { path, namespace: 'required' } : undefined,
    );
    plugins.onLoad({ filter: /./, namespace: 'required' }, ({ path }) => {
      const module = `require(${JSON.stringify(path)})`;
      const names = Object.getOwnPropertyNames(requireHere(path)).filter((name) => IDENTIFIER.test(name));
      if (LATE.has(path)) {
        // Functions only: whoever needs more finds no such export, at the build.
        const functions = names.filter((name) => /^[a-z]/.test(name));
        const exports = functions.map(
          (name) => `export const ${name} = (...given) => ${module}.${name}(...given);`,
        );
        return { contents: `${exports.join('\n')}\nexport default { ${functions.join(', ')} };` };
      }
      const exports = names.map((name) => `export const ${name} = /* @__PURE__ */ (() => node.${name})();`);
      return { contents: `const node = ${module};\nexport default node;\n${exports.join('\n')}` };
    });
  },
};

/**
 * Parts of undici that nobody here comes to, 20 KB to 100 KB each: every agent has HTTP/2 switched off (transport.ts),
 * and bodies are text or bytes, never those of fetch.
 */
const UNUSED = /\/undici\/lib\/(dispatcher\/client-h2|web\/fetch\/(body|formdata)|web\/webidl\/index)\.js$/;
const withoutUnused: Plugin = {
  name: 'unused parts of undici',
  setup(plugins) {
    plugins.onLoad({ filter: UNUSED }, () => ({ contents: '' }));
  },
};

/** node-cron asks Intl for the time of day, which takes the daemon 6 MB at rest; see there. */
const LOCAL_INTL = 'src/watch/local-intl.ts';
const withLocalIntl: Plugin = {
  name: 'local Intl for node-cron',
  setup(plugins) {
    plugins.onLoad({ filter: /\/node-cron\/dist\/_shared\.js$/ }, ({ path }) => ({
      contents: `import { Intl } from ${JSON.stringify(join(root, LOCAL_INTL))};\n${readFileSync(path, 'utf8')}`,
    }));
  },
};

/** ES modules with chunks; a path beside `import.meta.url` is in the folder. */
const MODULES: BuildOptions = {
  format: 'esm',
  splitting: true,
  chunkNames: '[name]-[hash]',
  // CommonJS packages in an ES module bundle still call require for Node's own modules.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
};

const metafiles = await Promise.all([
  bundle({ pilotlight: 'src/cli/main.ts', daemon: 'src/daemon/process/main.ts' }),
  bundle({ program: 'src/cli/program.ts', index: 'src/index.ts', emulator: 'src/emulator/index.ts' }),
]);

async function bundle(entryPoints: Record<string, string>) {
  const { metafile } = await build({
    ...MODULES,
    absWorkingDir: root,
    entryPoints,
    plugins: [commandLineApart, nodeRequired, withoutUnused, withLocalIntl],
    outdir: out,
    bundle: true,
    platform: 'node',
    target: 'node22.19',
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    legalComments: 'none',
    metafile: true,
    define: {
      PILOTLIGHT_VERSION: JSON.stringify(version),
      PILOTLIGHT_REVISION: JSON.stringify(process.env['REVISION'] ?? 'unknown'),
      // undici leaves its second HTTP parser, an experiment that must be asked for, out of a bundle that says this.
      esbuildDetection: 'true',
    },
    logLevel: 'warning',
  });
  return metafile;
}

// What is read as a file: the status page, the emulator's documentation, and the parts of a plan's page.
for (const folder of ['src/daemon/status/page', 'src/emulator/docs', 'src/cli/plan/report']) {
  for (const name of readdirSync(join(root, folder)))
    if (!name.endsWith('.ts')) copyFileSync(join(root, folder, name), join(out, name));
}
for (const name of ['uPlot.iife.min.js', 'uPlot.min.css'])
  copyFileSync(join(root, 'node_modules/uplot/dist', name), join(out, name));

if (!metafiles[0].inputs[LOCAL_INTL])
  throw new Error('node-cron keeps its time in another file; mend build.ts');

// uPlot comes as a file; it is in no bundle.
const inputs = ['node_modules/uplot/', ...metafiles.flatMap((metafile) => Object.keys(metafile.inputs))];
writeFileSync(join(out, 'LICENSES.txt'), licences(root, inputs));

const files = metafiles.flatMap((metafile) => Object.values(metafile.outputs));
const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
process.stdout.write(`${out}: ${files.length} files, ${(bytes / 1024).toFixed(0)} KiB\n`);

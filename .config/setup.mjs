// Runs before `npm run demo`, `npm start` and `npm test`, on whatever Node the machine has: installs the
// locked dependencies where they are missing or others than the lockfile names. The npm package `node` among them
// brings Node 24, which npm puts first on the PATH of every script, so an older Node on the machine is fine.
// Plain JavaScript without imports beyond old Node modules: it must run where nothing else does yet.
//
// `npm ci` removes node_modules before it fills it again. Where that is interrupted, or the network fails, npm's own
// record of what is installed is missing, for it is written last: the next run starts over.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'node_modules');
/** npm's record of what is installed. */
const record = join(folder, '.package-lock.json');

function isInstalled() {
  const installed = recorded();
  return installed !== undefined && holdsAll(installed) && nodeRuns();
}

/** What npm recorded; undefined where there is no record, or one that a full disk or a crash has cut off. */
function recorded() {
  try {
    return packagesOf(record);
  } catch {
    return undefined;
  }
}

/** Whether each package of the lockfile is installed, except those for other platforms, which are optional. */
function holdsAll(installed) {
  return Object.entries(packagesOf(join(root, 'package-lock.json')))
    .filter(([path]) => path !== '')
    .every(([path, { integrity, optional }]) =>
      installed[path] ? installed[path].integrity === integrity : optional,
    );
}

function packagesOf(lockfile) {
  return Object.fromEntries(Object.entries(JSON.parse(readFileSync(lockfile, 'utf8')).packages));
}

function nodeRuns() {
  const binary = join(folder, '.bin', 'node');
  return existsSync(binary) && spawnSync(binary, ['--version']).status === 0;
}

function fail(message) {
  process.stderr.write(`pilotlight: ${message}\n`);
  process.exit(1);
}

if (!isInstalled()) {
  // What is behind the link is somebody else's, and `npm ci` would remove it.
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink())
    fail(
      'node_modules is a link to packages that are not those of package-lock.json; run `npm ci` where it leads.',
    );
  process.stderr.write('pilotlight: installing dependencies (once, about half a minute) …\n');
  // First of all, so that an interrupted removal is not taken for a complete installation.
  rmSync(record, { force: true });
  // The Node and the npm that run this script, where npm does; a bare `npm` may be another one, or missing. Not this
  // process' own Node, which may be the one in node_modules.
  const { npm_execpath: npm, npm_node_execpath: node = process.execPath } = process.env;
  const [command, args] = npm ? [node, [npm]] : ['npm', []];
  const install = [...args, 'ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const result = spawnSync(command, install, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  if (result.status !== 0)
    fail('npm ci failed (see above). A network or registry problem? Try `npm ci` by hand.');
  if (!nodeRuns()) {
    fail(
      'the npm package `node` did not install its binary. Install scripts may be switched off\n' +
        '(npm config get ignore-scripts); or use a Node >= 22.19 of your own.',
    );
  }
}

// Runs before `npm run demo`, `npm start` and `npm test`, on whatever Node the machine has: installs the
// locked dependencies when they are missing or older than the lockfile. The npm package `node` among them
// brings Node 24, which npm puts first on the PATH of every script, so an older Node on the machine is fine.
// Plain JavaScript without imports beyond old Node modules: it must run where nothing else does yet.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lockfile = readFileSync(join(root, 'package-lock.json'));
const wanted = createHash('sha256').update(lockfile).digest('hex');
const stampFile = join(root, 'node_modules', '.pilotlight-setup');

function isInstalled() {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted && nodeRuns();
}

function nodeRuns() {
  const binary = join(root, 'node_modules', '.bin', 'node');
  return existsSync(binary) && spawnSync(binary, ['--version']).status === 0;
}

if (!isInstalled()) {
  process.stderr.write('pilotlight: installing dependencies (once, about half a minute) …\n');
  rmSync(stampFile, { force: true });
  // npm_execpath is the npm that runs this script; a bare `npm` may be another one, or missing.
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
  // Not `npm ci`: it refuses a lockfile that lacks a platform's optional binaries, which the registry that the
  // lockfile was made with may not have. This takes the locked versions all the same, and writes nothing.
  const install = [...args, 'install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const result = spawnSync(command, install, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  if (result.status !== 0) {
    process.stderr.write(
      'pilotlight: npm install failed (see above). A network or registry problem? Try `npm install` by hand.\n',
    );
    process.exit(1);
  }
  if (!nodeRuns()) {
    process.stderr.write(
      'pilotlight: the npm package `node` did not install its binary. Install scripts may be switched off\n' +
        '(npm config get ignore-scripts); or use a Node >= 22.19 of your own.\n',
    );
    process.exit(1);
  }
  writeFileSync(stampFile, wanted);
}

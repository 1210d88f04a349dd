#!/usr/bin/env node
/**
 * The program of a clone, on whatever Node the machine has: installs what is missing, and runs on the Node 24 that is
 * installed with it. Plain JavaScript, as an older Node cannot read the sources.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import '../../.config/setup.mjs';

const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url));
const main = fileURLToPath(new URL('main.ts', import.meta.url));
const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) {
  // A terminal sends these two to both.
  const isSentToBoth = hasTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT');
  process.on(signal, () => isSentToBoth || child.kill(signal));
}
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

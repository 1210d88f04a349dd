/**
 * What else could send the heartbeat: the vendor's loop in Python, curl in a shell loop, and a daemon that one writes in
 * an afternoon. Each sends one a second. A peer whose parts are missing is left out. Run: node test/bench/peers.ts [seconds]
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { build } from 'esbuild';
import { hasCommand, root } from '../support/optional.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { deploymentsOf } from './books.ts';
import { ensure } from './figures.ts';
import { reportPeer } from './results.ts';
import {
  copyProgram,
  measured,
  secondsArgument,
  spawnProgram,
  startEmulatorProcess,
  type EmulatorProcess,
  type Measured,
  type ProgramCopy,
} from './processes.ts';

const SECONDS = secondsArgument(30);
const PYTHON = '/usr/bin/python3';
const SETTLE_MS = 5_000;
/** TTL, s, whose beats are a second apart, as the peers' are. */
const TTL_S = 5;

interface Peer {
  readonly id: string;
  /** What runs it. */
  readonly program: string;
  readonly start: (program: ProgramCopy, emulator: EmulatorProcess) => Measured;
}

/** As the SDK's sources have it: a thread, a new session for each request, no timeout, the answer not looked at. */
const VENDOR_LOOP = `
import os, threading, time, requests
def beat():
    while True:
        requests.post(os.environ["URL"], headers={"Authorization": "Bearer " + os.environ["KEY"]})
        time.sleep(1)
thread = threading.Thread(target=beat)
thread.start()
thread.join()
`;
/** The key goes over standard input, as it does in a careful script: arguments are for all to see. */
const CURL_LOOP = `
while :; do
  printf 'header = "Authorization: Bearer %s"' "$KEY" | curl -s -o /dev/null -m 10 -X POST -K - "$URL"
  sleep 1
done
`;

using folder = temporaryFolder();
const PEERS: readonly Peer[] = [
  {
    id: 'pilotlight',
    program: process.execPath,
    start: (node, { url, apiKey }) =>
      measured(spawnProgram(node, { API_KEY: apiKey, BASE_URL: url, DEPLOYMENTS: `42@${TTL_S}s` })),
  },
  { id: 'naive', program: process.execPath, start: loop(await naiveDaemon(folder.path)) },
  ...(hasCommand(PYTHON, '-c', 'import requests')
    ? [{ id: 'vendor', program: PYTHON, start: loop('-c', VENDOR_LOOP) }]
    : []),
  ...(hasCommand('curl', '--version')
    ? [{ id: 'curl', program: '/bin/sh', start: loop('-c', CURL_LOOP) }]
    : []),
];

for (const peer of PEERS) await measure(peer);

async function measure({ id, program, start }: Peer): Promise<void> {
  await using emulator = await startEmulatorProcess({ deployments: [{ id: 42, ttl: TTL_S }] });
  using copy = copyProgram(program);
  const from = performance.now();
  await using running = start(copy, emulator);
  while ((await beats(emulator)) === 0) await delay(1);
  const startMs = performance.now() - from;
  await delay(SETTLE_MS);
  const [before, cpuBefore] = [await beats(emulator), running.cpuSeconds()];
  await delay(SECONDS * 1000);
  const sent = (await beats(emulator)) - before;
  const cpuMs = (running.cpuSeconds() - cpuBefore) * 1000;
  ensure(sent > SECONDS / 2, `${id} sends a heartbeat a second; it sent ${sent} in ${SECONDS} s`);
  const { mb, anonymousMb } = running.memory();
  reportPeer({ peer: id, memoryMb: mb, anonymousMb, startMs, cpuMsPerBeat: cpuMs / sent });
}

async function beats(emulator: EmulatorProcess): Promise<number> {
  const [deployment] = await deploymentsOf(emulator);
  return deployment?.beats ?? 0;
}

/** Bundled as the program is. @returns Its path. */
async function naiveDaemon(into: string): Promise<string> {
  const outfile = join(into, 'naive-daemon.mjs');
  const banner = {
    js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
  };
  const entryPoints = [join(root, 'test/bench/naive-daemon.ts')];
  await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', minify: true, banner });
  return outfile;
}

function loop(...args: readonly string[]): Peer['start'] {
  return (program, { url, apiKey }) =>
    measured(
      spawn(program.path, args, {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: {
          PATH: process.env['PATH'],
          ...program.env,
          URL: `${url}/api/v0/deployment/42/heartbeat`,
          KEY: apiKey,
        },
      }),
    );
}

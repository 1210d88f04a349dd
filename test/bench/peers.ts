/**
 * What else could send the heartbeat: the vendor's loop in Python, and curl in a shell loop. Each sends one a second.
 * A peer whose parts are missing is left out. Run: node test/bench/peers.ts [seconds]
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { reportPeer } from './peer-rows.ts';
import {
  measured,
  secondsArgument,
  spawnDaemon,
  startEmulatorProcess,
  type EmulatorProcess,
  type Measured,
} from './processes.ts';

const SECONDS = secondsArgument(30);
const SETTLE_MS = 5_000;
/** TTL, s, whose beats are a second apart, as the peers' are. */
const TTL_S = 5;

interface Peer {
  readonly id: string;
  readonly start: (emulator: EmulatorProcess) => Measured;
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

const PEERS: readonly Peer[] = [
  {
    id: 'pilotlight',
    start: ({ url, apiKey }) =>
      measured(spawnDaemon({ API_KEY: apiKey, BASE_URL: url, DEPLOYMENTS: `42@${TTL_S}s` })),
  },
  ...(has('/usr/bin/python3', '-c', 'import requests')
    ? [{ id: 'vendor', start: loop('/usr/bin/python3', '-c', VENDOR_LOOP) }]
    : []),
  ...(has('curl', '--version') ? [{ id: 'curl', start: loop('sh', '-c', CURL_LOOP) }] : []),
];

for (const peer of PEERS) await measure(peer);

async function measure({ id, start }: Peer): Promise<void> {
  await using emulator = await startEmulatorProcess({ deployments: [{ id: 42, ttl: TTL_S }] });
  const from = performance.now();
  await using running = start(emulator);
  running.child.stderr?.resume();
  while ((await beats(emulator)) === 0) await delay(1);
  const startMs = performance.now() - from;
  await delay(SETTLE_MS);
  const [before, cpuBefore] = [await beats(emulator), cpuSeconds(running)];
  await delay(SECONDS * 1000);
  const sent = (await beats(emulator)) - before;
  const cpuMs = (cpuSeconds(running) - cpuBefore) * 1000;
  const { rssMb, anonymousMb } = running.memory();
  reportPeer({ peer: id, rssMb, anonymousMb, startMs, cpuMsPerBeat: cpuMs / sent });
}

async function beats({ url }: EmulatorProcess): Promise<number> {
  const state = (await (await fetch(`${url}/_emulator/state`)).json()) as {
    deployments: { beats: number }[];
  };
  return state.deployments[0]?.beats ?? 0;
}

/** With that of the children that ended: curl is one for each beat. */
function cpuSeconds(running: Measured): number {
  const fields = readFileSync(`/proc/${running.child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return running.cpuSeconds() + (Number(fields[13]) + Number(fields[14])) / 100;
}

function loop(command: string, ...args: readonly string[]): Peer['start'] {
  return ({ url, apiKey }) =>
    measured(
      spawn(command, args, {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { PATH: process.env['PATH'], URL: `${url}/api/v0/deployment/42/heartbeat`, KEY: apiKey },
      }),
    );
}

function has(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/**
 * Open files of heart and daemon while the service takes connections and does not answer TLS on them, for 33 s of a TTL of
 * 60 s, which no deployment needs to lose by. Run: node test/bench/silent-tls.ts
 */
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createPrivateCa, startTlsFront } from '../support/private-ca.ts';
import { listening, type Listening } from '../support/listening.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { deploymentBooks } from './books.ts';
import { ensure, report } from './figures.ts';
import { openFilesOf } from './process-tree.ts';
import { copyProgram, startEmulatorProcess, startProgram } from './processes.ts';

const COUNT = 1_000;
const TTL_S = 60;
/** By then the beats are spread over their interval. */
const SETTLE_MS = 20_000;
const SILENCE_MS = 33_000;
/** By then each deployment was accepted again, or has lapsed. */
const RECOVERY_MS = 30_000;
const SAMPLE_MS = 50;

const ids = Array.from({ length: COUNT }, (_, index) => index + 1);
using folder = temporaryFolder();
using node = copyProgram(process.execPath);
const ca = createPrivateCa(folder.path);
await using emulator = await startEmulatorProcess({ deployments: ids.map((id) => ({ id, ttl: TTL_S })) });
await using front = await startTlsFront(ca.issue('127.0.0.1'), Number(new URL(emulator.url).port));
await using gate = await startSilentGate(front.port);
await using program = await startProgram(
  node,
  {
    API_KEY: emulator.apiKey,
    BASE_URL: `https://127.0.0.1:${gate.port}`,
    DEPLOYMENT_TTL: `${TTL_S}s`,
    DEPLOYMENTS: ids.join(','),
  },
  { NODE_EXTRA_CA_CERTS: ca.file },
);
const before = await mostFiles(SETTLE_MS);
gate.silent = true;
const during = await mostFiles(SILENCE_MS);
gate.silent = false;
const after = await mostFiles(RECOVERY_MS);
const left = openFilesOf(program.pids());
ensure(program.pids().length === 2, 'heart and daemon at the end');
const { lapses, closestSeconds } = await deploymentBooks(emulator, { seconds: TTL_S, ttlSeconds: TTL_S });
report(
  'silent-tls-files',
  Math.max(during, after),
  `${before} before, ${during} in the silence, ${after} at its end, then ${left}`,
);
report('silent-tls-lapses', lapses, `closest approach ${closestSeconds.toFixed(0)} s`);

async function mostFiles(forMs: number): Promise<number> {
  let most = 0;
  const from = performance.now();
  while (performance.now() - from < forMs) {
    most = Math.max(most, openFilesOf(program.pids()));
    await delay(SAMPLE_MS);
  }
  return most;
}

/**
 * In front of `target`, a port of this machine. While it is silent it takes connections and bytes, and answers
 * nothing. A connection that met silence stays silent, as behind a firewall.
 */
async function startSilentGate(target: number): Promise<Listening & { silent: boolean }> {
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    let muted = false;
    const passes = (): boolean => !(muted ||= silentGate.silent);
    client.on('data', (bytes) => void (passes() && upstream.write(bytes)));
    upstream.on('data', (bytes) => void (passes() && client.write(bytes)));
    upstream.on('error', () => {}).on('close', () => void (passes() && client.destroy()));
    client.on('error', () => {}).on('close', () => upstream.destroy());
  });
  const silentGate = { ...(await listening(server)), silent: false };
  return silentGate;
}

/** The demo: the emulator in this process and `pilotlight run` beside it, over real sockets. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { printError, type Console, READER_LEFT, parseObject } from '../console.ts';
import { createScreen, summarize, createWatcher, type Screen } from './screen.ts';
import { fetchJson } from '../fleet/daemon.ts';
import { delay } from '../../client/retry.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { environmentOfOthers } from '../../config/other-variables.ts';
import type { Status } from '../../daemon/status/schema.ts';
import {
  startEmulator,
  type Emulator,
  type Seed,
  type DeploymentView,
  type FaultInput,
} from '../../emulator/index.ts';
import type { LogRecord } from '../../logs/record.ts';

/** Kept alive by its id; the other deployment by its name, whatever its id is. */
const BY_ID = 42;
const NAME = 'square';
const ENDPOINT = 'chat';
const SEED: Seed = {
  deployments: [
    { id: BY_ID, name: 'circle', ttl: 12 },
    { id: 43, name: NAME, ttl: 30 },
  ],
  workergroups: [
    { id: 7, lines_per_second: 1.2 },
    { id: 8, lines_per_second: 0.4 },
    { id: 9, lines_per_second: 0, endpoint_id: 31 },
  ],
  endpoint_groups: [
    {
      id: 31,
      endpoint_name: ENDPOINT,
      target_util: 0.9,
      // A mistake on purpose: a worker is created and destroyed at each decision.
      max_workers: 3,
      cold_mult: 1,
      cold_workers: 3,
      load: { shape: 'diurnal', rate: 1_600, peak_ratio: 12, period_seconds: 60 },
    },
  ],
  // A day of an endpoint passes within a minute, so its engine must be as quick.
  settings: {
    engineLoadWindowSeconds: 10,
    engineScaleDownSeconds: 10,
    workerColdStartSeconds: 3,
    workerModelLoadingSeconds: 2,
    instanceCreatedSeconds: 1,
    instanceLoadingSeconds: 2,
  },
};
const GROUPS: readonly number[] = [7, 8];

const POLL_MS = 250;
/** The last lines need so long to arrive before the summary: longer than a quiet group's poll interval. */
const ARRIVAL_MS = 250;

export async function runDemo(lengthMs: number | undefined, console: Console, signal: AbortSignal) {
  const screen = createScreen(console);
  await using emulator = await startEmulator({
    dialect: 'public',
    traits: { log_shape: 'text', cold_at_max: 'flaps' },
    seed: SEED,
  });
  const startedAt = performance.now();
  const daemon = await startDaemon(emulator, screen, signal);
  if (!daemon) {
    if (signal.aborted) return EXIT.interrupted;
    printError(console, 'the daemon ended before it had started; `pilotlight run` says why');
    return EXIT.failed;
  }
  screen.heading('Pilotlight: the emulator and the daemon together. Ctrl-C ends it.');
  screen.heading(`  metrics      ${daemon.url}/metrics`);
  screen.heading(`  status page  ${daemon.url}/`);
  screen.heading(`  keeps alive  deployment ${BY_ID}, and the deployment named ${NAME}, whatever its id is`);
  screen.heading('');

  const ending = lengthMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(lengthMs)]);
  const faults = createFaultPlan(emulator, screen);
  /** Each as it was at its end. */
  const replaced: DeploymentView[] = [];
  const watcher = createWatcher(screen, { byId: [BY_ID], name: NAME });
  const redeployments = takeTurns(REDEPLOYMENT_PAUSES_MS, ending, () => {
    replaced.push(...redeploy(emulator, screen));
  });
  const plans = [faults.run(ending), redeployments];
  while (!ending.aborted) {
    const status = await daemon.status();
    if (status) watcher.look(status);
    await delay(POLL_MS, ending).catch(() => {});
  }
  await Promise.all(plans);
  const ranForMs = performance.now() - startedAt;
  // The logs stop growing, so that the counts of both sides can be compared.
  for (const id of GROUPS) emulator.workergroups.setRate(id, 0);
  if (signal.reason !== READER_LEFT) await delivered(daemon, emulator);
  // First what the service accepted: in the other order a heartbeat could be accepted and not sent.
  const deployments = [...replaced, ...emulator.deployments.list()];
  const status = await daemon.status();
  await daemon.stop();
  if (!status) {
    printError(console, 'the daemon has ended, and cannot tell how it fared');
    return EXIT.failed;
  }
  watcher.look(status);
  const summary = summarize({
    ranForMs,
    status,
    heartbeats: watcher.heartbeats(),
    deployments,
    redeployed: replaced.length,
    writtenLines: writtenLines(emulator),
    faults: faults.report(),
  });
  for (const line of summary.lines) screen.heading(line);
  return summary.expired ? EXIT.failed : EXIT.ok;
}

function writtenLines(emulator: Emulator): number {
  return GROUPS.reduce((sum, id) => sum + emulator.workergroups.get(id).lineCount, 0);
}

async function delivered(daemon: DemoDaemon, emulator: Emulator): Promise<void> {
  const never = new AbortController().signal;
  for (let waited = 0; waited < 8_000; waited += ARRIVAL_MS) {
    const groups = (await daemon.status())?.worker_groups ?? [];
    const lines = groups.reduce((sum, group) => sum + group.lines, 0);
    if (lines >= writtenLines(emulator)) return;
    await delay(ARRIVAL_MS, never);
  }
}

function environmentOf({ apiKey, url }: Emulator) {
  return {
    PILOTLIGHT_API_KEY: apiKey,
    PILOTLIGHT_BASE_URL: url,
    PILOTLIGHT_DEPLOYMENTS: `${BY_ID}@12s,name:${NAME}@30s`,
    PILOTLIGHT_WORKER_GROUPS: GROUPS.join(','),
    PILOTLIGHT_ENDPOINTS: ENDPOINT,
    PILOTLIGHT_FLEET_INTERVAL: '5s',
    PILOTLIGHT_MACHINES: '11,12',
    PILOTLIGHT_ENDPOINT_GROUPS: `[{"endpoint_name":"${ENDPOINT}","target_util":0.97,"max_workers":3,"cold_workers":3}]`,
    PILOTLIGHT_LISTEN: '127.0.0.1:0',
    // The demo prints these lines anyway, so the page may show them.
    PILOTLIGHT_PUBLIC_STATUS: 'true',
    PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
  };
}

async function takeTurns(
  [firstMs, laterMs]: readonly [firstMs: number, laterMs: number],
  signal: AbortSignal,
  act: (turn: number) => Promise<void> | void,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    await delay(turn === 0 ? firstMs : laterMs, signal).catch(() => {});
    if (!signal.aborted) await act(turn);
  }
}

/** Quiet time before each fault, in ms. */
const FAULT_PAUSES_MS = [5_000, 12_000] as const;
const LENGTH_MS = 4_000;
/** After the first fault, and then every four faults: a fault never hides what is shown here. */
const REDEPLOYMENT_PAUSES_MS = [12_000, 64_000] as const;

const FAULTS: readonly { readonly says: string; readonly fault: FaultInput }[] = [
  { says: 'the service refuses every connection', fault: { kind: 'refused' } },
  { says: 'the service hangs: it takes requests and never answers', fault: { kind: 'hang' } },
  { says: 'the service answers 429 "API requests too frequent" as plain text', fault: { kind: 'throttled' } },
  { says: 'a proxy answers HTML with status 200', fault: { kind: 'html' } },
  { says: 'the service answers 503', fault: { kind: 'status', status: 503 } },
];

export function createFaultPlan(emulator: Emulator, screen: Screen) {
  let injected = 0;
  let survived = 0;

  async function inject({ says, fault }: (typeof FAULTS)[number], signal: AbortSignal): Promise<void> {
    await using _lifted = await emulator.faults.add(fault);
    injected += 1;
    screen.event('fault', `${says}, for ${LENGTH_MS / 1000} s`, 'warn');
    await delay(LENGTH_MS, signal).catch(() => {});
    const expired = emulator.deployments.list().filter((deployment) => deployment.expired);
    if (expired.length === 0) survived += 1;
    screen.event('fault', 'over', 'warn');
  }

  return {
    run: (signal: AbortSignal) =>
      takeTurns(FAULT_PAUSES_MS, signal, async (turn) => {
        const next = FAULTS[turn % FAULTS.length];
        if (next) await inject(next, signal);
      }),
    /** A fault is survived if every deployment is alive after it. */
    report: () => ({ injected, survived }),
  };
}

/** Returns the deployment that was replaced. */
function redeploy({ deployments }: Emulator, screen: Screen): DeploymentView[] {
  const before = deployments.list().find(({ name }) => name === NAME);
  if (!before) return [];
  const id = deployments.redeploy(before.id);
  screen.event('redeployed', `${NAME} was deployment ${before.id}, is now ${id}`, 'warn');
  return [before];
}

/** Beside this file's folder as source; one flat folder in the bundle. */
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? '../main.ts' : './pilotlight.js', import.meta.url);

type DemoDaemon = NonNullable<Awaited<ReturnType<typeof startDaemon>>>;

/** Resolves once it has started; undefined: it ended before, by itself or because `signal` fired. */
async function startDaemon(emulator: Emulator, screen: Screen, signal: AbortSignal) {
  const child = spawn(process.execPath, [fileURLToPath(ENTRY), 'run'], {
    // A terminal's Ctrl-C does not reach its process group: the demo ends it after the last lines.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...environmentOfOthers(), ...environmentOf(emulator) },
  });
  // A second Ctrl-C ends the demo at once, and it takes its daemon with it.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  const ended = new Promise<void>((resolve) =>
    child.once('exit', () => {
      process.off('exit', kill);
      resolve();
    }),
  );
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => screen.record(JSON.parse(line) as LogRecord));
  if (signal.aborted) stop();
  const url = await startedUrl(child.stderr, ended);
  signal.removeEventListener('abort', stop);
  if (url === undefined) return undefined;
  return {
    url,
    status: () =>
      fetchJson({ url, token: undefined }, '/api/status').then(
        (status) => status as Status,
        () => undefined,
      ),
    stop(): Promise<void> {
      stop();
      return ended;
    },
  };
}

function startedUrl(stderr: Readable, ended: Promise<void>): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  createInterface({ input: stderr }).on('line', (line) => {
    const { msg, url } = parseObject(line) ?? {};
    if (msg === 'pilotlight started' && typeof url === 'string') resolve(url);
  });
  void ended.then(() => resolve(undefined));
  return promise;
}

/**
 * The demo: the emulator in this process and `pilotlight run` beside it, over real sockets. Two deployments with a short
 * TTL, two worker groups, a machine with a maintenance window, and every so often a fault that is survived.
 */
import { startEmulator, type Emulator, type Seed } from '../../emulator/index.ts';
import { delay } from '../../client/delay.ts';
import { interrupted } from '../commands/emulator.ts';
import { createFaultPlan, type FaultPlan } from './faults.ts';
import { startDemoProgram, type DemoProgram } from './program.ts';
import { createScreen, type Screen } from './screen.ts';
import { summarize } from './summary.ts';
import { createWatcher } from './watcher.ts';

const SEED: Seed = {
  deployments: [
    { id: 42, ttl: 12 },
    { id: 43, ttl: 30 },
  ],
  workergroups: [
    { id: 7, lines_per_second: 1.2 },
    { id: 8, lines_per_second: 0.4 },
  ],
};

/** How often the demo looks at the daemon, in ms. */
const LOOK_MS = 250;
/** Time for the last lines to arrive before the summary, in ms: longer than a quiet group's poll interval. */
const SETTLE_MS = 250;

/** Runs until `lengthMs` have passed, or until Ctrl-C; the exit code. */
export async function runDemo(lengthMs: number | undefined): Promise<number> {
  const screen = createScreen(process.stdout);
  await using emulator = await startEmulator({ seed: SEED });
  const startedAt = performance.now();
  const daemon = await startDaemon(emulator, screen);
  screen.heading('Pilotlight: the emulator and the daemon together. Ctrl-C ends it.');
  screen.heading(`  metrics      ${daemon.url}/metrics`);
  screen.heading(`  status page  ${daemon.url}/`);

  const ending = new AbortController();
  void interrupted().then(() => ending.abort(new Error('interrupted')));
  const timer =
    lengthMs === undefined ? undefined : setTimeout(() => ending.abort(new Error('time is up')), lengthMs);
  const faults = createFaultPlan(emulator, screen);
  const watcher = createWatcher(screen);
  const plan = faults.run(ending.signal);
  while (!ending.signal.aborted) {
    const status = await daemon.status();
    if (status) watcher.look(status);
    await delay(LOOK_MS, ending.signal).catch(() => {});
  }
  clearTimeout(timer);
  await plan;
  return await finish({ daemon, emulator, faults, screen, ranForMs: performance.now() - startedAt });
}

interface Ending {
  readonly daemon: DemoProgram;
  readonly emulator: Emulator;
  readonly faults: FaultPlan;
  readonly screen: Screen;
  readonly ranForMs: number;
}

async function finish({ daemon, emulator, faults, screen, ranForMs }: Ending): Promise<number> {
  // The logs stop growing, so that the books of both sides can be compared.
  for (const { id } of emulator.workergroups.list()) emulator.workergroups.setRate(id, 0);
  await delivered(daemon, emulator);
  const status = await daemon.status();
  await daemon.stop();
  if (!status) throw new Error('the daemon did not tell its status at the end');
  const summary = summarize({
    ranForMs,
    status,
    deployments: emulator.deployments.list(),
    writtenLines: writtenLines(emulator),
    faults: faults.report(),
  });
  for (const line of summary.lines) screen.heading(line);
  return summary.exitCode;
}

function writtenLines(emulator: Emulator): number {
  return emulator.workergroups.list().reduce((sum, { lineCount }) => sum + lineCount, 0);
}

/** Waits, for as long as a quiet group's slowest poll takes, until every written line has been delivered. */
async function delivered(daemon: DemoProgram, emulator: Emulator): Promise<void> {
  const never = new AbortController().signal;
  for (let waited = 0; waited < 8_000; waited += SETTLE_MS) {
    const groups = (await daemon.status())?.worker_groups ?? [];
    const lines = groups.reduce((sum, group) => sum + group.lines, 0);
    if (lines >= writtenLines(emulator)) return;
    await delay(SETTLE_MS, never);
  }
}

function startDaemon(emulator: Emulator, screen: Screen): Promise<DemoProgram> {
  return startDemoProgram({
    environment: {
      PILOTLIGHT_API_KEY: emulator.apiKey,
      PILOTLIGHT_BASE_URL: emulator.url,
      PILOTLIGHT_DEPLOYMENTS: '42@12s,43@30s',
      PILOTLIGHT_WORKER_GROUPS: '7,8',
      PILOTLIGHT_MACHINES: '11,12',
      PILOTLIGHT_ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.97,"max_workers":8}]',
      PILOTLIGHT_LISTEN: '127.0.0.1:0',
      PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
    },
    onRecord: (record) => screen.record(record),
    // Faults are the demo's own doing, and it tells of them itself.
    onError() {},
  });
}

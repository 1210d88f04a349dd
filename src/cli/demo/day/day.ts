/**
 * A day of an endpoint in a minute: the emulator's clock stands still and is moved half a minute at a time, so that its
 * engine, its workers and its load do in a minute what they would do in a day. Looked at as anybody looks: over HTTP.
 */
import { delay } from '../../../client/delay.ts';
import type { Worker } from '../../../contract/operations/serverless/workers.ts';
import { createClient, type Client } from '../../../client/client.ts';
import { EXIT } from '../../../config/exit-codes.ts';
import { startEmulator, type Emulator, type Seed } from '../../../emulator/index.ts';
import type { FleetSample } from '../../../fleet/sample.ts';
import { measure } from '../../../fleet/workers/measure.ts';
import { createInstancesWatch, type InstancesWatch } from '../../../watch/instances.ts';
import { resolveDefaults } from '../../../scaling/rules/check.ts';
import { adviceLines } from '../../advise/lines.ts';
import { printLine, type Console } from '../../console.ts';
import { createLiveScreen } from '../../fleet/screen.ts';
import { ProgressBar, progressScreen } from '../../plan/progress.ts';
import { legible } from '../../text/legible.ts';
import { DayRecord } from './advice.ts';
import { NO_FIGURES, withSample, type DayFigures } from './figures.ts';
import { dayOfRequests, DAY_SECONDS } from './load.ts';
import { CELL_SECONDS, dayLine, dayPicture } from './picture.ts';
import { summarizeDay } from './summary.ts';

const ENDPOINT = 31;
const MIDNIGHT = Date.UTC(2026, 0, 5);
/** Between two looks, on the emulator's clock. */
const STEP_SECONDS = 30;
/** How long the day takes, where the machine keeps up. */
const LENGTH_MS = 60_000;
const FRAME_MS = 100;
/** Prices of instances are read once in so many looks. */
const PRICES_EVERY = 10;
const DECISIONS_SHOWN = 6;
/** Answers come from this process, at once: an interrupt ends the day between two of them. */
const NEVER = new AbortController().signal;

const PARAMETERS = {
  endpoint_name: 'chat',
  target_util: 0.85,
  cold_mult: 1.5,
  cold_workers: 2,
  max_workers: 16,
  inactivity_timeout: 900,
};

function seed(): Seed {
  return {
    endpoint_groups: [
      {
        id: ENDPOINT,
        ...PARAMETERS,
        load: { shape: 'trace', ...dayOfRequests(), period_seconds: DAY_SECONDS },
      },
    ],
    workergroups: [{ id: 7, endpoint_id: ENDPOINT }],
  };
}

/** Until the day is over, it is interrupted, or its reader leaves; the exit code. */
export function runDay(console: Console): Promise<number> {
  return console.interruptible(async (signal) => {
    await using emulator = await startEmulator({
      dialect: 'public',
      clock: { frozenAtMs: MIDNIGHT },
      seed: seed(),
    });
    await using client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
    const view = console.columns === undefined ? lines(console) : pictures(console);
    const record = new DayRecord('chat');
    const figures = await passDay({ emulator, client, view, record, signal }).finally(() => view.end());
    for (const line of summarizeDay(figures, emulator.endpointGroups.get(ENDPOINT))) printLine(console, line);
    if (!signal.aborted) await sayAdvice(record, console, signal);
    return EXIT.ok;
  });
}

interface View {
  /** Whether it wants to show this moment. */
  wants(figures: DayFigures): boolean;
  show(figures: DayFigures, decisions: readonly string[]): void;
  end(): void;
}

interface Day {
  readonly emulator: Emulator;
  readonly client: Client;
  readonly view: View;
  readonly record: DayRecord;
  readonly signal: AbortSignal;
}

async function passDay({ emulator, client, view, record, signal }: Day): Promise<DayFigures> {
  const instances = createInstancesWatch(client);
  const startedAt = performance.now();
  let figures = NO_FIGURES;
  for (let step = 0; figures.seconds < DAY_SECONDS && !signal.aborted; step += 1) {
    await emulator.clock.advance(STEP_SECONDS * 1000);
    if (step % PRICES_EVERY === 0) await instances.run(NEVER);
    const { sample, workers } = await look(emulator, client, instances);
    record.look(sample, workers);
    figures = withSample(figures, sample, { seconds: STEP_SECONDS, cellSeconds: CELL_SECONDS });
    if (view.wants(figures)) view.show(figures, await decisionsOf(client));
    const aheadMs = startedAt + (figures.seconds / DAY_SECONDS) * LENGTH_MS - performance.now();
    if (aheadMs > FRAME_MS / 2) await delay(aheadMs, signal).catch(() => {});
  }
  return figures;
}

async function look(
  emulator: Emulator,
  client: Client,
  instances: InstancesWatch,
): Promise<{ readonly sample: FleetSample; readonly workers: readonly Worker[] }> {
  const { workers } = await client.endpointGroups.workers({ id: ENDPOINT });
  if (workers.some(({ id }) => !instances.prices().has(id))) await instances.run(NEVER);
  return { sample: measure({ workers, unreadable: 0 }, instances.prices(), emulator.clock.now()), workers };
}

/** What other parameters would have done with this day. */
async function sayAdvice(record: DayRecord, console: Console, signal: AbortSignal): Promise<void> {
  const bar = new ProgressBar(progressScreen(console));
  try {
    const report = await record.advice(resolveDefaults(PARAMETERS), signal, (share) =>
      bar.update(share, 'what other parameters would have done', ''),
    );
    bar.end();
    for (const line of ['', ...adviceLines(report, console.columns)]) printLine(console, line);
  } catch (error) {
    bar.end();
    if (!signal.aborted) throw error;
  }
}

/** With the time of day alone. */
async function decisionsOf(client: Client): Promise<string[]> {
  const { info1 } = await client.endpointGroups.logs({ id: ENDPOINT, tail: DECISIONS_SHOWN });
  const decisions = (info1 ?? '').split('\n').filter((line) => line !== '');
  return decisions.map((line) => line.replace(/^[\d-]+T([\d:]+)\S*/, '$1'));
}

function pictures(console: Console): View {
  const screen = createLiveScreen();
  let shownAt = -Infinity;
  return {
    wants: ({ seconds }) => performance.now() - shownAt >= FRAME_MS || seconds >= DAY_SECONDS,
    show(figures, decisions) {
      const { columns = 80, rows = 24, hasColours } = console;
      shownAt = performance.now();
      console.out(
        screen.frame(dayPicture(figures, decisions.map(legible), { columns, hasColours }), { columns, rows }),
      );
    },
    end: () => console.out(screen.end()),
  };
}

/** A line an hour. */
function lines(console: Console): View {
  return {
    wants: ({ seconds }) => seconds % 3600 === 0,
    show: (figures) => printLine(console, dayLine(figures)),
    end() {},
  };
}

/** `pilotlight advise`: asks a running daemon what it recorded, and computes here, so that nothing of it is in its way. */
import { EXIT } from '../../config/exit-codes.ts';
import type { EndpointStatus } from '../../daemon/status/schema.ts';
import { resolvedParameters } from '../../fleet/advice/parameters.ts';
import { advise } from '../../scaling/advice/advise.ts';
import type { AdviceReport } from '../../scaling/advice/report.ts';
import { openRunner } from '../../scaling/parallel/thread-runner.ts';
import { RecordedLoad } from '../../scaling/planner/load/load.ts';
import { printLine, type Console } from '../console.ts';
import { fetchStatus, type DaemonAddress } from '../fleet/daemon.ts';
import { saidOfDaemon, sayHistoryTrouble } from '../fleet/daemon-trouble.ts';
import { noEndpoints } from '../fleet/words.ts';
import { chosenEndpoints } from '../fleet/chosen.ts';
import { InputError } from '../input-error.ts';
import { READER_LEFT } from '../interrupts.ts';
import { legibleLine } from '../text/legible.ts';
import { checkPageFile, writePageFile } from '../page-file.ts';
import type { PlanFlags } from '../plan/flags.ts';
import { ProgressBar, progressScreen } from '../plan/progress.ts';
import { openTrace } from '../plan/trace/trace.ts';
import { fetchRecorded } from './history.ts';

export interface AdviseFlags extends Pick<PlanFlags, 'timeColumn' | 'timeUnit' | 'weight' | 'requestWork'> {
  /** Seconds. */
  readonly since: number;
  readonly p99?: number;
  readonly requestSize?: number;
  readonly priceCold?: number;
  readonly trace?: string;
  readonly json?: boolean;
  readonly html?: string;
}

/**
 * @param show Called as soon as an endpoint's is there: what ends the others does not take it away
 * @returns The exit code
 * @throws InputError for what the user can change, of several endpoints once all were tried
 */
export function runAdvise(
  daemon: DaemonAddress,
  wanted: string | undefined,
  flags: AdviseFlags,
  console: Console,
  show: (report: AdviceReport) => void,
): Promise<number> {
  return console.interruptible(async (signal) => {
    try {
      const status = await fetchStatus(daemon, signal);
      const endpoints = chosenEndpoints(status, wanted);
      if (endpoints.length === 0) {
        if (!flags.json) printLine(console, noEndpoints(status));
        return EXIT.ok;
      }
      if (flags.html !== undefined && endpoints.length > 1) {
        const names = endpoints.map(({ endpoint_group: name }) => legibleLine(name)).join(', ');
        throw new InputError(`--html is a page of one endpoint; which? There is: ${names}`);
      }
      if (flags.html !== undefined) checkPageFile(flags.html);
      sayHistoryTrouble(console, status);
      const trace = flags.trace === undefined ? undefined : await readTrace(flags.trace, flags);
      const refused: string[] = [];
      for (const endpoint of endpoints) {
        const question = { daemon, endpoint, now: status.now, flags, trace, signal, console };
        const report = await adviseOn(question).catch((error: unknown) => {
          if (!(error instanceof InputError)) throw error;
          refused.push(error.message);
        });
        if (!report) continue;
        show(report);
        if (flags.html !== undefined) await writePage(flags.html, report, console, flags.json);
      }
      if (refused.length > 0) throw new InputError(refused.join('\n'));
      return EXIT.ok;
    } catch (error) {
      if (signal.aborted) return signal.reason === READER_LEFT ? EXIT.ok : EXIT.interrupted;
      return saidOfDaemon(console, error);
    }
  });
}

interface Question {
  readonly daemon: DaemonAddress;
  readonly endpoint: EndpointStatus;
  /** Unix seconds, by the daemon's clock. */
  readonly now: number;
  readonly flags: AdviseFlags;
  readonly trace: RecordedLoad | undefined;
  readonly signal: AbortSignal;
  readonly console: Console;
}

async function adviseOn({
  daemon,
  endpoint,
  now,
  flags,
  trace,
  signal,
  console,
}: Question): Promise<AdviceReport> {
  const { endpoint_group: name } = endpoint;
  const shownName = legibleLine(name);
  const parameters = resolvedParameters(endpoint.parameters);
  if (!parameters)
    throw new InputError(`${shownName}: the daemon does not know its parameters yet; try again soon`);
  const { parameters_since: parametersSince } = endpoint;
  const recorded = await fetchRecorded(
    { daemon, endpoint: name, parameters, parametersSince, from: now - flags.since, to: now },
    signal,
  );
  const bar = new ProgressBar(progressScreen(console));
  try {
    return await advise(
      recorded,
      {
        nowMs: Math.round(now * 1000),
        limitSeconds: flags.p99,
        requestSize: flags.requestSize,
        assumed: flags.priceCold === undefined ? {} : { priceCold: flags.priceCold },
      },
      {
        trace,
        openRunner,
        signal,
        progress: ({ doing, share }) => bar.update(share, `${shownName}: ${doing}`, ''),
      },
    );
  } finally {
    bar.end();
  }
}

async function readTrace(
  path: string,
  { timeColumn, timeUnit, weight = new Map(), requestWork }: AdviseFlags,
): Promise<RecordedLoad> {
  const { arrivals } = await openTrace(path, { timeColumn, timeUnit, weights: weight, requestWork });
  const load = await RecordedLoad.from(arrivals);
  if (load.length === 0) throw new InputError(`${path}: there are no requests in it`);
  return load;
}

async function writePage(
  file: string,
  report: AdviceReport,
  console: Console,
  isJson = false,
): Promise<void> {
  const { advicePage } = await import('./report/page.ts');
  const { adviceAssets } = await import('./report/assets.ts');
  const unwritten = await writePageFile(file, () => Promise.resolve(advicePage(report, adviceAssets())));
  if (unwritten) throw unwritten;
  if (!isJson) printLine(console, `Page with the plots: ${file}`);
}

/**
 * The log of an endpoint, in which its engine says what it sees and does: a file for each level, in the forms of the
 * service (evidence 2.8). Some lines begin with a time. Others have none and repeat from look to look, and a table stands
 * over several lines.
 */
import type { EndpointGroupRecord, EndpointLogs, GroupLog, WorkerRecord } from '../state/endpoints.ts';
import { appendLines, createGroupLog, engineTime, setLooks } from '../worker-log/group-log.ts';
import { TIME_MARK } from '../worker-log/inference-log.ts';

/** Lines; older ones are forgotten. Of the levels that say much at each look, fewer are kept. */
const [KEPT, KEPT_OF_LOOKS] = [10_000, 2_000];

/** Each with one line: no level of an endpoint's log is ever empty. */
export function createEngineLogs(id: number, sinceMs: number): EndpointLogs {
  const logs = {
    info0: emptyLog(KEPT, sinceMs),
    info1: emptyLog(KEPT, sinceMs),
    trace: emptyLog(KEPT_OF_LOOKS, sinceMs),
    debug: emptyLog(KEPT_OF_LOOKS, sinceMs),
  };
  const line = eventLine(`endpoint ${id} is there`, sinceMs);
  for (const log of Object.values(logs)) appendLines(log, [line], sinceMs);
  return logs;
}

function emptyLog(retainedLines: number, sinceMs: number): GroupLog {
  const source = { kind: 'replay', lines: [], loop: false } as const;
  return createGroupLog({ source, linesPerSecond: 0, retainedLines, sinceMs });
}

/** What was done, and why. */
export function noteEvent({ logs }: Pick<EndpointGroupRecord, 'logs'>, text: string, nowMs: number): void {
  const line = eventLine(text, nowMs);
  appendLines(logs.info1, [line], nowMs);
  appendLines(logs.info0, [line], nowMs);
}

function eventLine(text: string, nowMs: number): string {
  return `${engineTime(nowMs)} [autoscaler.cpp:1427 manage_workers] ${text}`;
}

/** What an engine sees, and when it looks. */
export interface Sight {
  readonly workers: readonly WorkerRecord[];
  /** undefined: there is none. */
  readonly load: string | undefined;
  readonly everyMs: number;
  readonly sinceMs: number;
}

/** What each look sees from now on. */
export function setSight({ id, logs }: EndpointGroupRecord, sight: Sight, nowMs: number): void {
  const { workers, load, everyMs, sinceMs } = sight;
  const grow = (log: GroupLog, lines: readonly string[]) => setLooks(log, { lines, everyMs, sinceMs }, nowMs);
  const phases = Map.groupBy(workers, ({ life }) => life?.phase ?? 'unmanaged');
  const counts = Array.from(phases, ([phase, { length }]) => `${length} ${phase}`).join(', ') || 'none';
  const head = `${TIME_MARK} [autoscaler.cpp:1182 manage_instances] managing instances of endpoint ${id}: ${counts}`;
  grow(logs.info0, load === undefined ? [head] : [head, `[manage_workers][update_strategy] ${load}`]);
  const values = workers.map(
    (worker) => `types.h[1363] run_value ${(worker.perf ?? 0).toFixed(2)} of ${worker.id}`,
  );
  grow(logs.trace, [head, ...values]);
  grow(logs.debug, [head, ...tableOf(workers)]);
}

const WIDTH = 12;
const COLUMNS = ['ID', 'MeasPerf', 'Reli', 'DLPerf', 'Disk', 'Status'] as const;

function tableOf(workers: readonly WorkerRecord[]): string[] {
  if (workers.length === 0) return [];
  const rows = workers.map(({ id, perf, reliability, dlperf, diskUsage, life }) =>
    [
      id,
      perf?.toFixed(1) ?? '-',
      reliability.toFixed(3),
      dlperf.toFixed(1),
      diskUsage.toFixed(1),
      life?.phase ?? '-',
    ]
      .map((cell) => String(cell).padStart(WIDTH))
      .join(''),
  );
  return [COLUMNS.map((name) => name.padStart(WIDTH)).join(''), ...rows];
}

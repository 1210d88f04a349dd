/** The log of an endpoint in the forms of the service (evidence 2.8), one file a level. */
import type { Observation } from '../../scaling/planner/model/control-loop.ts';
import type { Decision } from '../../scaling/planner/model/group.ts';
import type { EndpointGroupRecord, EndpointLogs, GroupLog, WorkerPhase } from '../state/serverless.ts';
import { appendLines, createGroupLog, engineTime } from '../state/worker-log.ts';
import { countBy, countsText } from './workers.ts';

/** Lines; levels that write much at each look keep fewer. */
const [KEPT, KEPT_OF_LOOKS] = [10_000, 2_000];

/** No level is ever empty. */
export function createEngineLogs(id: number, sinceMs: number): EndpointLogs {
  const source = { kind: 'replay', lines: [], loop: false } as const;
  const begun = (retainedLines: number): GroupLog => {
    const log = createGroupLog({ source, linesPerSecond: 0, retainedLines, sinceMs });
    appendLines(log, [eventLine(`endpoint ${id} is there`, sinceMs)], sinceMs);
    return log;
  };
  return {
    info0: begun(KEPT),
    info1: begun(KEPT),
    trace: begun(KEPT_OF_LOOKS),
    debug: begun(KEPT_OF_LOOKS),
  };
}

export function noteEvent({ logs }: Pick<EndpointGroupRecord, 'logs'>, text: string, nowMs: number): void {
  for (const log of [logs.info1, logs.info0]) appendLines(log, [eventLine(text, nowMs)], nowMs);
}

function eventLine(text: string, nowMs: number): string {
  return `${engineTime(nowMs)} [autoscaler.cpp:1427 manage_workers] ${text}`;
}

interface Look {
  readonly observed: Observation;
  readonly phases: readonly string[];
  /** Units/s of the ready workers. */
  readonly capacity: number;
}

export function noteLook({ id, logs }: EndpointGroupRecord, look: Look, nowMs: number): void {
  const { observed, phases, capacity } = look;
  const text = `managing instances of endpoint ${id}: ${countsText(phases) || 'none'}`;
  const head = `${engineTime(nowMs)} [autoscaler.cpp:1182 manage_instances] ${text}`;
  const isIdle = observed.load === 0 && observed.waitingRequests === 0;
  const load = isIdle ? [] : [`[manage_workers][update_strategy] ${observationText(observed)}`];
  appendLines(logs.info0, [head, ...load], nowMs);
  appendLines(logs.trace, [head, `types.h[1363] run_value ${capacity.toFixed(2)}`], nowMs);
  appendLines(logs.debug, [head, ...tableOf(phases)], nowMs);
}

const WIDTH = 12;

function tableOf(phases: readonly string[]): string[] {
  const rows = [['Status', 'Workers'], ...Object.entries(countBy(phases))];
  return rows.map((row) => row.map((cell) => String(cell).padStart(WIDTH)).join(''));
}

/** `seconds`: how long it was in the phase before. */
export function moveText(id: number, before: WorkerPhase, after: WorkerPhase, seconds: number) {
  switch (after) {
    case 'ready':
      return before === 'draining' ? `calls ${id} back` : `${id} is ready after ${seconds} s (${before})`;
    case 'starting':
      return `starts ${id} from cold`;
    case 'draining':
      return `stops ${id} when its requests are done`;
    default:
      return `stops ${id}`;
  }
}

export function decisionText(moves: readonly string[], { wanted, observed }: Decision): string {
  const { hotCapacity, hotWorkers, totalCapacity, totalWorkers } = wanted;
  const one = hotWorkers > 0 ? ', at least one worker' : '';
  return (
    `${moves.join(', ')}: wants ${rounded(hotCapacity)} units/s ready${one}, ` +
    `${rounded(totalCapacity)} with stopped ones, at least ${totalWorkers} workers; ` +
    observationText(observed)
  );
}

function observationText({ load, waitingRequests, expectedWaitSeconds }: Observation): string {
  const wait =
    expectedWaitSeconds === Infinity ? 'no worker is ready' : `a wait of ${rounded(expectedWaitSeconds)} s`;
  return `estimated load ${rounded(load)} units/s, ${waitingRequests} requests wait, ${wait}`;
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}

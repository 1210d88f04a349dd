/** A worker group as the status has it, from the view of its log that the pipeline keeps. */
import type { GroupView } from '../../logs/follow/group-stats.ts';
import type { WorkerGroupStatus } from './schema.ts';

export function workerGroupStatus(group: GroupView): WorkerGroupStatus {
  return {
    workergroup_id: group.workergroupId,
    lines: group.lines,
    bytes: group.bytes,
    lines_per_second: group.linesPerSecond,
    gaps: group.gaps,
    lost_lines_estimate: group.lostEstimate,
    unknown_gaps: group.unknownGaps,
    stale_answers: group.staleAnswers,
    poll_interval_seconds: group.intervalMs / 1000,
    tail_size: group.tail,
    tail_unit: group.tailUnit ?? null,
    last_line_at: group.lastLineAt === undefined ? null : group.lastLineAt / 1000,
    last_error: group.error ?? null,
    last_lines: group.lastLines.map((line) => shortened(line)),
  };
}

/** Of a line, in the status: the sinks get all of it. */
const SHOWN_CHARACTERS = 2_000;

function shortened(line: string): string {
  if (line.length <= SHOWN_CHARACTERS) return line;
  return `${line.slice(0, SHOWN_CHARACTERS)} … (${line.length} characters)`;
}

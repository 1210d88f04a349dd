/** Worker groups and the sinks of their lines in the status. */
import * as z from 'zod';
import type { GroupView } from '../../logs/follow/group-stats.ts';
import { byReason, count, LABELS, metric, seconds } from './fact.ts';
import { time } from './time.ts';

export const workerGroup = z.object({
  workergroup_id: count,
  lines: metric(count, 'workergroup_log_lines_total', 'Log lines taken, each once.'),
  bytes: metric(count, 'workergroup_log_bytes_total', 'Bytes of the log lines taken.'),
  lines_per_second: z.number().min(0),
  gaps: metric(byReason, 'workergroup_log_gaps_total', 'Gaps in the log, by reason.', { label: 'reason' }),
  lost_lines_estimate: metric(
    count,
    'workergroup_log_lost_lines_estimate_total',
    'Lines that the service lost before they could be read, estimated.',
  ),
  unknown_gaps: metric(
    count,
    'workergroup_log_unknown_gaps_total',
    'Gaps of unknown size, which the estimate of lost lines does not include.',
  ),
  stale_answers: metric(
    count,
    'workergroup_log_stale_answers_total',
    'Answers that were older views of the log: nothing was taken from them.',
  ),
  poll_interval_seconds: metric(
    seconds,
    'workergroup_log_poll_interval_seconds',
    'Time between two polls of the log.',
  ),
  tail_size: metric(count, 'workergroup_log_tail_size', 'Log units asked for at a poll.'),
  tail_unit: z
    .enum(['lines', 'bytes'])
    .nullable()
    .describe('What the service counts; null until it is learned'),
  last_line_at: metric(
    time.nullable(),
    'workergroup_log_last_line_timestamp_seconds',
    'When the last line was taken; 0 in the metric before the first.',
    { value: (at) => at ?? 0 },
  ),
  last_error: metric(
    z.string().nullable(),
    'workergroup_log_failing',
    'Why the last poll of the log failed; in the metric 1 if it did, else 0.',
    { value: (error) => error !== null },
  ),
  last_lines: z.array(z.string()),
});
LABELS.add(workerGroup, { labels: ['workergroup_id'] });

export const sink = z.object({
  sink: z.string(),
  delivered_lines: metric(count, 'log_sink_delivered_lines_total', 'Log records that the sink has accepted.'),
  dropped_lines: metric(
    byReason,
    'log_sink_dropped_lines_total',
    'Log records that the sink will never get, by reason.',
    { label: 'reason' },
  ),
  lag_lines: metric(count, 'log_sink_lag_lines', 'Log records that wait for the sink.'),
  last_error: z.string().nullable().describe('Why it took nothing the last time; null when it did'),
});
LABELS.add(sink, { labels: ['sink'] });

export const spoolDurable = metric(
  z.boolean().nullable(),
  'log_spool_durable',
  'Whether log records survive this process: 0 while STATE_DIR cannot be used, absent if neither STATE_DIR nor REDIS_URL is set.',
);

export function workerGroupStatus(group: GroupView): z.infer<typeof workerGroup> {
  return {
    workergroup_id: group.source.id,
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

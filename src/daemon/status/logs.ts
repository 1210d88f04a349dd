import * as z from 'zod';
import type { LogView } from '../../logs/follow/group-follower.ts';
import { byReason, count, LABELS, metric, seconds, time } from './fact.ts';

/** Worker groups and endpoints share these metrics; each has the label of its kind. */
const followed = {
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
};

export const workerGroup = z.object({ workergroup_id: count, ...followed });
LABELS.add(workerGroup, { labels: ['workergroup_id'] });

export const endpointLog = z.object({
  endpoint_group: z.string().describe('Its endpoint_name'),
  endpoint_id: count,
  ...followed,
});
LABELS.add(endpointLog, { labels: ['endpoint_group'] });

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
  'Whether log records survive this process: 0 while STATE_DIR cannot be used, absent without STATE_DIR.',
);

export function followedStatus(logs: readonly LogView[]): {
  worker_groups: z.infer<typeof workerGroup>[];
  endpoint_logs: z.infer<typeof endpointLog>[];
} {
  const status: ReturnType<typeof followedStatus> = { worker_groups: [], endpoint_logs: [] };
  for (const log of logs) {
    const { source } = log;
    if (source.kind === 'workergroup')
      status.worker_groups.push({ workergroup_id: source.id, ...statusOf(log) });
    else status.endpoint_logs.push({ endpoint_group: source.name, endpoint_id: source.id, ...statusOf(log) });
  }
  return status;
}

function statusOf(log: LogView) {
  return {
    lines: log.lines,
    bytes: log.bytes,
    lines_per_second: log.linesPerSecond,
    gaps: log.gaps,
    lost_lines_estimate: log.lostEstimate,
    unknown_gaps: log.unknownGaps,
    stale_answers: log.staleAnswers,
    poll_interval_seconds: log.intervalMs / 1000,
    tail_size: log.tail,
    tail_unit: log.tailUnit ?? null,
    last_line_at: log.lastLineAt === undefined ? null : log.lastLineAt / 1000,
    last_error: log.error ?? null,
    last_lines: log.lastLines.map((line) => shortened(line)),
  };
}

/** The sinks get the whole line. */
const SHOWN_CHARACTERS = 2_000;

function shortened(line: string): string {
  if (line.length <= SHOWN_CHARACTERS) return line;
  return `${line.slice(0, SHOWN_CHARACTERS)} … (${line.length} characters)`;
}

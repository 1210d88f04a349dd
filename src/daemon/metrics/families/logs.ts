/** Metrics of each worker group's log, and of the sinks that its lines go to. */
import type { SinkStatus, WorkerGroupStatus } from '../../status/schema.ts';
import { one, type Family } from '../family.ts';

function perGroup(value: (group: WorkerGroupStatus) => number): Family['read'] {
  return ({ worker_groups }) =>
    worker_groups.map((group) => ({
      labels: { workergroup_id: group.workergroup_id },
      value: value(group),
    }));
}

function perSink(value: (sink: SinkStatus) => number): Family['read'] {
  return ({ sinks }) => sinks.map((sink) => ({ labels: { sink: sink.sink }, value: value(sink) }));
}

export const logFamilies: readonly Family[] = [
  {
    name: 'workergroup_log_lines_total',
    type: 'counter',
    help: 'Log lines taken, each once.',
    read: perGroup(({ lines }) => lines),
  },
  {
    name: 'workergroup_log_bytes_total',
    type: 'counter',
    help: 'Bytes of the log lines taken.',
    read: perGroup(({ bytes }) => bytes),
  },
  {
    name: 'workergroup_log_gaps_total',
    type: 'counter',
    help: 'Gaps in the log, by reason.',
    read: ({ worker_groups }) =>
      worker_groups.flatMap(({ workergroup_id, gaps }) =>
        Object.entries(gaps).map(([reason, value]) => ({ labels: { workergroup_id, reason }, value })),
      ),
  },
  {
    name: 'workergroup_log_lost_lines_estimate_total',
    type: 'counter',
    help: 'Lines that the service lost before they could be read, estimated; without gaps of unknown size.',
    read: perGroup(({ lost_lines_estimate }) => lost_lines_estimate),
  },
  {
    name: 'workergroup_log_stale_answers_total',
    type: 'counter',
    help: 'Answers that were older views of the log, of which nothing was taken.',
    read: perGroup(({ stale_answers }) => stale_answers),
  },
  {
    name: 'workergroup_log_failing',
    type: 'gauge',
    help: 'Whether the last poll of the log failed.',
    read: perGroup(({ last_error }) => Number(last_error !== null)),
  },
  {
    name: 'workergroup_log_poll_interval_seconds',
    type: 'gauge',
    help: 'Time between two polls of the log.',
    read: perGroup(({ poll_interval_seconds }) => poll_interval_seconds),
  },
  {
    name: 'workergroup_log_tail_size',
    type: 'gauge',
    help: 'Log units asked for at a poll.',
    read: perGroup(({ tail_size }) => tail_size),
  },
  {
    name: 'workergroup_log_last_line_timestamp_seconds',
    type: 'gauge',
    help: 'When the last line was taken; 0 before the first.',
    read: perGroup(({ last_line_at }) => last_line_at ?? 0),
  },
  {
    name: 'log_sink_delivered_lines_total',
    type: 'counter',
    help: 'Log records that the sink has accepted.',
    read: perSink(({ delivered_lines }) => delivered_lines),
  },
  {
    name: 'log_sink_dropped_lines_total',
    type: 'counter',
    help: 'Log records that the sink will never get, by reason.',
    read: ({ sinks }) =>
      sinks.flatMap(({ sink, dropped_lines }) =>
        Object.entries(dropped_lines).map(([reason, value]) => ({ labels: { sink, reason }, value })),
      ),
  },
  {
    name: 'log_spool_durable',
    type: 'gauge',
    help: 'Whether log records survive the process; 0 while STATE_DIR cannot be used, absent without it.',
    read: one(({ spool_durable }) => (spool_durable === null ? null : Number(spool_durable))),
  },
  {
    name: 'log_sink_lag_lines',
    type: 'gauge',
    help: 'Log records that wait for the sink.',
    read: perSink(({ lag_lines }) => lag_lines),
  },
];

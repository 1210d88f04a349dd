/** Metrics of each worker group's log, and of the sinks that its lines go to. */
import type { SinkStatus, WorkerGroupStatus } from '../../status/status.ts';
import type { Scrape } from '../scrape.ts';
import { numberText, type Family, type WrittenFamily } from '../series.ts';
import { one, spread, type Read } from './reading.ts';

type Write = WrittenFamily<Scrape>['write'];

function perGroup(value: (group: WorkerGroupStatus) => number): Write {
  return ({ worker_groups }, name, text) => {
    for (const group of worker_groups)
      text.add(`${name}{workergroup_id="${group.workergroup_id}"} ${numberText(value(group))}\n`);
  };
}

const writeGaps: Write = ({ worker_groups }, name, text) => {
  for (const { workergroup_id, gaps } of worker_groups)
    for (const reason in gaps)
      text.add(`${name}{workergroup_id="${workergroup_id}",reason="${reason}"} ${gaps[reason] ?? 0}\n`);
};

function perSink(value: (sink: SinkStatus) => number): Read {
  return ({ sinks }) => sinks.map((sink) => [{ sink: sink.sink }, value(sink)]);
}

export const logFamilies: readonly Family<Scrape>[] = [
  {
    name: 'workergroup_log_lines_total',
    type: 'counter',
    help: 'Log lines taken, each once.',
    write: perGroup(({ lines }) => lines),
  },
  {
    name: 'workergroup_log_bytes_total',
    type: 'counter',
    help: 'Bytes of the log lines taken.',
    write: perGroup(({ bytes }) => bytes),
  },
  {
    name: 'workergroup_log_gaps_total',
    type: 'counter',
    help: 'Gaps in the log, by reason.',
    write: writeGaps,
  },
  {
    name: 'workergroup_log_lost_lines_estimate_total',
    type: 'counter',
    help: 'Lines that the service lost before they could be read, estimated.',
    write: perGroup(({ lost_lines_estimate }) => lost_lines_estimate),
  },
  {
    name: 'workergroup_log_poll_interval_seconds',
    type: 'gauge',
    help: 'Time between two polls of the log.',
    write: perGroup(({ poll_interval_seconds }) => poll_interval_seconds),
  },
  {
    name: 'workergroup_log_tail_size',
    type: 'gauge',
    help: 'Log units asked for at a poll.',
    write: perGroup(({ tail_size }) => tail_size),
  },
  {
    name: 'workergroup_log_last_line_timestamp_seconds',
    type: 'gauge',
    help: 'When the last line was taken; 0 before the first.',
    write: perGroup(({ last_line_at }) => last_line_at ?? 0),
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
      sinks.flatMap(({ sink, dropped_lines }) => spread({ sink }, 'reason', dropped_lines)),
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

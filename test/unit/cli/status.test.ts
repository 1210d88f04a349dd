import { expect, test } from 'vitest';
import { describeStatus } from '../../../src/cli/commands/status.ts';
import type { SinkStatus, WorkerGroupStatus } from '../../../src/daemon/status/schema.ts';
import { EMPTY_STATUS } from '../../support/empty-status.ts';

const GROUP: WorkerGroupStatus = {
  workergroup_id: 7,
  lines: 120,
  bytes: 4_000,
  lines_per_second: 2,
  gaps: { overrun: 0, reset: 0, ambiguous: 0 },
  stale_answers: 0,
  lost_lines_estimate: 0,
  poll_interval_seconds: 2,
  tail_size: 200,
  last_line_at: null,
  last_error: null,
  last_lines: [],
};
const SINK: SinkStatus = {
  sink: 'otlp',
  delivered_lines: 100,
  dropped_lines: { overflow: 0, corruption: 0, rejected: 0 },
  lag_lines: 20,
  last_error: null,
};

test('the status in words: gaps of each log, and what waits for each sink', () => {
  const quiet = describeStatus({ ...EMPTY_STATUS, worker_groups: [GROUP], sinks: [SINK] });
  expect(quiet.slice(1)).toEqual([
    'worker group 7: 120 lines, 2.0 lines/s, no gaps',
    'log sink otlp: 100 delivered, 20 waiting',
  ]);
  const gaps = { overrun: 2, reset: 1, ambiguous: 0 };
  const dropped = { overflow: 0, corruption: 0, rejected: 3 };
  const troubled = describeStatus({
    ...EMPTY_STATUS,
    spool_durable: false,
    worker_groups: [{ ...GROUP, gaps, lost_lines_estimate: 350 }],
    sinks: [{ ...SINK, dropped_lines: dropped, last_error: 'connect ECONNREFUSED' }],
  });
  expect(troubled.slice(1)).toEqual([
    'worker group 7: 120 lines, 2.0 lines/s, gaps: 2 overrun, 1 reset, about 350 lines lost',
    'log sink otlp: 100 delivered, 20 waiting, 3 rejected dropped, last failure: connect ECONNREFUSED',
    'log records are in memory alone: PILOTLIGHT_STATE_DIR cannot be used, and is tried again',
  ]);
});

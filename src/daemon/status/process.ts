import * as z from 'zod';
import type { QueueView } from '../../client/request-queue.ts';
import { describeProblem, isError, type ConfigProblem } from '../../config/problem.ts';
import { withoutCredentials } from '../../config/addresses.ts';
import type { Report } from '../../heartbeat/process/link/link.ts';
import { APP_STATES, type AppSnapshot } from '../../heartbeat/view/snapshot.ts';
import { LIFECYCLE_STATES } from '../process/lifecycle.ts';
import { count, LABELS, metric, seconds, time } from './fact.ts';

export const state = metric(
  z.enum(LIFECYCLE_STATES),
  'up',
  'Where the daemon is in its life; 1 in the metric while it runs, else 0.',
  { value: (is) => is === 'running' },
);

export const replica = z.object({
  id: z.string().describe('Distinct for each replica and each of its lives'),
  role: metric(
    z.enum(['alone', 'holder', 'standby']),
    'replica_active',
    'holder: follows the logs and runs the watches; standby: another does; alone: without REDIS_URL. 0 in the metric for standby, else 1.',
    { value: (role) => role !== 'standby' },
  ),
  last_error: z.string().nullable().describe('The last error of Redis; null while it works'),
});

const avoidedAddress = metric(
  z.object({
    origin: z.string().describe('The service, or the proxy before it'),
    address: z.string(),
    reason: z.string().describe('How its last exchange ended'),
    since: time.describe('Since when none has ended well'),
  }),
  'heart_address_avoided',
  'An address of the service that failed lately; heartbeats go to the others. 1 in the metric for each.',
  { value: () => 1 },
);
LABELS.add(avoidedAddress, { labels: ['address', 'reason'] });

export const heart = z.object({
  daemon_restarts: metric(
    count,
    'daemon_restarts_total',
    'How often the heart has started the daemon again after it ended.',
  ),
  open_connections: metric(
    count,
    'heart_open_connections',
    'Connections that the heart has open to the service.',
  ),
  resident_memory_bytes: metric(
    count.nullable(),
    'heart_resident_memory_bytes',
    'Resident memory of the heart.',
  ),
  cpu_seconds: metric(
    seconds.nullable(),
    'heart_cpu_seconds_total',
    'User and system time of the heart since it began.',
  ),
  event_loop_lag_max_seconds: metric(
    seconds.nullable(),
    'heart_eventloop_lag_max_seconds',
    "Longest delay of the heart's event loop within the last minute or two. Delays under 0.25 s may be missed.",
  ),
  avoided_addresses: z.array(avoidedAddress),
});

export function heartStatus(restarts: number, report: Report | undefined): z.infer<typeof heart> {
  const { openConnections = 0, vitals, avoided = [] } = report ?? {};
  return {
    daemon_restarts: restarts,
    open_connections: openConnections,
    resident_memory_bytes: vitals?.residentBytes ?? null,
    cpu_seconds: vitals?.cpuSeconds ?? null,
    event_loop_lag_max_seconds: vitals ? vitals.lagMs / 1000 : null,
    avoided_addresses: avoided.map(({ origin, address, reason, since }) => {
      return { origin, address, reason, since: since / 1000 };
    }),
  };
}

export const rateLimit = z.object({
  allowed_requests_per_second: metric(
    z.number().min(0).nullable(),
    'rate_limit_allowed_requests_per_second',
    'Requests that the daemon may send beside the heartbeats, by the rate limit of the key; absent while no limit is known.',
  ),
  wanted_requests_per_second: metric(
    z.number().min(0),
    'rate_limit_wanted_requests_per_second',
    'Requests that logs, endpoints and watches need at their intervals.',
  ),
  stretch_ratio: metric(
    z.number().min(1),
    'rate_limit_stretch_ratio',
    'How much longer the intervals of logs, endpoints and watches are for the rate limit; 1: not longer.',
  ),
  waiting_requests: count,
  paused_seconds: seconds.describe('Until the service takes a request of the key again; 0: now'),
});

export function rateLimitStatus(view: QueueView): z.infer<typeof rateLimit> {
  return {
    allowed_requests_per_second: view.allowedPerSecond ?? null,
    wanted_requests_per_second: view.wantedPerSecond,
    stretch_ratio: view.stretchRatio,
    waiting_requests: view.waiting,
    paused_seconds: view.closedMs / 1000,
  };
}

export const app = z.object({
  address: z.string().describe('PILOTLIGHT_APP_HEALTH, without credentials'),
  state: z.enum(APP_STATES).describe('withheld: it was unhealthy for the grace, so no heartbeat is sent'),
  unhealthy_seconds: seconds.describe('How long it has been unhealthy, as far as it could be asked'),
  grace_seconds: seconds,
  last_error: z.string().nullable().describe('Why it was unhealthy when it was asked last'),
});

/** Null without an app, and before the first report. */
export function appStatus(
  address: string | undefined,
  snapshot: AppSnapshot | undefined,
): z.infer<typeof app> | null {
  if (address === undefined || snapshot === undefined) return null;
  return {
    address: withoutCredentials(address),
    state: snapshot.state,
    unhealthy_seconds: snapshot.unhealthyMs / 1000,
    grace_seconds: snapshot.graceMs / 1000,
    last_error: snapshot.why ?? null,
  };
}

export const configProblem = metric(
  z.object({
    variable: z.string(),
    severity: z
      .enum(['error', 'warning'])
      .describe('error: the feature is off until it is corrected; warning: no variable has this name'),
    problem: z.string().describe('What it got, and what is allowed'),
  }),
  'config_problem',
  'A variable with an error, which switches its feature off, or an unknown name, which is ignored. 1 in the metric for each.',
  { value: () => 1 },
);
LABELS.add(configProblem, { labels: ['variable'] });

/** A finding of a rule is shown with its group. */
export function configProblems(problems: readonly ConfigProblem[]): z.infer<typeof configProblem>[] {
  return problems
    .filter((problem) => problem.failsCheck || (isError(problem) && problem.rule === undefined))
    .map((problem) => ({
      variable: problem.variable,
      severity: isError(problem) ? 'error' : 'warning',
      problem: describeProblem(problem),
    }));
}

const serviceTrait = metric(
  z.object({
    trait: z.string(),
    value: z.string(),
    verdict: z
      .enum(['fine', 'differs', 'broken'])
      .describe('differs: it works, and is otherwise than the interface says'),
    says: z.string().describe('What it means here, and what to do'),
  }),
  'service_trait',
  'How the service behaves where that was not sure, as its answers told. 1 in the metric for each.',
  { value: () => 1 },
);
LABELS.add(serviceTrait, { labels: ['trait', 'value'] });

export const service = z.object({
  traits: z
    .array(serviceTrait)
    .describe('What no answer has told yet is missing; doctor says how to find out'),
  base_url: z.string(),
  serverless_url: z.string(),
  clock_skew_seconds: metric(
    z.number().nullable(),
    'api_clock_skew_seconds',
    "The service's clock minus this machine's, from the Date header of its last answer.",
  ),
});

/**
 * What the daemon sees, in one object: /api/status answers with it, the status page draws it, and the metrics
 * are read from it. Times are Unix seconds, fields are named as the metrics and the interface name them; what
 * is not known is null. No secret is ever in it.
 */
import type { Finding } from '../scaling/findings.ts';
import type { LifecycleState } from './lifecycle.ts';

export interface Status {
  readonly version: string;
  readonly revision: string;
  readonly node_version: string;
  readonly state: LifecycleState;
  readonly now: number;
  readonly started_at: number;
  readonly service: ServiceStatus;
  readonly deployments: readonly DeploymentStatus[];
  readonly worker_groups: readonly WorkerGroupStatus[];
  readonly sinks: readonly SinkStatus[];
  readonly endpoint_groups: readonly EndpointGroupStatus[];
  /** Status → count. */
  readonly instances: Readonly<Record<string, number>>;
  readonly maintenance_windows: readonly MaintenanceWindowStatus[];
  readonly account: AccountStatus | null;
  readonly jobs: readonly JobStatus[];
}

export interface ServiceStatus {
  readonly base_url: string;
  readonly serverless_url: string;
  /** Service's clock minus ours, from the Date header of the last answer. */
  readonly clock_skew_seconds: number | null;
}

export interface DeploymentStatus {
  readonly deployment_id: number;
  readonly state: string;
  readonly ttl_seconds: number | null;
  readonly interval_seconds: number;
  /** Attempts sent. */
  readonly heartbeats: number;
  readonly failures: Readonly<Record<string, number>>;
  /** When the last accepted heartbeat was sent. */
  readonly last_success_at: number | null;
  readonly next_heartbeat_at: number | null;
  /** Null without a TTL, and before the first accepted heartbeat. */
  readonly expires_at: number | null;
  /** Closest approach to expiry so far: remaining time over TTL. */
  readonly min_margin_ratio: number | null;
  readonly lapses: number;
  /** Why the last attempt that failed did, in words. */
  readonly last_error: string | null;
  readonly last_error_at: number | null;
  /** The last attempts, oldest first. */
  readonly beats: readonly BeatStatus[];
}

export interface BeatStatus {
  readonly at: number;
  /** `accepted`, `pending`, or why it failed. */
  readonly outcome: string;
  readonly latency_ms: number | null;
}

export interface WorkerGroupStatus {
  readonly workergroup_id: number;
  readonly lines: number;
  readonly bytes: number;
  readonly lines_per_second: number;
  /** Reason → count. */
  readonly gaps: Readonly<Record<string, number>>;
  readonly lost_lines_estimate: number;
  readonly poll_interval_seconds: number;
  readonly tail_size: number;
  readonly last_line_at: number | null;
  readonly last_error: string | null;
  readonly last_lines: readonly string[];
}

export interface SinkStatus {
  readonly sink: string;
  readonly delivered_lines: number;
  /** Reason → count. */
  readonly dropped_lines: Readonly<Record<string, number>>;
  readonly lag_lines: number;
}

export interface EndpointGroupStatus {
  readonly endpoint_group: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly findings: readonly Finding[];
}

export interface MaintenanceWindowStatus {
  readonly machine_id: number;
  readonly category: string;
  readonly starts_at: number;
  readonly ends_at: number;
}

export interface AccountStatus {
  readonly tfa_enabled: boolean;
  readonly tfa_status: string | null;
  readonly backup_codes_remaining: number;
  readonly locked_methods: number;
}

export interface JobStatus {
  readonly job: string;
  readonly schedule: string;
  readonly runs: number;
  readonly failures: number;
  readonly last_success_at: number | null;
  readonly last_error: string | null;
}

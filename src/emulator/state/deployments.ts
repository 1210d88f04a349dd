/** What the public dialect shows of a deployment and lets its owner change. */
export interface DeploymentTraits {
  name: string;
  tag: string;
  /** `active`, `stopped`, or whatever else a seed says. */
  endpointState: string;
  /** null: never expires. */
  ttlMs: number | null;
}

export interface DeploymentRecord extends DeploymentTraits {
  readonly id: number;
  readonly createdMs: number;
  updatedMs: number;
  /** From when the TTL counts while no heartbeat has come; null: from the first heartbeat on. */
  readonly countsFromMs: number | null;
  lastHeartbeatMs: number | null;
  expiredAtMs: number | null;
  /** Accepted heartbeats. */
  beats: number;
  /** Heartbeats that came when it was too late. */
  lateBeats: number;
  /** Smallest remaining time at an accepted heartbeat, in ms. */
  minMarginMs: number | null;
}

/** What the public dialect shows of a deployment and lets its owner change. */
export interface DeploymentTraits {
  name: string;
  tag: string;
  /** `active`, `stopped`, or whatever else a seed says. */
  endpointState: string;
  /** null: never expires. */
  ttlMs: number | null;
}

/** Code and surroundings of a deployment, as they were sent. */
export interface DeploymentVersion {
  readonly id: number;
  readonly image: string;
  readonly fileHash: string;
  /** In bytes; null where it is not known. */
  readonly fileSize: number | null;
  readonly label: string | null;
  readonly env: unknown;
  readonly storage: unknown;
  readonly searchParams: unknown;
  /** Unix time in ms. */
  readonly createdMs: number;
  /** When its file came, Unix ms; null while it has not. */
  uploadedMs: number | null;
  /** What an upload has to bring; null where none is waited for. */
  readonly uploadPolicy: string | null;
}

export interface DeploymentRecord extends DeploymentTraits {
  readonly id: number;
  readonly userId: number;
  /** Oldest first; the last one is in force, and there always is one. */
  versions: DeploymentVersion[];
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

/** Deployments and their TTL: what expired stays expired (§2.8). How close each came to it is counted. */
import { createHash } from 'node:crypto';
import { DEFAULT_TAG } from '../../contract/operations/serverless/deployment.ts';

/** Code and surroundings of a deployment, as they were sent; in the names and units of the interface. */
export interface DeploymentVersion {
  readonly id: number;
  readonly image: string;
  readonly file_hash: string;
  /** In bytes; null where it is not known. */
  readonly file_size: number | null;
  readonly version_label: string | null;
  readonly env: unknown;
  readonly storage: unknown;
  readonly search_params: unknown;
  readonly created_at: number;
  /** When its file came; null while it has not. */
  uploaded_at: number | null;
  /** What an upload has to bring; null where none is waited for. */
  readonly uploadPolicy: string | null;
}

export interface DeploymentRecord {
  readonly id: number;
  readonly userId: number;
  name: string;
  tag: string;
  /** `active`, `stopped`, or whatever else a seed says. */
  endpointState: string;
  /** null: never expires. */
  ttlMs: number | null;
  /** Oldest first; the last one is in force, and there always is one. */
  versions: DeploymentVersion[];
  readonly createdMs: number;
  updatedMs: number;
  /** From when the TTL counts while no heartbeat has come; null: from the first heartbeat on. */
  readonly countsFromMs: number | null;
  lastHeartbeatMs: number | null;
  expiredAtMs: number | null;
  beats: number;
  /** Heartbeats that came when it was too late. */
  lateBeats: number;
  /** Smallest remaining time at an accepted heartbeat, in ms. */
  minMarginMs: number | null;
}

type NewDeployment = Pick<DeploymentRecord, 'id' | 'userId' | 'ttlMs' | 'createdMs' | 'countsFromMs'> &
  Partial<Pick<DeploymentRecord, 'name' | 'tag' | 'endpointState' | 'lastHeartbeatMs' | 'versions'>>;

/** How a deployment begins; a version that is left out is made up, and stays the same for the deployment. */
export function createDeployment(given: NewDeployment): DeploymentRecord {
  const { id, createdMs } = given;
  return {
    name: `deployment-${id}`,
    tag: DEFAULT_TAG,
    endpointState: 'active',
    versions: [madeUpVersion(id, createdMs)],
    updatedMs: createdMs,
    lastHeartbeatMs: null,
    expiredAtMs: null,
    beats: 0,
    lateBeats: 0,
    minMarginMs: null,
    ...given,
  };
}

function madeUpVersion(id: number, createdMs: number): DeploymentVersion {
  return {
    id,
    image: 'vllm/vllm-openai:latest',
    file_hash: createHash('sha256').update(`${id}`).digest('hex'),
    file_size: null,
    version_label: null,
    env: null,
    storage: null,
    search_params: null,
    created_at: createdMs / 1000,
    uploaded_at: createdMs / 1000,
    uploadPolicy: null,
  };
}

/** Writes down an expiry that has come; to be called before any other look at the record. */
export function settleDeployment(deployment: DeploymentRecord, nowMs: number): void {
  const expiresAtMs = expiryOf(deployment);
  if (deployment.expiredAtMs !== null || expiresAtMs === null || nowMs < expiresAtMs) return;
  deployment.expiredAtMs = expiresAtMs;
  deployment.minMarginMs = 0;
}

/** Changes what is named; under a shortened TTL that is over already, it expires now. */
export function changeDeployment(
  deployment: DeploymentRecord,
  changes: Partial<Pick<DeploymentRecord, 'name' | 'tag' | 'endpointState' | 'ttlMs'>>,
  nowMs: number,
): void {
  settleDeployment(deployment, nowMs);
  const hadExpired = deployment.expiredAtMs !== null;
  Object.assign(deployment, changes, { updatedMs: nowMs });
  settleDeployment(deployment, nowMs);
  if (!hadExpired && deployment.expiredAtMs !== null) deployment.expiredAtMs = nowMs;
}

/** Takes a heartbeat; false when the deployment had expired before. */
export function beat(deployment: DeploymentRecord, nowMs: number): boolean {
  settleDeployment(deployment, nowMs);
  if (deployment.expiredAtMs !== null) {
    deployment.lateBeats += 1;
    return false;
  }
  const expiresAtMs = expiryOf(deployment);
  if (expiresAtMs !== null) {
    deployment.minMarginMs = Math.min(deployment.minMarginMs ?? Infinity, expiresAtMs - nowMs);
  }
  deployment.beats += 1;
  deployment.lastHeartbeatMs = nowMs;
  return true;
}

/** A deployment as a test sees it; times in ms since the Unix epoch, durations in ms. */
export type DeploymentView = Readonly<ReturnType<typeof viewDeployment>>;

export function viewDeployment(deployment: DeploymentRecord, nowMs: number) {
  settleDeployment(deployment, nowMs);
  const { id, name, tag, endpointState, ttlMs, lastHeartbeatMs } = deployment;
  const { expiredAtMs, beats, lateBeats, minMarginMs } = deployment;
  return {
    id,
    name,
    tag,
    endpointState,
    ttlMs,
    lastHeartbeatMs,
    /** When it expires if no further heartbeat comes, or when it did. */
    expiresAtMs: expiredAtMs ?? expiryOf(deployment),
    expiredAtMs,
    expired: expiredAtMs !== null,
    beats,
    lateBeats,
    /** Closest approach to expiry at any accepted heartbeat; 0 once it expired, null before the first heartbeat. */
    minMarginMs,
    /** The same as a fraction of the TTL, 0 to 1. */
    minMarginRatio: minMarginMs === null || ttlMs === null ? null : minMarginMs / ttlMs,
    /** How often it expired: it stays expired, so 0 or 1. */
    lapses: expiredAtMs === null ? 0 : 1,
  };
}

function expiryOf({ ttlMs, lastHeartbeatMs, countsFromMs }: DeploymentRecord): number | null {
  const fromMs = lastHeartbeatMs ?? countsFromMs;
  return ttlMs === null || fromMs === null ? null : fromMs + ttlMs;
}

/** Deployments and their TTL (§2.8). An expired deployment stays expired. */
import { createHash } from 'node:crypto';
import { DEFAULT_TAG } from '../../contract/operations/serverless/serverless.ts';

export interface DeploymentVersion {
  readonly id: number;
  readonly image: string;
  readonly file_hash: string;
  readonly file_size: number | null;
  readonly version_label: string | null;
  readonly env: unknown;
  readonly storage: unknown;
  readonly search_params: unknown;
  readonly created_at: number;
  uploaded_at: number | null;
  /** Secret of the awaited upload; null if none is awaited. */
  readonly uploadPolicy: string | null;
}

export interface DeploymentRecord {
  readonly id: number;
  readonly userId: number;
  name: string;
  tag: string;
  /** `active`, `stopped`, or any word of a seed. */
  endpointState: string;
  ttlMs: number | null;
  /** Oldest first; the last one is in force, and there is always one. */
  versions: DeploymentVersion[];
  readonly createdMs: number;
  updatedMs: number;
  /** Start of the TTL before the first heartbeat; null: it starts with that. */
  readonly countsFromMs: number | null;
  lastHeartbeatMs: number | null;
  expiredAtMs: number | null;
  beats: number;
  lateBeats: number;
  minMarginMs: number | null;
}

type NewDeployment = Pick<DeploymentRecord, 'id' | 'userId' | 'ttlMs' | 'createdMs' | 'countsFromMs'> &
  Partial<Pick<DeploymentRecord, 'name' | 'tag' | 'endpointState' | 'lastHeartbeatMs' | 'versions'>>;

/** Without given versions it gets a version that is the same in each run. */
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

/** Call before looking at the record. */
export function expireDeployment(deployment: DeploymentRecord, nowMs: number): void {
  const expiresAtMs = expiryOf(deployment);
  if (deployment.expiredAtMs !== null || expiresAtMs === null || nowMs < expiresAtMs) return;
  deployment.expiredAtMs = expiresAtMs;
  deployment.minMarginMs = 0;
}

/** If the new TTL is over already, it expires now. */
export function changeDeployment(
  deployment: DeploymentRecord,
  changes: Partial<Pick<DeploymentRecord, 'name' | 'tag' | 'endpointState' | 'ttlMs'>>,
  nowMs: number,
): void {
  expireDeployment(deployment, nowMs);
  const hadExpired = deployment.expiredAtMs !== null;
  Object.assign(deployment, changes, { updatedMs: nowMs });
  expireDeployment(deployment, nowMs);
  if (!hadExpired && deployment.expiredAtMs !== null) deployment.expiredAtMs = nowMs;
}

export function beat(deployment: DeploymentRecord, nowMs: number): boolean {
  expireDeployment(deployment, nowMs);
  if (deployment.expiredAtMs !== null) {
    deployment.lateBeats += 1;
    return false;
  }
  const expiresAtMs = expiryOf(deployment);
  if (expiresAtMs !== null)
    deployment.minMarginMs = Math.min(deployment.minMarginMs ?? Infinity, expiresAtMs - nowMs);
  deployment.beats += 1;
  deployment.lastHeartbeatMs = nowMs;
  return true;
}

/** A deployment as tests see it. Times in Unix ms, durations in ms. */
export type DeploymentView = Readonly<ReturnType<typeof viewDeployment>>;

export function viewDeployment(deployment: DeploymentRecord, nowMs: number) {
  expireDeployment(deployment, nowMs);
  const { id, name, tag, endpointState, ttlMs, lastHeartbeatMs } = deployment;
  const { expiredAtMs, beats, lateBeats, minMarginMs } = deployment;
  return {
    id,
    name,
    tag,
    endpointState,
    ttlMs,
    lastHeartbeatMs,
    /** Time of the expiry, past or to come. */
    expiresAtMs: expiredAtMs ?? expiryOf(deployment),
    expiredAtMs,
    expired: expiredAtMs !== null,
    beats,
    lateBeats,
    /** Least remaining time at a heartbeat; 0 once expired, null before the first. */
    minMarginMs,
    /** As a fraction of the TTL, 0 to 1. */
    minMarginRatio: minMarginMs === null || ttlMs === null ? null : minMarginMs / ttlMs,
    /** Number of expiries: 0 or 1. */
    lapses: expiredAtMs === null ? 0 : 1,
  };
}

function expiryOf({ ttlMs, lastHeartbeatMs, countsFromMs }: DeploymentRecord): number | null {
  const fromMs = lastHeartbeatMs ?? countsFromMs;
  return ttlMs === null || fromMs === null ? null : fromMs + ttlMs;
}

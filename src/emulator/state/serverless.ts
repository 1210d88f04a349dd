/** Endpoint groups, worker groups, workers and logs. A log stores its growth, not its lines. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { DeployRequest } from '../../contract/operations/serverless/deploy.ts';
import { DEFAULT_TAG } from '../../contract/operations/serverless/serverless.ts';
import type {
  EndpointGroupParameters,
  EndpointSettings,
  EndpointState,
} from '../../contract/operations/serverless/endpoint-groups.ts';
import type { StatusStep } from './instances.ts';
import type { Settings } from './settings.ts';

export interface EndpointGroupRecord {
  readonly id: number;
  readonly userId: number;
  readonly createdMs: number;
  /** As it was sent, so that rules can tell unset from default. */
  parameters: EndpointGroupParameters & EndpointSettings;
  state: EndpointState;
  /** A secret for the serverless address only. */
  readonly apiKey: string;
  /** It ends with this deployment; null: created by itself. */
  deploymentId: number | null;
  readonly logs: EndpointLogs;
  /** null: only requests by /route/. */
  load: LoadRecord | null;
  /** Its engine begins with the workers that the parameters keep. */
  readonly established: boolean;
  /** Its workers never finish starting. */
  hangs: boolean;
  requests: number;
}

/** `info1`: decisions; `info0`: looks too; `trace`, `debug`: values and workers of each look. */
export type EndpointLogs = Readonly<Record<'info0' | 'info1' | 'trace' | 'debug', GroupLog>>;

export const NO_TRAITS = {
  template_hash: null as string | null,
  template_id: null as number | null,
  search_query: null as Readonly<Record<string, unknown>> | null,
  launch_args: null as string | null,
  gpu_ram: null as number | null,
  test_workers: null as number | null,
  cold_workers: null as number | null,
};
export type WorkerGroupTraits = Readonly<typeof NO_TRAITS>;

export interface WorkerGroupRecord {
  readonly id: number;
  readonly userId: number;
  endpointId: number | null;
  readonly createdMs: number;
  traits: WorkerGroupTraits;
  readonly image: string;
  /** With a load, for each serving worker. */
  linesPerSecond: number;
  readonly log: GroupLog;
}

export type LineSource =
  | { readonly kind: 'generated'; readonly seed: number }
  /** With `loop` the lines begin again, else the log stops after them. */
  | { readonly kind: 'replay'; readonly lines: readonly string[]; readonly loop: boolean };

export interface Literal {
  readonly kind: 'literal';
  readonly first: number;
  readonly lines: string[];
}

export interface Growth {
  readonly kind: 'growth';
  readonly first: number;
  /** Line `n` (from 0) is written `(n + 1) / linesPerSecond` seconds later. */
  readonly sinceMs: number;
  readonly linesPerSecond: number;
  readonly sourceFirst: number;
  readonly source: LineSource;
  readonly end?: number;
}

export interface GroupLog {
  /** Ascending, without holes; the last one is an open growth, perhaps with rate 0. */
  segments: (Literal | Growth)[];
  readonly retainedLines: number;
  /** `clear` discarded the lines before this index. */
  clearedBefore: number;
  unfinished: string;
  /** By level: the current file, as far as read. */
  readonly files: Record<string, LogFile>;
}

interface LogFile {
  first: number;
  end: number;
  bytes: number;
}

/** `ready`: hot, busy or not. `error`: died. */
export type WorkerPhase = 'creating' | 'cold' | 'starting' | 'ready' | 'draining' | 'error' | 'destroying';

interface WorkerLife {
  phase: WorkerPhase;
  sinceMs: number;
  /** null before the first time, when its performance is unknown. */
  readyMs: number | null;
  startedMs: number;
}

/** It runs on the instance with its id. */
export interface WorkerRecord {
  readonly id: number;
  readonly groupId: number;
  /** Work units a second; null until the engine draws it. */
  perf: number | null;
  /** null: no engine moves it. */
  life: WorkerLife | null;
  /** Finished requests that it still counts (evidence 3.3). */
  stuckRequests: number;
  /** Another tenant has its GPU: once stopped it never starts again (evidence 5.4). */
  isStranded: boolean;
  /** Statuses of a running update, from `stepsFromMs`. */
  steps: readonly StatusStep<string>[];
  stepsFromMs: number;
}

/** Each request is really made, even when the clock skips a day. */
const MOST_REQUESTS_A_SECOND = 10_000;

const workUnits = z.number().positive().max(1e12);
const seconds = z.number().min(1);

export const loadSchema = z
  .strictObject({
    shape: z
      .enum(['constant', 'poisson', 'diurnal', 'bursts'])
      .describe(
        'constant: evenly spaced; poisson: at random; diurnal: at random, rising and falling over a day, lowest at its start; bursts: at random, more now and then',
      ),
    rate: workUnits.describe('work that arrives a second, in the mean, in units of performance'),
    request_work: workUnits.default(100).describe('work of a request, in the mean'),
    sizes: z
      .enum(['exponential', 'fixed'])
      .default('exponential')
      .describe('how the work of requests varies'),
    peak_ratio: z.number().min(1).default(4).describe('diurnal: highest rate over lowest'),
    period_seconds: seconds.default(86_400).describe('diurnal: from one low to the next'),
    burst_ratio: z.number().min(1).default(5).describe('bursts: rate in a burst over the rate outside'),
    burst_every_seconds: seconds.default(600).describe('bursts: mean time between them'),
    burst_seconds: seconds.default(60).describe('bursts: how long each lasts'),
    seed: z.int().optional().describe('of its random numbers; absent: the setting randomSeed'),
  })
  .superRefine(({ shape, rate, request_work, burst_ratio }, context) => {
    const requests = (rate / request_work) * (shape === 'bursts' ? burst_ratio : 1);
    if (requests <= MOST_REQUESTS_A_SECOND) return;
    const message = `at most ${MOST_REQUESTS_A_SECOND} requests a second; rate / request_work, × burst_ratio of bursts, is ${Number(requests.toPrecision(3))}`;
    context.addIssue({ code: 'custom', path: ['rate'], message });
  });
/** Requests for an endpoint: `shape` and `rate` say how they come, in work units a second. */
export type LoadInput = z.input<typeof loadSchema>;

export interface LoadRecord {
  readonly spec: z.output<typeof loadSchema> & { readonly seed: number };
  readonly sinceMs: number;
}

export function loadRecord(
  load: z.output<typeof loadSchema>,
  { randomSeed }: Settings,
  sinceMs: number,
): LoadRecord {
  return { spec: { ...load, seed: load.seed ?? randomSeed }, sinceMs };
}

type VersionContent = 'image' | 'file_hash' | 'version_label' | 'env' | 'storage' | 'search_params';

export interface DeploymentVersion extends Readonly<Pick<DeployRequest, VersionContent>> {
  readonly id: number;
  readonly file_size: number | null;
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
  /** Least remaining time at a heartbeat; 0 once expired, null before the first. */
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
  const { userId: _user, versions: _versions, ...shown } = deployment;
  const { expiredAtMs, minMarginMs, ttlMs } = shown;
  return {
    ...shown,
    /** Time of the expiry, past or to come. */
    expiresAtMs: expiredAtMs ?? expiryOf(deployment),
    expired: expiredAtMs !== null,
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

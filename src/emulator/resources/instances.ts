/** Instances and the statuses they pass through, pure: the status is a function of the time. */
import type { InstanceStatus } from '../../contract/operations/instance-list.ts';
import type { LaunchValues } from '../../contract/merge.ts';
import type { Settings } from '../seed/settings.ts';

export interface StatusStep {
  readonly status: InstanceStatus;
  /** How long it lasts before the next step; null: for good. */
  readonly durationMs: number | null;
}

export interface InstanceRecord {
  readonly id: number;
  readonly userId: number;
  readonly machineId: number;
  readonly label: string | null;
  readonly image: string;
  readonly gpuName: string;
  readonly gpuCount: number;
  /** Unix time in ms. */
  readonly createdMs: number;
  /** When the first of `steps` began. */
  stepsFromMs: number;
  steps: readonly StatusStep[];
  /** How it was rented; null for one that the seed has as it is. */
  readonly launch: InstanceLaunch | null;
}

/** An instance's part that comes from its offer, its template and the request. */
export interface InstanceLaunch {
  readonly offerId: number;
  readonly templateId: number | null;
  readonly templateHashId: string | null;
  readonly gpuRamMb: number;
  /** Price in $/h. */
  readonly dphTotal: number;
  /** The token is used and not kept. */
  readonly login: { readonly registry: string; readonly user: string } | null;
  readonly values: Readonly<Partial<Omit<LaunchValues, 'image' | 'label' | 'image_login'>>>;
}

export function statusAt(instance: InstanceRecord, nowMs: number): InstanceStatus {
  let endMs = instance.stepsFromMs;
  let status: InstanceStatus = 'created';
  for (const step of instance.steps) {
    status = step.status;
    if (step.durationMs === null) break;
    endMs += step.durationMs;
    if (nowMs < endMs) break;
  }
  return status;
}

/** What an instance goes through that starts without trouble. */
export function startingSteps(settings: Settings): StatusStep[] {
  return [
    { status: 'created', durationMs: settings.instanceCreatedSeconds * 1000 },
    { status: 'loading', durationMs: settings.instanceLoadingSeconds * 1000 },
    { status: 'running', durationMs: null },
  ];
}

/** From now on the instance has this status, for good. */
export function setInstanceStatus(instance: InstanceRecord, status: InstanceStatus, nowMs: number): void {
  instance.stepsFromMs = nowMs;
  instance.steps = [{ status, durationMs: null }];
}

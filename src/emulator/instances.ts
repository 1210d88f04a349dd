/** Instances and the statuses they pass through, pure: the status is a function of the time. */
import type { InstanceStatus } from '../contract/instances.ts';

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

/** From now on the instance has this status, for good. */
export function setInstanceStatus(instance: InstanceRecord, status: InstanceStatus, nowMs: number): void {
  instance.stepsFromMs = nowMs;
  instance.steps = [{ status, durationMs: null }];
}

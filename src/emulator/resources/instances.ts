/** Instances and the statuses they pass through, pure: the status is a function of the time. */
import type { InstanceStatus } from '../../contract/operations/instances/instance-list.ts';
import type { InstanceRecord, InstanceStep } from '../state/instances.ts';
import type { Settings } from '../state/settings.ts';

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
export function startingSteps(settings: Settings): InstanceStep[] {
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

/** As its owner wants it: one that is stopped has exited, and can be started again. */
export function stopInstance(instance: InstanceRecord, nowMs: number): void {
  if (instance.intendedStatus === 'stopped') return;
  instance.intendedStatus = 'stopped';
  setInstanceStatus(instance, 'exited', nowMs);
}

/** Its image is there already, so it loads and runs. */
export function startInstance(instance: InstanceRecord, settings: Settings, nowMs: number): void {
  if (instance.intendedStatus === 'running') return;
  instance.intendedStatus = 'running';
  instance.stepsFromMs = nowMs;
  instance.steps = startingSteps(settings).slice(1);
}

/** Instances, machines and what of them can be rented. The status of an instance is a function of the time. */
import type { LaunchValues } from '../../contract/merge.ts';
import type { InstanceStatus } from '../../contract/operations/instances/instance-list.ts';
import type { MaintenanceWindow } from '../../contract/operations/machines.ts';
import type { Settings } from './settings.ts';

export type InstanceStep = StatusStep<InstanceStatus>;

export interface InstanceRecord {
  readonly id: number;
  readonly userId: number;
  readonly machineId: number;
  label: string | null;
  readonly image: string;
  readonly gpuName: string;
  readonly gpuCount: number;
  /** Memory of one GPU, in MB (§1); null where the seed does not say. */
  readonly gpuRamMb: number | null;
  /** Price in $/h; null where the seed does not say. */
  readonly dphTotal: number | null;
  /** Unix time in ms. */
  readonly createdMs: number;
  /** When the first of `steps` began. */
  stepsFromMs: number;
  steps: readonly InstanceStep[];
  /** What its owner wants it to be. */
  intendedStatus: 'running' | 'stopped';
  /** How it was rented; null for one that the seed has as it is. */
  readonly launch: InstanceLaunch | null;
}

/** An instance's part that comes from its offer, its template and the request. */
interface InstanceLaunch {
  readonly offerId: number;
  readonly templateId: number | null;
  readonly templateHashId: string | null;
  /** The token is used and not kept. */
  readonly login: { readonly registry: string; readonly user: string } | null;
  readonly values: Readonly<Partial<Omit<LaunchValues, 'image' | 'label' | 'image_login'>>>;
}

/** A status that passes into the next one by itself. */
export interface StatusStep<Status extends string> {
  readonly status: Status;
  /** How long it lasts before the next step; null: for good. */
  readonly durationMs: number | null;
}

export interface MachineRecord {
  readonly id: number;
  maintenances: MaintenanceWindow[];
}

export interface OfferRecord {
  readonly id: number;
  readonly machineId: number;
  readonly gpuName: string;
  readonly gpuCount: number;
  /** Memory of one GPU, in MB (§1). */
  readonly gpuRamMb: number;
  /** Price in $/h. */
  readonly dphTotal: number;
  readonly diskSpaceGb: number;
  /** What an instance goes through that is made from it; null: it starts without trouble. */
  readonly steps: readonly InstanceStep[] | null;
  /** The instance that holds it. */
  rentedBy: number | null;
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

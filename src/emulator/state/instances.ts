/** Instances, machines and offers. The status is a function of time. */
import { DAY_MS } from '../../contract/times.ts';
import type { LaunchValues } from '../../contract/merge.ts';
import type { InstanceStatus } from '../../contract/operations/instances/instance-list.ts';
import type { MaintenanceWindow } from '../../contract/operations/machines.ts';
import type { Settings } from './settings.ts';

type InstanceStep = StatusStep<InstanceStatus>;

/** In the names and units of the interface (§1); null: not in the seed. */
interface Hardware {
  readonly machine_id: number;
  readonly gpu_name: string;
  readonly num_gpus: number;
  readonly gpu_ram: number | null;
  readonly dph_total: number | null;
}

export interface InstanceRecord {
  readonly id: number;
  readonly userId: number;
  readonly hardware: Hardware;
  label: string | null;
  readonly image: string;
  readonly createdMs: number;
  stepsFromMs: number;
  steps: readonly InstanceStep[];
  readonly usage: { untilMs: number; readonly days: DayUsage[] };
  intendedStatus: 'running' | 'stopped';
  readonly launch: InstanceLaunch | null;
}
interface DayUsage {
  readonly dayMs: number;
  gpuMs: number;
  diskMs: number;
}

export interface FormerInstance {
  readonly instance: InstanceRecord;
  readonly groupId: number | null;
  readonly endpointId: number | null;
}

interface InstanceLaunch {
  readonly template_id: number | null;
  readonly template_hash_id: string | null;
  readonly login: { readonly registry: string; readonly user: string } | null;
  readonly values: Readonly<Partial<Omit<LaunchValues, 'image' | 'label' | 'image_login'>>>;
}

export interface StatusStep<Status extends string> {
  readonly actual_status: Status;
  /** Absent: for good. */
  readonly seconds?: number | undefined;
}

export interface MachineRecord {
  readonly id: number;
  maintenances: MaintenanceWindow[];
}

export interface OfferRecord extends Hardware {
  readonly id: number;
  readonly gpu_ram: number;
  readonly dph_total: number;
  readonly disk_space: number;
  /** Steps of its instance; absent: it starts without trouble. */
  readonly statuses?: readonly InstanceStep[] | undefined;
  rented_by: number | null;
}

type NewInstance = Pick<InstanceRecord, 'id' | 'userId' | 'hardware' | 'image' | 'createdMs' | 'steps'> &
  Partial<Pick<InstanceRecord, 'label' | 'intendedStatus' | 'launch'>>;

export function newInstance(given: NewInstance): InstanceRecord {
  const { createdMs } = given;
  const begun = { stepsFromMs: createdMs, usage: { untilMs: createdMs, days: [] } };
  return { label: null, intendedStatus: 'running', launch: null, ...given, ...begun };
}

interface Stepping<Status extends string> {
  readonly steps: readonly StatusStep<Status>[];
  readonly stepsFromMs: number;
}

export function* spansOf<Status extends string>({ steps, stepsFromMs }: Stepping<Status>) {
  let fromMs = stepsFromMs;
  for (const { actual_status: status, seconds } of steps) {
    const toMs = fromMs + (seconds ?? Infinity) * 1000;
    yield { status, fromMs, toMs };
    if (toMs === Infinity) return;
    fromMs = toMs;
  }
}

export function statusAt(instance: InstanceRecord, nowMs: number): InstanceStatus {
  let status: InstanceStatus = 'created';
  for (const span of spansOf(instance)) {
    ({ status } = span);
    if (nowMs < span.toMs) break;
  }
  return status;
}

export function startingSteps(settings: Settings): InstanceStep[] {
  const { instanceCreatedSeconds: seconds } = settings;
  return [{ actual_status: 'created', seconds }, ...restartingSteps(settings.instanceLoadingSeconds)];
}

/** The image is already there. */
export function restartingSteps(seconds: number): InstanceStep[] {
  return [{ actual_status: 'loading', seconds }, { actual_status: 'running' }];
}

export function changeSteps(instance: InstanceRecord, steps: readonly InstanceStep[], nowMs: number): void {
  countUsage(instance, nowMs);
  instance.stepsFromMs = nowMs;
  instance.steps = steps;
}

export function setInstanceStatus(instance: InstanceRecord, status: InstanceStatus, nowMs: number): void {
  changeSteps(instance, [{ actual_status: status }], nowMs);
}

/** A stopped instance has exited, and can start again. */
export function stopInstance(instance: InstanceRecord, nowMs: number): void {
  if (instance.intendedStatus === 'stopped') return;
  instance.intendedStatus = 'stopped';
  setInstanceStatus(instance, 'exited', nowMs);
}

export function startInstance(instance: InstanceRecord, settings: Settings, nowMs: number): void {
  if (instance.intendedStatus === 'running') return;
  instance.intendedStatus = 'running';
  changeSteps(instance, restartingSteps(settings.instanceLoadingSeconds), nowMs);
}

/** Evidence 9.4. */
export const BILLED: Readonly<Record<InstanceStatus, { readonly gpu: boolean; readonly disk: boolean }>> = {
  created: { gpu: false, disk: true },
  loading: { gpu: true, disk: true },
  running: { gpu: true, disk: true },
  exited: { gpu: false, disk: true },
  unknown: { gpu: false, disk: false },
  offline: { gpu: false, disk: false },
};

export function countUsage(instance: InstanceRecord, nowMs: number): void {
  const { usage } = instance;
  const spans = [...spansOf(instance)];
  for (const [index, { status, fromMs, toMs }] of spans.entries()) {
    const endMs = index === spans.length - 1 ? nowMs : Math.min(nowMs, toMs);
    addUsage(usage.days, status, Math.max(fromMs, usage.untilMs), endMs);
  }
  usage.untilMs = Math.max(usage.untilMs, nowMs);
}

function addUsage(days: DayUsage[], status: InstanceStatus, fromMs: number, toMs: number): void {
  const { gpu, disk } = BILLED[status];
  if (!disk) return;
  for (let atMs = fromMs; atMs < toMs;) {
    const dayMs = Math.floor(atMs / DAY_MS) * DAY_MS;
    const spanMs = Math.min(toMs, dayMs + DAY_MS) - atMs;
    const last = days.at(-1);
    const day = last?.dayMs === dayMs ? last : { dayMs, gpuMs: 0, diskMs: 0 };
    if (day !== last) days.push(day);
    if (gpu) day.gpuMs += spanMs;
    day.diskMs += spanMs;
    atMs += spanMs;
  }
}

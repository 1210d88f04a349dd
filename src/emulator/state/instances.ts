import type { LaunchValues } from '../../contract/merge.ts';
import type { InstanceStatus } from '../../contract/operations/instances/instance-list.ts';
import type { StatusStep } from './steps.ts';

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
export interface InstanceLaunch {
  readonly offerId: number;
  readonly templateId: number | null;
  readonly templateHashId: string | null;
  /** The token is used and not kept. */
  readonly login: { readonly registry: string; readonly user: string } | null;
  readonly values: Readonly<Partial<Omit<LaunchValues, 'image' | 'label' | 'image_login'>>>;
}

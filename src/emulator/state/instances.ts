import type { LaunchValues } from '../../contract/merge.ts';
import type { InstanceStatus } from '../../contract/operations/instance-list.ts';

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

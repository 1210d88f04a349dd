/** What a world is. */
import type { LoadShape } from '../../../src/scaling/planner/load/generators.ts';
import type { PlanSettings } from '../../../src/scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../../src/scaling/rules/findings.ts';

/** Between two looks. */
export const LOOK_SECONDS = 15;

/** How things are from a moment on. */
export interface Phase {
  readonly fromSeconds: number;
  /** Of what new workers can do, and those that are there, against how it was at first. */
  readonly performance: number;
  readonly prices: number;
  readonly starts: number;
}

export interface World {
  readonly seed: number;
  readonly hours: number;
  readonly parameters: ResolvedParameters;
  /** As they are at first. */
  readonly settings: PlanSettings;
  readonly load: {
    readonly shape: LoadShape;
    readonly unitsPerSecond: number;
    readonly unitsPerRequest: number;
    readonly sizes: 'exponential' | 'fixed';
  };
  /** In order; the first from 0 on. */
  readonly phases: readonly Phase[];
  /** Shares of the load that go to worker groups of their own, and how fast the workers of each are. */
  readonly groups: readonly { readonly share: number; readonly speed: number }[];
  /** Seconds, from and to, in which nobody looks. */
  readonly holes: readonly (readonly [number, number])[];
}

/** The metrics that show the status: name, help, labels, and where in the status each comes from. */
import type { Status } from '../status.ts';
import { deploymentFamilies } from './families/deployments.ts';
import { logFamilies } from './families/logs.ts';
import { processFamilies } from './families/process.ts';
import { watchFamilies } from './families/watches.ts';
import type { Family } from './series.ts';

export const STATUS_FAMILIES: readonly Family<Status>[] = [
  ...processFamilies,
  ...deploymentFamilies,
  ...logFamilies,
  ...watchFamilies,
];

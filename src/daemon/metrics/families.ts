/** The metrics that show the status: name, help, labels, and where in the status each comes from. */
import { deploymentFamilies } from './families/deployments.ts';
import { logFamilies } from './families/logs.ts';
import { processFamilies } from './families/process.ts';
import { watchFamilies } from './families/watches.ts';
import type { Scrape } from './scrape.ts';
import type { Family } from './series.ts';

export const STATUS_FAMILIES: readonly Family<Scrape>[] = [
  ...processFamilies,
  ...deploymentFamilies,
  ...logFamilies,
  ...watchFamilies,
];

/** What the metrics are read from at a scrape: the status, with the deployments as rows of numbers. */
import type { DeploymentFigures } from '../../heartbeat/view/figures.ts';
import type { Status } from '../status/status.ts';

export type Scrape = Omit<Status, 'deployments'> & { readonly deployments: DeploymentFigures };

import type { World } from './service.ts';
import { settleDeployment } from '../resources/deployments.ts';
import { settleEndpoints } from '../serverless/endpoints.ts';
import { settleTfa } from '../tfa/account/settle.ts';

/** Writes down everything that has fallen due, before the clock jumps (it may jump back). */
export function settle({ state, fleets }: World, nowMs: number): void {
  for (const deployment of state.deployments.values()) settleDeployment(deployment, nowMs);
  settleEndpoints(state, nowMs);
  fleets.settle(state, nowMs);
  settleTfa(state, nowMs);
}

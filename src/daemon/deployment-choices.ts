/** Which deployments are kept alive, and how their heartbeats are timed, by the settings. */
import type { DeploymentChoice } from '../heartbeat/driver.ts';
import type { Settings } from '../config/options.ts';

export type HeartbeatSettings = Pick<
  Settings,
  'baseUrl' | 'deployments' | 'deploymentTtl' | 'heartbeatInterval'
>;

/** @param learned TTLs that the service told, ms by id; what the settings say comes first. */
export function deploymentChoices(
  settings: HeartbeatSettings,
  learned: ReadonlyMap<number, number> = new Map(),
): DeploymentChoice[] {
  const { deployments, deploymentTtl, heartbeatInterval } = settings;
  return deployments.flatMap((wanted) => {
    // Which ids a name has, only the service's list tells.
    if (wanted.by === 'name') return [];
    const { id, ttlMs } = wanted;
    return [{ id, ttl: ttlMs ?? deploymentTtl ?? learned.get(id), interval: heartbeatInterval }];
  });
}

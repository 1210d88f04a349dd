/**
 * Everything the emulated service remembers: plain data, so that a snapshot is a structured clone. Records
 * are changed in place, since copying a map at every heartbeat would cost O(n); in return every handler does
 * all its checks before its first change, so that a refused request leaves no trace.
 */
import type { ApiKeyRecord } from './api-keys.ts';
import type { DeploymentRecord } from './endpoints/deployments.ts';
import type { EndpointGroupRecord } from './endpoints/endpoint-groups.ts';
import type { InstanceRecord } from './instances.ts';
import type { MachineRecord, OfferRecord } from './machines.ts';
import type { Settings } from './settings.ts';
import type { TemplateRecord } from './templates.ts';
import type { RateLimitState, Traits } from './traits.ts';
import type { TfaState } from './two-factor.ts';
import type { TeamRoleRecord, UserRecord } from './users.ts';
import type { WorkerGroupRecord } from './endpoints/worker-groups.ts';
import type { WorkerRecord } from './endpoints/workers.ts';

export interface State {
  readonly settings: Settings;
  /** Swapped as a whole when some of them change. */
  traits: Traits;
  rateLimit: RateLimitState;
  readonly users: Map<number, UserRecord>;
  /** By the key's secret value. */
  readonly keys: Map<string, ApiKeyRecord>;
  readonly deployments: Map<number, DeploymentRecord>;
  readonly workerGroups: Map<number, WorkerGroupRecord>;
  /** By the id of the instance that each runs on. */
  readonly workers: Map<number, WorkerRecord>;
  readonly machines: Map<number, MachineRecord>;
  readonly instances: Map<number, InstanceRecord>;
  readonly templates: Map<number, TemplateRecord>;
  readonly offers: Map<number, OfferRecord>;
  readonly endpointGroups: Map<number, EndpointGroupRecord>;
  readonly teamRoles: Map<number, TeamRoleRecord>;
  /** Kind of thing → the last id that one got; see next-id.ts. */
  readonly lastIds: Map<string, number>;
  /** `operation key-id` → Unix ms of the last call, for the minimum interval. */
  readonly lastCalls: Map<string, number>;
  readonly tfa: TfaState;
}

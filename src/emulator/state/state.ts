/** Plain data, so that a snapshot is a clone. Handlers check everything before their first change. */
import type { TemplateFields } from '../../contract/operations/templates.ts';
import type { DeploymentRecord } from './deployments.ts';
import type { EndpointGroupRecord, WorkerGroupRecord, WorkerRecord } from './endpoints.ts';
import type { FormerInstance, InstanceRecord, MachineRecord, OfferRecord } from './instances.ts';
import type { Settings } from './settings.ts';
import type { RateLimitState, Traits } from './traits.ts';
import type { ApiKeyRecord, TeamRoleRecord, TfaState, UserRecord } from './users.ts';

export interface State {
  readonly settings: Settings;
  traits: Traits;
  rateLimit: RateLimitState;
  readonly users: Map<number, UserRecord>;
  readonly keys: Map<string, ApiKeyRecord>;
  readonly deployments: Map<number, DeploymentRecord>;
  readonly workerGroups: Map<number, WorkerGroupRecord>;
  /** By the id of its instance. */
  readonly workers: Map<number, WorkerRecord>;
  readonly machines: Map<number, MachineRecord>;
  readonly instances: Map<number, InstanceRecord>;
  readonly formerInstances: FormerInstance[];
  readonly templates: Map<number, TemplateRecord>;
  readonly offers: Map<number, OfferRecord>;
  readonly endpointGroups: Map<number, EndpointGroupRecord>;
  readonly teamRoles: Map<number, TeamRoleRecord>;
  readonly lastIds: Map<string, number>;
  readonly tfa: TfaState;
}

export type TemplateContent = Readonly<TemplateFields>;

export interface TemplateRecord {
  readonly id: number;
  readonly creator_id: number;
  readonly recommended: boolean;
  readonly default_tag: string;
  readonly created_at: number;
  content: TemplateContent;
  hash_id: string;
  count_created: number;
  recent_create_date: number | null;
}

export type Numbered =
  | 'deployment'
  | 'deployment version'
  | 'worker group'
  | 'template'
  | 'instance'
  | 'api key'
  | 'team role'
  | 'endpoint group';

export function nextId(state: State, kind: Numbered, taken: Iterable<number>): number {
  let last = state.lastIds.get(kind) ?? 0;
  for (const id of taken) last = Math.max(last, id);
  state.lastIds.set(kind, last + 1);
  return last + 1;
}

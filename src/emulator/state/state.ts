/**
 * Everything the emulated service remembers: plain data, so that a snapshot is a clone. Records are changed in
 * place, so a handler does all its checks before its first change. Times in `…Ms` are Unix ms on the emulator's clock.
 */
import type { TemplateFields } from '../../contract/operations/templates.ts';
import type { DeploymentRecord } from './deployments.ts';
import type { EndpointGroupRecord, WorkerGroupRecord, WorkerRecord } from './endpoints.ts';
import type { FormerInstance, InstanceRecord, MachineRecord, OfferRecord } from './instances.ts';
import type { Settings } from './settings.ts';
import type { RateLimitState, Traits } from './traits.ts';
import type { ApiKeyRecord, TeamRoleRecord, TfaState, UserRecord } from './users.ts';

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
  readonly formerInstances: FormerInstance[];
  readonly templates: Map<number, TemplateRecord>;
  readonly offers: Map<number, OfferRecord>;
  readonly endpointGroups: Map<number, EndpointGroupRecord>;
  readonly teamRoles: Map<number, TeamRoleRecord>;
  /** Kind of thing → the last id that one got. */
  readonly lastIds: Map<string, number>;
  readonly tfa: TfaState;
}

/** Fields that are set, or have a default; null is unset. */
export type TemplateContent = Readonly<TemplateFields>;

/** In the names and units of the interface. */
export interface TemplateRecord {
  readonly id: number;
  readonly creator_id: number;
  readonly recommended: boolean;
  /** What `tag` is without one. */
  readonly default_tag: string;
  readonly created_at: number;
  content: TemplateContent;
  hash_id: string;
  /** Instances made from it so far, by anybody. */
  count_created: number;
  /** When the last one was made; null before the first. */
  recent_create_date: number | null;
}

/** The kinds of things that get an id of their own when they are created. */
export type Numbered =
  | 'deployment'
  | 'deployment version'
  | 'worker group'
  | 'template'
  | 'instance'
  | 'api key'
  | 'team role'
  | 'endpoint group';

/** `taken`: ids that exist, those of the seed among them. */
export function nextId(state: State, kind: Numbered, taken: Iterable<number>): number {
  let last = state.lastIds.get(kind) ?? 0;
  for (const id of taken) last = Math.max(last, id);
  state.lastIds.set(kind, last + 1);
  return last + 1;
}

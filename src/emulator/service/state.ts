/**
 * Everything the emulated service remembers: plain data, so that a snapshot is a structured clone. Records
 * are changed in place, since copying a map at every heartbeat would cost O(n); in return every handler does
 * all its checks before its first change, so that a refused request leaves no trace.
 */
import type { MaintenanceWindow } from '../../contract/operations/machines.ts';
import { settleDeployment, type DeploymentRecord } from '../resources/deployments.ts';
import type { GroupLog } from '../worker-log/group-log.ts';
import type { EndpointGroupRecord } from '../resources/endpoint-groups.ts';
import type { InstanceRecord } from '../resources/instances.ts';
import type { OfferRecord } from '../resources/offers.ts';
import type { Settings } from '../seed/settings.ts';
import type { TeamRoleRecord } from '../resources/team-roles.ts';
import type { TemplateRecord } from '../resources/templates.ts';
import { settleTfa } from '../tfa/account/settle.ts';
import type { TfaAccount, TfaState } from '../tfa/account/records.ts';

export interface State {
  readonly settings: Settings;
  readonly users: Map<number, UserRecord>;
  /** By the key's secret value. */
  readonly keys: Map<string, ApiKeyRecord>;
  readonly deployments: Map<number, DeploymentRecord>;
  readonly workerGroups: Map<number, WorkerGroupRecord>;
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

export interface UserRecord {
  readonly id: number;
  readonly username: string;
  readonly email: string | null;
  /** Unix time in seconds; null while unverified. */
  emailVerifiedAt: number | null;
  readonly isAdmin: boolean;
  /** The team in whose context this user's team keys act. */
  readonly teamId: number;
  readonly tfa: TfaAccount;
}

export interface ApiKeyRecord {
  readonly id: number;
  /** For people; what journal and faults call the key by, since the value is a secret. */
  readonly name: string;
  readonly userId: number;
  /** null: full access. Flags (`{manage_billing: true}`) or the public nesting (`{api: {user_read: {}}}`). */
  readonly permissions: Readonly<Record<string, unknown>> | null;
  /** Used in a team's context rather than the user's own. */
  readonly team: boolean;
}

interface WorkerGroupRecord {
  readonly id: number;
  readonly log: GroupLog;
}

interface MachineRecord {
  readonly id: number;
  maintenances: MaintenanceWindow[];
}

/** Writes down everything that has fallen due, before the clock jumps (it may jump back). */
export function settle(state: State, nowMs: number): void {
  for (const deployment of state.deployments.values()) settleDeployment(deployment, nowMs);
  settleTfa(state, nowMs);
}

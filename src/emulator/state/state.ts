/** Plain data, so that a snapshot is a clone. Handlers check everything before their first change. */
import type { TemplateFields } from '../../contract/operations/templates.ts';
import type { FormerInstance, InstanceRecord, MachineRecord, OfferRecord } from './instances.ts';
import type { DeploymentRecord, EndpointGroupRecord, WorkerGroupRecord, WorkerRecord } from './serverless.ts';
import type { RateLimitState, Settings, Traits } from './settings.ts';

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
  | 'endpoint group'
  | '2FA method';

export function nextId(state: State, kind: Numbered, taken: Iterable<number>): number {
  let last = state.lastIds.get(kind) ?? 0;
  for (const id of taken) last = Math.max(last, id);
  state.lastIds.set(kind, last + 1);
  return last + 1;
}

/** A record that another one refers to, unless it refers to none. */
export function referred<Item>(items: ReadonlyMap<number, Item>, id: number | null): Item | undefined {
  return id === null ? undefined : items.get(id);
}

/** Names are unique within an account (evidence 4.4). */
export function endpointNamed(
  { endpointGroups }: State,
  name: string | undefined,
  owner: number | undefined,
): EndpointGroupRecord | undefined {
  if (name === undefined) return undefined;
  return endpointGroups
    .values()
    .find(({ userId, parameters }) => userId === owner && parameters.endpoint_name === name);
}

export interface UserRecord {
  readonly id: number;
  readonly username: string;
  readonly email: string | null;
  email_verified_at: number | null;
  readonly is_admin: boolean;
  readonly team_id: number;
  readonly tfa: TfaAccount;
}

/** A role of a team; `created_at` in Unix seconds. */
export interface TeamRoleRecord {
  readonly id: number;
  readonly team_id: number;
  readonly name: string;
  readonly permissions: Readonly<Record<string, unknown>>;
  readonly created_at: number;
}

export interface ApiKeyRecord {
  readonly id: number;
  /** Journal and faults name the key so: its value is a secret. */
  readonly name: string;
  readonly userId: number;
  /** null: full access. Flags (`{manage_billing: true}`) or nested (`{api: {user_read: {}}}`). */
  readonly permissions: Readonly<Record<string, unknown>> | null;
  readonly team: boolean;
  readonly byTfa?: boolean;
}

interface TfaState {
  readonly challenges: Map<string, Challenge>;
  readonly sessions: Map<string, SessionRecord>;
  readonly outbox: SentMessage[];
  /** Times in Unix ms of codes sent before any login. */
  readonly phoneUse: Map<string, number[]>;
  blocked_numbers: readonly string[];
  sms_provider: (typeof SMS_PROVIDERS)[number];
  store: (typeof BACKING_STORES)[number];
}

/** `failing`: twilio_error; `rate limited`: twilio_rate_limited. */
export const SMS_PROVIDERS = ['up', 'failing', 'rate limited'] as const;

/** `read only`: challenge_creation_failed; `down`: nothing can be checked either. */
export const BACKING_STORES = ['up', 'read only', 'down'] as const;

export interface TfaAccount {
  /** 2FA without a method row, from before methods were stored (§2.4). */
  legacy: boolean;
  /** E.164; a legacy account gets its codes there. */
  phone_number: string | null;
  sms_fraud: boolean;
  methods: TfaMethodRecord[];
  backupCodes: string[];
  /** End of the 30-minute window for adding a method, Unix ms. */
  authorizedUntilMs: number | null;
  smsSentAtMs: number[];
}

/** Times in Unix seconds. */
export interface TfaMethodRecord {
  readonly id: number;
  readonly method: 'sms' | 'totp';
  label: string | null;
  readonly phone_number: string | null;
  /** Base32; null or unreadable: not configured. */
  totp_secret: string | null;
  is_primary: boolean;
  fail_count: number;
  locked_until: number | null;
  readonly created_at: number;
  last_used: number | null;
}

export type Channel = 'sms' | 'email';

/** `login`: awaits a second factor; `code`: asked for with a key; `authorize`: step 1 of adding a method. */
export interface Challenge {
  secret: string;
  readonly userId: number;
  readonly purpose: 'login' | 'code' | 'authorize';
  readonly by: Channel | { readonly totpMethodId: number } | null;
  readonly codes: Record<Channel, SentCode | null>;
  expiresAtMs: number;
}

export interface SentCode {
  readonly code: string;
  expiresAtMs: number;
  readonly phone_number: string | null;
  readonly methodId: number | null;
  /** Wrong codes, if no method counts them. */
  failures: number;
}
export interface SessionRecord extends ApiKeyRecord {
  expiresAtMs: number;
  readonly admin: boolean;
}

/** A sent code. Times in Unix ms. */
export interface SentMessage {
  /** Counts from 1. */
  readonly seq: number;
  readonly atMs: number;
  readonly userId: number;
  readonly channel: Channel;
  /** Phone number or e-mail address. */
  readonly to: string;
  readonly code: string;
  readonly expiresAtMs: number;
}

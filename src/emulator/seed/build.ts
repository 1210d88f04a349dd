/** Seed → state, pure. */
import type { z } from 'zod';
import { TEMPLATE_DEFAULTS } from '../../contract/operations/templates.ts';
import { newWorker } from '../fleet/workers.ts';
import { newGroup } from '../handlers/endpoint-groups.ts';
import { newTemplate } from '../handlers/templates.ts';
import { DEFAULT_IMAGE, NO_TRAITS } from '../handlers/workergroups.ts';
import { createRandom, mixSeeds, type Random } from '../random.ts';
import { createDeployment } from '../state/deployments.ts';
import type { EndpointGroupRecord, LineSource, WorkerGroupRecord } from '../state/endpoints.ts';
import {
  newInstance,
  startingSteps,
  type InstanceRecord,
  type InstanceStep,
  type OfferRecord,
} from '../state/instances.ts';
import { loadRecord } from '../state/loads.ts';
import { settingsSchema, type Settings, type SettingsInput } from '../state/settings.ts';
import type { Numbered, State, TemplateRecord } from '../state/state.ts';
import { defaultTraits, fullBuckets, type Traits } from '../state/traits.ts';
import {
  type ApiKeyRecord,
  type TfaAccount,
  type TfaMethodRecord,
  type TfaState,
  type UserRecord,
} from '../state/users.ts';
import { newBackupCodes } from '../tfa/account.ts';
import { newTotpSecret } from '../tfa/totp.ts';
import { createGroupLog } from '../worker-log/group-log.ts';
import { DEFAULT_SEED } from './default.ts';
import {
  seedSchema,
  tfaSection,
  type endpointGroupEntry,
  type offerEntry,
  type ParsedSeed,
  type Seed,
  type statusSteps,
  type templateEntry,
} from './schema.ts';

type Entry<Section extends keyof ParsedSeed> =
  NonNullable<ParsedSeed[Section]> extends (infer One)[] ? One : never;

/**
 * The state that a seed describes, at a time in Unix ms. Sections that the seed leaves out come from the
 * default seed; `overrides` win over the settings of the seed. Buckets of a rate limit are full.
 * @throws z.ZodError for a seed that does not fit its schema
 */
export function buildState(
  seed: Seed,
  overrides: SettingsInput,
  nowMs: number,
  traits: Traits = defaultTraits('spec'),
): State {
  const given = seedSchema.parse(seed);
  const defaults = seedSchema.parse(DEFAULT_SEED);
  const settings: Settings = settingsSchema.parse({ ...given.settings, ...overrides });
  const {
    users = [],
    deployments = [],
    workergroups: workerGroups = [],
    machines = [],
    instances = [],
    templates = [],
    offers = [],
    endpoint_groups: endpointGroups = [],
  } = { ...defaults, ...given };
  const owner = users[0]?.id ?? 0;
  const userRecords = users.map((user) => userOf(user, settings, nowMs));
  const keys = keysOf(users);
  return {
    settings,
    traits,
    rateLimit: fullBuckets(),
    users: byId(userRecords),
    keys,
    deployments: byId(deployments.map((entry) => deploymentOf(entry, owner, settings, nowMs))),
    workerGroups: byId(workerGroups.map((entry) => workerGroupOf(entry, owner, settings, nowMs))),
    workers: byId(workerGroups.flatMap(({ id, workers }) => workers.map((worker) => newWorker(worker, id)))),
    machines: byId(machines.map((entry) => machineOf(entry, nowMs))),
    instances: byId(instances.map((entry) => instanceOf(entry, owner, settings, nowMs))),
    formerInstances: [],
    templates: byId(templates.map((entry) => templateOf(entry, owner, nowMs))),
    offers: byId(offers.map(offerOf)),
    endpointGroups: byId(
      endpointGroups.map((entry) => endpointGroupOf(entry, owner, { nowMs, seed: settings.randomSeed })),
    ),
    teamRoles: new Map(),
    lastIds: lastIdsOf({
      deployment: deployments,
      // The version that each begins with has its id.
      'deployment version': deployments,
      'worker group': workerGroups,
      template: templates,
      instance: instances,
      'api key': keys.values(),
      'endpoint group': endpointGroups,
    }),
    tfa: buildTfaState(
      tfaSection.parse(given.tfa ?? {}),
      userRecords.map((user) => user.tfa),
    ),
  };
}

/** What the seed has had its id too, and keeps it when it is deleted before anything is made. */
function lastIdsOf(
  seeded: Partial<Record<Numbered, Iterable<{ readonly id: number }>>>,
): Map<string, number> {
  return new Map(
    Object.entries(seeded).map(([kind, items]) => [kind, Math.max(0, ...Array.from(items, ({ id }) => id))]),
  );
}

function byId<Item extends { readonly id: number }>(items: readonly Item[]): Map<number, Item> {
  return new Map(items.map((item) => [item.id, item]));
}

function userOf(user: Entry<'users'>, settings: Settings, nowMs: number): UserRecord {
  return {
    id: user.id,
    username: user.username,
    email: user.email ?? null,
    emailVerifiedAt: user.email_verified && user.email !== undefined ? Math.floor(nowMs / 1000) : null,
    isAdmin: user.is_admin,
    teamId: user.team_id ?? user.id,
    tfa: accountOf(user, settings.randomSeed, nowMs),
  };
}

function keysOf(users: readonly Entry<'users'>[]): Map<string, ApiKeyRecord> {
  const keys = new Map<string, ApiKeyRecord>();
  for (const user of users) {
    for (const { key, name, permissions, team } of user.api_keys) {
      keys.set(key, { id: keys.size + 1, name, userId: user.id, permissions: permissions ?? null, team });
    }
  }
  return keys;
}

export function deploymentOf(entry: Entry<'deployments'>, userId: number, settings: Settings, nowMs: number) {
  const ttl = entry.ttl === undefined ? settings.deploymentTtlSeconds : entry.ttl;
  const ago = entry.last_heartbeat_ago;
  return createDeployment({
    id: entry.id,
    userId,
    ...(entry.name !== undefined && { name: entry.name }),
    tag: entry.tag,
    endpointState: entry.endpoint_state,
    ttlMs: ttl === null ? null : ttl * 1000,
    createdMs: nowMs,
    countsFromMs: settings.deploymentTtlStarts === 'created' ? nowMs : null,
    lastHeartbeatMs: ago === undefined ? null : nowMs - ago * 1000,
  });
}

export function workerGroupOf(
  entry: Entry<'workergroups'>,
  userId: number,
  settings: Settings,
  nowMs: number,
): WorkerGroupRecord {
  const { id, endpoint_id: endpointId = null } = entry;
  return {
    id,
    userId,
    endpointId,
    createdMs: nowMs,
    traits: NO_TRAITS,
    image: DEFAULT_IMAGE,
    linesPerSecond: entry.lines_per_second ?? settings.logLinesPerSecond,
    log: logOf(entry, settings, nowMs),
  };
}

function logOf(entry: Entry<'workergroups'>, settings: Settings, nowMs: number) {
  const source: LineSource = entry.replay
    ? { kind: 'replay', lines: entry.replay.lines, loop: entry.replay.loop }
    : { kind: 'generated', seed: entry.seed ?? entry.id + settings.randomSeed };
  return createGroupLog({
    source,
    linesPerSecond: entry.lines_per_second ?? settings.logLinesPerSecond,
    retainedLines: entry.retained_lines ?? settings.logRetainedLines,
    sinceMs: nowMs - entry.history_seconds * 1000,
  });
}

function machineOf({ id, maintenances }: Entry<'machines'>, nowMs: number) {
  return {
    id,
    maintenances: maintenances.map(({ starts_in, start_time, ...window }) => ({
      ...window,
      machine_id: id,
      start_time: start_time ?? Math.round(nowMs / 1000 + (starts_in ?? 0)),
    })),
  };
}

function instanceOf(
  entry: Entry<'instances'>,
  userId: number,
  settings: Settings,
  nowMs: number,
): InstanceRecord {
  const createdMs = nowMs - entry.age_seconds * 1000;
  const {
    id,
    label = null,
    image,
    age_seconds: _age,
    statuses,
    gpu_ram = null,
    dph_total = null,
    ...rest
  } = entry;
  return newInstance({
    id,
    userId,
    hardware: { ...rest, gpu_ram, dph_total },
    label,
    image,
    createdMs,
    steps: stepsOf(statuses) ?? startingSteps(settings),
  });
}

export function templateOf(
  entry: z.output<typeof templateEntry>,
  owner: number,
  nowMs: number,
): TemplateRecord {
  const {
    creator_id = owner,
    default_tag = TEMPLATE_DEFAULTS.tag,
    age_seconds: age,
    recent_create_ago: ago,
    ...rest
  } = entry;
  const { id, recommended, count_created, ...fields } = rest;
  const [created_at, recent_create_date] = [
    nowMs / 1000 - age,
    ago === undefined ? null : nowMs / 1000 - ago,
  ];
  const known = { id, creator_id, recommended, default_tag, created_at, count_created, recent_create_date };
  return newTemplate(fields, known);
}

export function offerOf({ statuses, ...entry }: z.output<typeof offerEntry>): OfferRecord {
  return { ...entry, steps: stepsOf(statuses), rented_by: null };
}

/** `seed`: of the random numbers of its load. */
function endpointGroupOf(
  entry: z.output<typeof endpointGroupEntry>,
  userId: number,
  { nowMs, seed }: { readonly nowMs: number; readonly seed: number },
): EndpointGroupRecord {
  const { id, endpoint_state: state, deployment_id: deploymentId = null, load, ...parameters } = entry;
  const record = load ? loadRecord(load, { sinceMs: nowMs, revision: 1, seed }) : null;
  return newGroup({
    id,
    userId,
    createdMs: nowMs,
    parameters,
    state,
    deploymentId,
    load: record,
    established: true,
  });
}

function stepsOf(statuses: z.output<typeof statusSteps>): InstanceStep[] | null {
  if (!statuses) return null;
  return statuses.map(({ actual_status: status, seconds }) => ({
    status,
    durationMs: seconds === undefined ? null : seconds * 1000,
  }));
}

export function accountOf(user: Entry<'users'>, randomSeed: number, nowMs: number): TfaAccount {
  const random = createRandom(mixSeeds(randomSeed, user.id));
  const methods = user.tfa_methods.map((given): TfaMethodRecord => ({
    id: given.id,
    method: given.method,
    label: given.label ?? null,
    phoneNumber: given.phone_number ?? null,
    totpSecret: given.method === 'sms' ? null : secretOf(given, random),
    isPrimary: given.is_primary,
    failCount: given.fail_count,
    lockedUntilMs: given.locked_for === undefined ? null : nowMs + given.locked_for * 1000,
    lastTotpPeriod: null,
    createdAtMs: nowMs,
    lastUsedMs: null,
  }));
  return {
    legacy: user.legacy_2fa && methods.length === 0,
    phoneNumber: user.phone_number ?? null,
    smsFraud: user.sms_fraud,
    methods,
    backupCodes: user.backup_codes ?? newBackupCodes(random, user.backup_codes_remaining),
    authorizedUntilMs: null,
    smsSentAtMs: [],
  };
}

function secretOf(
  { totp_secret: given }: { readonly totp_secret?: string | null | undefined },
  random: Random,
): string | null {
  return given === undefined ? newTotpSecret(random) : given;
}

export function buildTfaState(
  { sms_provider, blocked_numbers, store }: z.output<typeof tfaSection>,
  accounts: readonly TfaAccount[],
): TfaState {
  const ids = accounts.flatMap(({ methods }) => methods.map((record) => record.id));
  return {
    challenges: new Map(),
    sessions: new Map(),
    outbox: [],
    phoneUse: new Map(),
    blockedNumbers: new Set(blocked_numbers),
    smsProvider: sms_provider,
    store,
    nextMethodId: Math.max(0, ...ids) + 1,
  };
}

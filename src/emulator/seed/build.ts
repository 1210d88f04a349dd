import { TEMPLATE_DEFAULTS } from '../../contract/operations/templates.ts';
import { newWorker } from '../fleet/workers.ts';
import { defined } from '../handlers/define.ts';
import { newGroup } from '../handlers/endpoint-groups.ts';
import { newTemplate } from '../handlers/templates.ts';
import { DEFAULT_IMAGE, newWorkerGroup } from '../handlers/workergroups.ts';
import { createRandom, mixSeeds } from '../random.ts';
import { newInstance, startingSteps, type InstanceRecord } from '../state/instances.ts';
import {
  createDeployment,
  loadRecord,
  type EndpointGroupRecord,
  type LineSource,
  type WorkerGroupRecord,
} from '../state/serverless.ts';
import {
  defaultTraits,
  fullBuckets,
  settingsSchema,
  type Settings,
  type SettingsInput,
  type Traits,
} from '../state/settings.ts';
import type {
  ApiKeyRecord,
  Numbered,
  State,
  TemplateRecord,
  TfaAccount,
  TfaMethodRecord,
  UserRecord,
} from '../state/state.ts';
import { newBackupCodes, newTotpSecret } from '../tfa/account.ts';
import { DEFAULT_SEED, seedSchema, tfaSection, type ParsedSeed, type Seed } from './seed.ts';

type Sections = { readonly [Section in keyof ParsedSeed]-?: NonNullable<ParsedSeed[Section]> };
type Entry<Section extends keyof ParsedSeed> = Sections[Section] extends (infer One)[] ? One : never;

export interface Beginning {
  readonly nowMs: number;
  readonly owner: number;
  readonly settings: Settings;
}

export function buildState(
  seed: Seed,
  overrides: SettingsInput,
  nowMs: number,
  traits: Traits = defaultTraits('spec'),
): State {
  const given = seedSchema.parse(seed);
  const settings: Settings = settingsSchema.parse({ ...given.settings, ...overrides });
  const seeded = { ...seedSchema.parse(DEFAULT_SEED), ...defined(given) } as Sections;
  const { users, deployments, workergroups, machines, instances, templates, offers } = seeded;
  const begin = { nowMs, owner: users[0]?.id ?? 0, settings };
  const keys = keysOf(users);
  return {
    settings,
    traits,
    rateLimit: fullBuckets(),
    users: byId(users.map((user) => userOf(user, begin))),
    keys,
    deployments: byId(deployments.map((entry) => deploymentOf(entry, begin))),
    workerGroups: byId(workergroups.map((entry) => workerGroupOf(entry, begin))),
    workers: byId(workergroups.flatMap(({ id, workers }) => workers.map((worker) => newWorker(worker, id)))),
    machines: byId(machines.map((entry) => machineOf(entry, nowMs))),
    instances: byId(instances.map((entry) => instanceOf(entry, begin))),
    formerInstances: [],
    templates: byId(templates.map((entry) => templateOf(entry, begin))),
    offers: byId(offers.map((entry) => Object.assign(entry, { rented_by: null }))),
    endpointGroups: byId(seeded.endpoint_groups.map((entry) => endpointGroupOf(entry, begin))),
    teamRoles: new Map(),
    lastIds: lastIdsOf({
      deployment: deployments,
      // The first version has the id of its deployment.
      'deployment version': deployments,
      'worker group': workergroups,
      template: templates,
      instance: instances,
      'api key': keys.values(),
      'endpoint group': seeded.endpoint_groups,
      '2FA method': users.flatMap((user) => user.tfa_methods),
    }),
    tfa: {
      challenges: new Map(),
      sessions: new Map(),
      outbox: [],
      phoneUse: new Map(),
      ...tfaSection.parse(given.tfa ?? {}),
    },
  };
}

/** An id of the seed is never used again. */
function lastIdsOf(seeded: Partial<Record<Numbered, Iterable<{ readonly id: number }>>>) {
  return new Map(
    Object.entries(seeded).map(([kind, items]) => [kind, Math.max(0, ...Array.from(items, ({ id }) => id))]),
  );
}

function byId<Item extends { readonly id: number }>(items: readonly Item[]): Map<number, Item> {
  return new Map(items.map((item) => [item.id, item]));
}

function userOf(user: Entry<'users'>, { settings, nowMs }: Beginning): UserRecord {
  const { id, username, email = null, is_admin, team_id = id } = user;
  const email_verified_at = user.email_verified && email !== null ? Math.floor(nowMs / 1000) : null;
  const tfa = accountOf(user, settings.randomSeed, nowMs);
  return { id, username, email, email_verified_at, is_admin, team_id, tfa };
}

function keysOf(users: readonly Entry<'users'>[]): Map<string, ApiKeyRecord> {
  const keys = new Map<string, ApiKeyRecord>();
  for (const { id: userId, api_keys } of users)
    for (const { key, name, permissions = null, team } of api_keys)
      keys.set(key, { id: keys.size + 1, name, userId, permissions, team });
  return keys;
}

export function deploymentOf(entry: Entry<'deployments'>, { nowMs, owner, settings }: Beginning) {
  const { id, name, tag, ttl = settings.deploymentTtlSeconds, last_heartbeat_ago: ago } = entry;
  return createDeployment({
    id,
    userId: owner,
    ...(name !== undefined && { name }),
    tag,
    endpointState: entry.endpoint_state,
    ttlMs: ttl === null ? null : ttl * 1000,
    createdMs: nowMs,
    countsFromMs: settings.deploymentTtlStarts === 'created' ? nowMs : null,
    lastHeartbeatMs: ago === undefined ? null : nowMs - ago * 1000,
  });
}

export function workerGroupOf(entry: Entry<'workergroups'>, begin: Beginning): WorkerGroupRecord {
  const { nowMs, owner: userId, settings } = begin;
  const { id, endpoint_id: endpointId = null, replay, seed } = entry;
  const source: LineSource | undefined = replay && { kind: 'replay', ...replay };
  return newWorkerGroup(
    { id, userId, endpointId, createdMs: nowMs, image: DEFAULT_IMAGE },
    {
      source: source ?? { kind: 'generated', seed: seed ?? id + settings.randomSeed },
      linesPerSecond: entry.lines_per_second ?? settings.logLinesPerSecond,
      retainedLines: entry.retained_lines ?? settings.logRetainedLines,
      sinceMs: nowMs - entry.history_seconds * 1000,
    },
  );
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

function instanceOf(entry: Entry<'instances'>, { nowMs, owner, settings }: Beginning): InstanceRecord {
  const { id, label = null, image, age_seconds: age, statuses, ...known } = entry;
  const { gpu_ram = null, dph_total = null, ...hardware } = known;
  return newInstance({
    id,
    userId: owner,
    hardware: { ...hardware, gpu_ram, dph_total },
    label,
    image,
    createdMs: nowMs - age * 1000,
    steps: statuses ?? startingSteps(settings),
  });
}

function templateOf(
  entry: Entry<'templates'>,
  { nowMs, owner }: Omit<Beginning, 'settings'>,
): TemplateRecord {
  const { age_seconds: age, recent_create_ago: ago, id, recommended, count_created, ...rest } = entry;
  const { creator_id = owner, default_tag = TEMPLATE_DEFAULTS.tag, ...fields } = rest;
  const created_at = nowMs / 1000 - age;
  const recent_create_date = ago === undefined ? null : nowMs / 1000 - ago;
  const known = { id, creator_id, recommended, default_tag, created_at, count_created, recent_create_date };
  return newTemplate(fields, known);
}

function endpointGroupOf(entry: Entry<'endpoint_groups'>, begin: Beginning): EndpointGroupRecord {
  const { nowMs, owner: userId, settings } = begin;
  const { id, endpoint_state: state, deployment_id: deploymentId = null, load, ...parameters } = entry;
  const loaded = load ? loadRecord(load, settings, nowMs) : null;
  const begun = { createdMs: nowMs, load: loaded, established: true };
  return newGroup({ id, userId, parameters, state, deploymentId, ...begun });
}

function accountOf(user: Entry<'users'>, randomSeed: number, nowMs: number): TfaAccount {
  const random = createRandom(mixSeeds(randomSeed, user.id));
  const methods = user.tfa_methods.map(({ locked_for, ...given }): TfaMethodRecord => {
    const isSms = given.method === 'sms';
    const { label = null, phone_number = null, totp_secret = isSms ? null : newTotpSecret(random) } = given;
    const locked_until = locked_for === undefined ? null : (nowMs + locked_for * 1000) / 1000;
    const shown = { ...given, label, phone_number, locked_until, created_at: nowMs / 1000, last_used: null };
    return { ...shown, totp_secret: isSms ? null : totp_secret };
  });
  return {
    legacy: user.legacy_2fa && methods.length === 0,
    phone_number: user.phone_number ?? null,
    sms_fraud: user.sms_fraud,
    methods,
    backupCodes: user.backup_codes ?? newBackupCodes(random, user.backup_codes_remaining),
    authorizedUntilMs: null,
    smsSentAtMs: [],
  };
}

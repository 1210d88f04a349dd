import * as z from 'zod';
import { INSTANCE_STATUSES } from '../../contract/operations/instances/instance-list.ts';
import { maintenanceWindow } from '../../contract/operations/machines.ts';
import { coerceFields } from '../../wire/coerce.ts';
import type { Clock } from '../clock.ts';
import type { DialectName } from '../dialect/dialect.ts';
import { faultSchema, type Faults } from '../faults/faults.ts';
import { journalExpectation, journalFilter, type Journal } from '../journal/journal.ts';
import { apiKeyEntry, deploymentChanges, deploymentEntry, offerEntry, seedSchema } from '../seed/schema.ts';
import type { World } from '../service/service.ts';
import { loadSchema } from '../state/endpoints.ts';
import type { TraitsInput } from '../state/traits.ts';
import { ApiKeys, Outbox, outboxFilter, TeamRoles, tfaChange, TwoFactor, userChange } from './accounts.ts';
import type { TotpHelper } from './accounts.ts';
import { TraitSwitches, type Control, type Snapshot } from './control.ts';
import {
  Deployments,
  EndpointGroups,
  Instances,
  Loads,
  Machines,
  Offers,
  Templates,
  WorkerGroups,
  Workers,
  workerTroubles,
} from './fleet.ts';
import { bodyRoute, route, type AdminRoute } from './route.ts';

const INSPECTIONS = {
  apiKeys: ApiKeys,
  deployments: Deployments,
  workergroups: WorkerGroups,
  workers: Workers,
  instances: Instances,
  machines: Machines,
  templates: Templates,
  offers: Offers,
  teamRoles: TeamRoles,
  endpointGroups: EndpointGroups,
  /** Requests that come to endpoints by themselves. */
  load: Loads,
  /** Switches for behaviour of the service that is not known for sure. */
  traits: TraitSwitches,
  /** Codes that were sent by SMS and e-mail. */
  outbox: Outbox,
  tfa: TwoFactor,
} as const;

export type Inspected = {
  readonly [Name in keyof typeof INSPECTIONS]: InstanceType<(typeof INSPECTIONS)[Name]>;
} & { readonly totp: TotpHelper };

export function inspect(world: World): Inspected {
  const parts = Object.entries(INSPECTIONS).map(([name, Part]) => [name, new Part(world)]);
  const inspected = Object.fromEntries(parts) as Omit<Inspected, 'totp'>;
  return { ...inspected, totp: (methodIdOrSecret) => inspected.tfa.totp(methodIdOrSecret) };
}

export interface AdminParts extends Inspected {
  readonly dialect: DialectName;
  readonly world: World;
  readonly control: Control;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly journal: Journal;
}

const snapshotName = z.strictObject({ name: z.string().min(1).default('default') });

const clockChange = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('freeze'),
    atMs: z.number().optional().describe('Unix ms; absent: now'),
  }),
  z.strictObject({ action: z.literal('resume') }),
  z.strictObject({
    action: z.literal('offset'),
    ms: z.number().describe('distance from real time; 0: real'),
  }),
  z.strictObject({ action: z.literal('advance'), ms: z.number().nonnegative() }),
]);

const journalOrder = z.strictObject({ order: z.array(journalFilter) });
const keyValue = apiKeyEntry.pick({ key: true });
const keyEntry = apiKeyEntry.omit({ name: true });
const deployment = deploymentEntry.omit({ id: true });
const lines = z.union([z.strictObject({ lines: z.array(z.string()) }), z.strictObject({ text: z.string() })]);
const rate = z.strictObject({ linesPerSecond: z.number().nonnegative() });
const status = z.strictObject({ actual_status: z.enum(INSTANCE_STATUSES) });
const offer = offerEntry.omit({ id: true });
const windows = z.strictObject({
  maintenances: z.array(maintenanceWindow.extend({ duration_hours: z.int().positive() })),
});
const endpointName = z.union([z.string().min(1), z.int()]).describe('name or id of the endpoint group');
const endpointLoad = z.looseObject({ endpoint: endpointName });
const hanging = z.strictObject({ hangs: z.boolean().describe('whether no start of its workers ends well') });
const newSecret = z.strictObject({ secret: z.string().nullable() });
const totpSecret = z.strictObject({ secret: z.string().describe('base32, of tfa/totp-setup/') });
const login = z.strictObject({ user_id: z.int().optional().describe('absent: the first user') });

export function adminRoutes(parts: AdminParts): AdminRoute[] {
  const { dialect, world, control, clock, faults, traits, journal } = parts;
  const { apiKeys, deployments, workergroups, workers, instances, offers, machines } = parts;
  const { endpointGroups, load, outbox, tfa } = parts;
  const snapshots = new Map<string, Snapshot>();
  const showClock = () => ({ mode: clock.mode, nowMs: clock.now(), offsetMs: clock.offsetMs });
  // `set` validates: its messages show the value of each field.
  const setTraits = ({ body }: { body: unknown }) => traits.set(body as TraitsInput);
  return [
    route('GET /health', 'that it is up', () => ({ status: 'ok', dialect, nowMs: clock.now() })),
    route('GET /state', 'what there is, without secrets', () => overview(parts)),
    route('GET /public-key', 'what it signs routes with, as workers know it: PEM', () => ({
      publicKey: world.signer.publicKey(),
    })),
    route('POST /reset', 'back to the seed: state, clock, faults, traits, journal', () => control.reset()),
    route('GET /seed-schema', 'JSON schema of the seed file', () =>
      z.toJSONSchema(seedSchema, { io: 'input' }),
    ),
    bodyRoute('POST /seed', 'another seed, then as reset', seedSchema, ({ body }) => control.seed(body)),
    bodyRoute('POST /snapshot', 'keeps the state under a name', snapshotName, ({ body: { name } }) => {
      snapshots.set(name, control.snapshot());
      return { name };
    }),
    bodyRoute('POST /restore', 'puts a kept state back, at once', snapshotName, ({ body: { name } }) => {
      const snapshot = snapshots.get(name);
      if (!snapshot) throw new RangeError(`no snapshot "${name}"`);
      control.restore(snapshot);
    }),

    route('GET /clock', "the emulator's clock", showClock),
    bodyRoute('POST /clock', 'freeze, resume, offset or advance it', clockChange, async ({ body }) => {
      if (body.action === 'freeze') await clock.freeze(body.atMs);
      else if (body.action === 'resume') clock.resume();
      else if (body.action === 'offset') await clock.offset(body.ms);
      else await clock.advance(body.ms);
      return showClock();
    }),

    route('GET /faults', 'faults in force', () => ({ faults: faults.list() })),
    bodyRoute('POST /faults', 'puts a fault in force', faultSchema, async ({ body }) => {
      // The admin API is on the same port: an endless `refused` could never be lifted.
      if (body.kind === 'refused' && (body.forMs === undefined || clock.mode === 'frozen'))
        throw new Error('forMs: over this API `refused` needs an end, and a clock that runs towards it');
      // The answer must leave before the listener closes.
      const startInMs = body.kind === 'refused' ? Math.max(body.startInMs, 50) : body.startInMs;
      const { faultId } = await faults.add({ ...body, startInMs });
      return { faultId };
    }),
    route('DELETE /faults', 'lifts all faults', () => faults.clear()),
    route('DELETE /faults/{faultId}', 'lifts one fault', ({ name }) => {
      if (!faults.list().some(({ faultId }) => faultId === name)) throw new RangeError(`no fault ${name}`);
      return faults.clear(name);
    }),

    route('GET /traits', 'all traits', () => traits.get()),
    bodyRoute(
      'PUT /traits',
      'changes the traits that the body names; answers all traits',
      z.unknown(),
      setTraits,
    ),
    bodyRoute('POST /traits', 'the same', z.unknown(), setTraits),

    route('GET /journal', 'requests that came; filters in the query', ({ query }) => {
      const filter = journalFilter.parse(coerceFields(journalFilter, query));
      return { dropped: journal.dropped, entries: journal.entries(filter) };
    }),
    route('DELETE /journal', 'forgets them', () => journal.clear()),
    bodyRoute(
      'POST /journal/verify',
      'how many came: times, atLeast, atMost',
      journalExpectation,
      ({ body }) => journal.verify(body),
    ),
    bodyRoute('POST /journal/verify-order', 'whether they came in this order', journalOrder, ({ body }) =>
      journal.verifyOrder(body.order),
    ),

    bodyRoute('PUT /api-keys/{name}', 'adds an API key', keyEntry, ({ name, body }) =>
      apiKeys.add({ name, ...body }),
    ),
    bodyRoute(
      'POST /api-keys/{name}/reset',
      'a new value; the old one gets 401',
      keyValue,
      ({ name, body }) => apiKeys.reset(name, body.key),
    ),
    route('DELETE /api-keys/{name}', 'deletes it', ({ name }) => apiKeys.remove(name)),

    route('GET /deployments/{id}', 'one deployment and how close it came to expiry', ({ id }) =>
      deployments.get(id),
    ),
    bodyRoute('PUT /deployments/{id}', 'adds or replaces it: ttl in seconds', deployment, ({ id, body }) =>
      deployments.add({ id, ...body }),
    ),
    bodyRoute(
      'POST /deployments/{id}',
      'changes its ttl, name, tag, state',
      deploymentChanges,
      ({ id, body }) => deployments.change(id, body),
    ),
    route('POST /deployments/{id}/redeploy', 'the same under a new id, which it answers', ({ id }) => ({
      id: deployments.redeploy(id),
    })),
    route('DELETE /deployments/{id}', 'removes it', ({ id }) => deployments.remove(id)),

    bodyRoute('POST /workergroups/{id}/lines', 'writes lines, or text', lines, ({ id, body }) => {
      if ('lines' in body) workergroups.append(id, body.lines);
      else workergroups.write(id, body.text);
    }),
    route('DELETE /workergroups/{id}/lines', 'throws its log away', ({ id }) => workergroups.clear(id)),
    bodyRoute('PUT /workergroups/{id}/rate', 'lines per second from now on', rate, ({ id, body }) =>
      workergroups.setRate(id, body.linesPerSecond),
    ),

    bodyRoute(
      'PUT /workers/{id}',
      'another performance, a stuck counter, a GPU that is lost',
      workerTroubles,
      ({ id, body }) => workers.set(id, body),
    ),
    bodyRoute('PUT /instances/{id}/status', 'its status from now on', status, ({ id, body }) =>
      instances.setStatus(id, body.actual_status),
    ),
    bodyRoute('PUT /offers/{id}', 'adds or replaces a machine offer', offer, ({ id, body }) =>
      offers.add({ id, ...body }),
    ),
    bodyRoute('PUT /machines/{id}/maintenances', 'its maintenance windows', windows, ({ id, body }) =>
      machines.setMaintenances(id, body.maintenances),
    ),

    route(
      'GET /endpoint-groups/{endpoint}',
      'by id or name: load, workers, queue times, worker seconds since its engine began',
      ({ name }) => endpointGroups.get(name),
    ),
    bodyRoute(
      'PUT /endpoint-groups/{endpoint}',
      'whether all starts of its workers hang, and are given up',
      hanging,
      ({ name, body }) => endpointGroups.hang(name, body.hangs),
    ),
    route('GET /load', 'the load of each endpoint', () => ({ loads: load.list() })),
    bodyRoute(
      'PUT /load',
      'another load from now on: endpoint, shape, rate …, as in a seed',
      endpointLoad,
      ({ body: { endpoint, ...given } }) => load.set(endpoint, loadSchema.parse(given)),
    ),
    route('DELETE /load', 'no load any more; of one alone with ?endpoint=', ({ query }) =>
      load.stop(query['endpoint']),
    ),

    route('GET /outbox', 'codes sent by SMS and e-mail; filters in the query', ({ query }) => ({
      messages: outbox.messages(outboxFilter.parse(coerceFields(outboxFilter, query))),
    })),
    route('DELETE /outbox', 'empties it; the codes stay valid', () => outbox.clear()),
    route('GET /totp/{id}', 'the code that the authenticator of a method shows', ({ id }) => ({
      code: tfa.totp(id),
    })),
    bodyRoute('PUT /totp/{id}', 'another secret, or null for one that is lost', newSecret, ({ id, body }) =>
      tfa.setTotpSecret(id, body.secret),
    ),
    bodyRoute('POST /totp', 'the code of a secret that is being set up', totpSecret, ({ body }) => ({
      code: tfa.totp(body.secret),
    })),
    bodyRoute('POST /logins', 'begins a login: a tfa_secret for the logged-out path', login, ({ body }) =>
      tfa.startLogin(body.user_id),
    ),
    bodyRoute('PUT /tfa', 'SMS provider, blocked numbers, backing store', tfaChange, ({ body }) =>
      tfa.set(body),
    ),
    bodyRoute('PUT /users/{id}', 'e-mail verified, SMS fraud', userChange, ({ id, body }) =>
      tfa.setUser(id, body),
    ),
    route('GET /users/{id}/backup-codes', 'the unused ones', ({ id }) => ({
      backup_codes: tfa.backupCodes(id),
    })),
  ];
}

function overview({ dialect, world, clock, faults, ...inspected }: AdminParts) {
  const { state } = world;
  return {
    dialect,
    clock: { mode: clock.mode, nowMs: clock.now() },
    settings: state.settings,
    traits: state.traits,
    users: [...state.users.values()].map(({ id, username, isAdmin }) => ({ id, username, isAdmin })),
    apiKeys: [...state.keys.values()].map(({ id, name, userId }) => ({ id, name, userId })),
    deployments: inspected.deployments.list(),
    workergroups: inspected.workergroups.list(),
    instances: inspected.instances.list(),
    machines: [...state.machines.values()].map(({ id, maintenances }) => ({ id, maintenances })),
    // Environment and scripts may hold secrets.
    templates: inspected.templates.list().map(({ id, hash_id, name, creator_id, count_created }) => ({
      id,
      hash_id,
      name,
      creator_id,
      count_created,
    })),
    offers: inspected.offers.list(),
    endpointGroups: inspected.endpointGroups.list(),
    teamRoles: inspected.teamRoles.list(),
    faults: faults.list(),
  };
}

/** All that can be looked at and changed, in process and over the admin API; each route is a few lines over it. */
import * as z from 'zod';
import { coerceFields } from '../../wire/coerce.ts';
import type { Clock } from '../clock.ts';
import type { DialectName } from '../dialect/dialect.ts';
import { faultSchema, type FaultInput } from '../faults/faults.ts';
import type { Faults } from '../faults/injector.ts';
import { journalExpectation, journalFilter, type Journal } from '../journal/journal.ts';
import { seedSchema } from '../seed/schema.ts';
import type { World } from '../service/world.ts';
import type { TraitsInput } from '../state/traits.ts';
import {
  ApiKeys,
  keyRoutes,
  Outbox,
  TeamRoles,
  TwoFactor,
  twoFactorRoutes,
  type TotpHelper,
} from './accounts.ts';
import { TraitSwitches, type Control, type Snapshot } from './control.ts';
import { deploymentRoutes, Deployments } from './deployments.ts';
import { EndpointGroups, loadRoutes, Loads, workerGroupRoutes, WorkerGroups } from './fleet.ts';
import { Instances, Machines, Offers, rentalRoutes, Templates, type TemplateView } from './rentals.ts';
import { bodyRoute, route, type AdminRoute } from './route.ts';

const INSPECTIONS = {
  apiKeys: ApiKeys,
  deployments: Deployments,
  workergroups: WorkerGroups,
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

/** What the admin API works on: the in-process API. */
export interface AdminParts extends Inspected {
  readonly dialect: DialectName;
  readonly world: World;
  readonly control: Control;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly journal: Journal;
}

export function adminRoutes(parts: AdminParts): AdminRoute[] {
  return [
    ...lifecycleRoutes(parts),
    ...clockRoutes(parts),
    ...faultRoutes(parts),
    ...traitRoutes(parts),
    ...journalRoutes(parts),
    ...keyRoutes(parts.apiKeys),
    ...deploymentRoutes(parts.deployments),
    ...workerGroupRoutes(parts.workergroups),
    ...rentalRoutes(parts.instances, parts.offers, parts.machines),
    ...loadRoutes(parts.endpointGroups, parts.load),
    ...twoFactorRoutes(parts.outbox, parts.tfa),
  ];
}

const snapshotName = z.strictObject({ name: z.string().min(1).default('default') });

function lifecycleRoutes(parts: AdminParts): AdminRoute[] {
  const { dialect, control, clock } = parts;
  const snapshots = new Map<string, Snapshot>();
  return [
    route('GET /health', 'that it is up', () => ({ status: 'ok', dialect, nowMs: clock.now() })),
    route('GET /state', 'what there is, without secrets', () => overview(parts)),
    route('GET /public-key', 'what it signs routes with, as workers know it: PEM', () => ({
      publicKey: parts.world.signer.publicKey(),
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
    templates: inspected.templates.list().map(withoutSecrets),
    offers: inspected.offers.list(),
    endpointGroups: inspected.endpointGroups.list(),
    teamRoles: inspected.teamRoles.list(),
    faults: faults.list(),
  };
}

/** Environment and scripts may hold some. */
function withoutSecrets({ id, hash_id, name, creator_id, count_created }: TemplateView) {
  return { id, hash_id, name, creator_id, count_created };
}

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

function clockRoutes({ clock }: AdminParts): AdminRoute[] {
  const show = () => ({ mode: clock.mode, nowMs: clock.now(), offsetMs: clock.offsetMs });
  return [
    route('GET /clock', "the emulator's clock", show),
    bodyRoute('POST /clock', 'freeze, resume, offset or advance it', clockChange, async ({ body }) => {
      if (body.action === 'freeze') await clock.freeze(body.atMs);
      else if (body.action === 'resume') clock.resume();
      else if (body.action === 'offset') await clock.offset(body.ms);
      else await clock.advance(body.ms);
      return show();
    }),
  ];
}

function faultRoutes({ faults, clock }: AdminParts): AdminRoute[] {
  return [
    route('GET /faults', 'faults in force', () => ({ faults: faults.list() })),
    bodyRoute('POST /faults', 'puts a fault in force', faultSchema, async ({ body }) => {
      // The admin API listens on the same port: without an end of its own it could not be lifted again.
      if (body.kind === 'refused' && (body.forMs === undefined || clock.mode === 'frozen')) {
        throw new Error('forMs: over this API `refused` needs an end, and a clock that runs towards it');
      }
      // The answer must leave before the listener closes.
      const later: FaultInput =
        body.kind === 'refused' ? { ...body, startInMs: Math.max(body.startInMs, 50) } : body;
      const handle = await faults.add(later);
      return { faultId: handle.faultId };
    }),
    route('DELETE /faults', 'lifts all faults', () => faults.clear()),
    route('DELETE /faults/{faultId}', 'lifts one fault', ({ name }) => {
      if (!faults.list().some(({ faultId }) => faultId === name)) throw new RangeError(`no fault ${name}`);
      return faults.clear(name);
    }),
  ];
}

function traitRoutes({ traits }: AdminParts): AdminRoute[] {
  // `set` checks them, and its message has the value that each field got.
  const change = z.unknown();
  const set = ({ body }: { body: unknown }) => traits.set(body as TraitsInput);
  return [
    route('GET /traits', 'all traits', () => traits.get()),
    bodyRoute('PUT /traits', 'changes the traits that the body names; answers all traits', change, set),
    bodyRoute('POST /traits', 'the same', change, set),
  ];
}

const journalOrder = z.strictObject({ order: z.array(journalFilter) });

function journalRoutes({ journal }: AdminParts): AdminRoute[] {
  return [
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
  ];
}

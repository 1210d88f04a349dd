/** The emulator as a whole: health, overview, reset, seed, snapshots. */
import * as z from 'zod';
import type { Snapshot } from '../service/control.ts';
import type { TemplateView } from '../inspect/resources.ts';
import { seedSchema } from '../seed/schema.ts';
import { bodyRoute, route, type AdminParts, type AdminRoute } from './route.ts';

const NO_FILES = 'files are read only from a seed file given at the start, or in process';

const snapshotName = z.strictObject({ name: z.string().min(1).default('default') });

export function lifecycleRoutes(parts: AdminParts): AdminRoute[] {
  const { dialect, control, clock } = parts;
  const snapshots = new Map<string, Snapshot>();
  return [
    route('GET', '/health', 'that it is up', () => ({ status: 'ok', dialect, nowMs: clock.now() })),
    route('GET', '/state', 'what there is, without secrets', () => overview(parts)),
    route('GET', '/public-key', 'what it signs routes with, as workers know it: PEM', () => ({
      publicKey: parts.world.signer.publicKey(),
    })),
    route('POST', '/reset', 'back to the seed: state, clock, faults, traits, journal', () => control.reset()),
    route('GET', '/seed-schema', 'JSON schema of the seed file', () =>
      z.toJSONSchema(seedSchema, { io: 'input' }),
    ),
    bodyRoute('POST', '/seed', 'another seed, then as reset', seedSchema, async ({ body }) => {
      // Anybody who reaches this port could otherwise read files of the machine.
      const named = body.workergroups?.findIndex((group) => group.replay?.file !== undefined) ?? -1;
      if (named !== -1) throw new Error(`workergroups.${named}.replay.file: give lines: ${NO_FILES}`);
      await control.seed(body);
    }),
    bodyRoute('POST', '/snapshot', 'keeps the state under a name', snapshotName, ({ body: { name } }) => {
      snapshots.set(name, control.snapshot());
      return { name };
    }),
    bodyRoute('POST', '/restore', 'puts a kept state back, at once', snapshotName, ({ body: { name } }) => {
      const snapshot = snapshots.get(name);
      if (!snapshot) throw new RangeError(`no snapshot "${name}"`);
      control.restore(snapshot);
    }),
  ];
}

function overview({ dialect, world, clock, faults, ...inspected }: AdminParts) {
  const { deployments, workergroups, instances, machines } = inspected;
  const { templates, offers, endpointGroups, teamRoles } = inspected;
  const { state } = world;
  return {
    dialect,
    clock: { mode: clock.mode, nowMs: clock.now() },
    settings: state.settings,
    traits: state.traits,
    users: [...state.users.values()].map(({ id, username, isAdmin }) => ({ id, username, isAdmin })),
    apiKeys: [...state.keys.values()].map(({ id, name, userId }) => ({ id, name, userId })),
    deployments: deployments.list(),
    workergroups: workergroups.list(),
    instances: instances.list(),
    machines: [...state.machines.keys()].map((id) => ({ id, maintenances: machines.maintenances(id) })),
    templates: templates.list().map(withoutSecrets),
    offers: offers.list(),
    endpointGroups: endpointGroups.list(),
    teamRoles: teamRoles.list(),
    faults: faults.list(),
  };
}

/** Environment and scripts may hold some. */
function withoutSecrets({ id, hash_id, name, creator_id, count_created }: TemplateView) {
  return { id, hash_id, name, creator_id, count_created };
}

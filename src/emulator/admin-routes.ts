/** What the admin API can do: a table of routes, each a few lines over the in-process API. */
import { z } from 'zod';
import { INSTANCE_STATUSES } from '../contract/instances.ts';
import { maintenanceWindow } from '../contract/machines.ts';
import { coerceFields } from '../wire/coerce.ts';
import type { Clock } from './clock.ts';
import type { Control, Snapshot } from './control.ts';
import type { DialectName } from './dialect.ts';
import type { FaultHandle, Faults } from './fault-board.ts';
import { faultSchema, type FaultInput } from './faults.ts';
import type { Deployments, Instances, Machines, WorkerGroups } from './inspect.ts';
import { journalExpectation, journalFilter, type Journal } from './journal.ts';
import { seedSchema } from './seed.ts';
import type { World } from './service.ts';

export interface AdminRequest<Body = unknown> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Body;
}

export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/_emulator`. */
  readonly path: string;
  readonly summary: string;
  readonly body?: z.ZodType;
  run(request: AdminRequest): unknown;
}

/** What the admin API works on: the in-process API. */
export interface AdminParts {
  readonly dialect: DialectName;
  readonly world: World;
  readonly control: Control;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly journal: Journal;
  readonly deployments: Deployments;
  readonly workergroups: WorkerGroups;
  readonly instances: Instances;
  readonly machines: Machines;
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

const snapshotName = z.strictObject({ name: z.string().min(1).default('default') });
const lines = z.union([z.strictObject({ lines: z.array(z.string()) }), z.strictObject({ text: z.string() })]);

export function adminRoutes(parts: AdminParts): AdminRoute[] {
  return [
    ...wholeRoutes(parts),
    ...clockRoutes(parts),
    ...faultRoutes(parts),
    ...journalRoutes(parts),
    ...stateRoutes(parts),
  ];
}

function wholeRoutes({ dialect, control, clock, ...parts }: AdminParts): AdminRoute[] {
  const snapshots = new Map<string, Snapshot>();
  return [
    route('GET', '/health', 'that it is up', () => ({ status: 'ok', dialect, nowMs: clock.now() })),
    route('GET', '/state', 'what there is, without secrets', () =>
      overview({ dialect, control, clock, ...parts }),
    ),
    route('POST', '/reset', 'back to the seed: state, clock, faults, journal', () => control.reset()),
    route('GET', '/seed-schema', 'JSON schema of the seed file', () =>
      z.toJSONSchema(seedSchema, { io: 'input' }),
    ),
    bodyRoute('POST', '/seed', 'another seed, then as reset', seedSchema, async ({ body }) => {
      // Anybody who reaches this port could otherwise read files of the machine.
      const named = body.workergroups?.findIndex((group) => group.replay?.file !== undefined) ?? -1;
      if (named !== -1)
        throw new Error(`workergroups.${named}.replay.file: not over the admin API: give lines`);
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

function clockRoutes({ clock }: AdminParts): AdminRoute[] {
  const show = () => ({ mode: clock.mode, nowMs: clock.now(), offsetMs: clock.offsetMs });
  return [
    route('GET', '/clock', "the emulator's clock", show),
    bodyRoute('POST', '/clock', 'freeze, resume, offset or advance it', clockChange, async ({ body }) => {
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
    route('GET', '/faults', 'faults in force', () => ({ faults: faults.list() })),
    bodyRoute('POST', '/faults', 'puts a fault in force', faultSchema, async ({ body }) => {
      // The admin API listens on the same port: without an end of its own nobody could lift it again.
      if (body.kind === 'refused' && (body.forMs === undefined || clock.mode === 'frozen')) {
        throw new Error('forMs: over this API `refused` needs an end, and a clock that runs towards it');
      }
      // The answer must leave before the listener closes.
      const later: FaultInput =
        body.kind === 'refused' ? { ...body, startInMs: Math.max(body.startInMs, 50) } : body;
      const handle: FaultHandle = await faults.add(later);
      return { faultId: handle.faultId };
    }),
    route('DELETE', '/faults', 'lifts all faults', () => faults.clear()),
    route('DELETE', '/faults/{faultId}', 'lifts one fault', ({ params }) => faults.clear(params['faultId'])),
  ];
}

function journalRoutes({ journal }: AdminParts): AdminRoute[] {
  return [
    route('GET', '/journal', 'requests that came; filters in the query', ({ query }) => {
      const filter = journalFilter.parse(coerceFields(journalFilter, query));
      return { dropped: journal.dropped, entries: journal.entries(filter) };
    }),
    route('DELETE', '/journal', 'forgets them', () => journal.clear()),
    bodyRoute(
      'POST',
      '/journal/verify',
      'how many came: times, atLeast, atMost',
      journalExpectation,
      ({ body }) => journal.verify(body),
    ),
    bodyRoute(
      'POST',
      '/journal/verify-order',
      'whether they came in this order',
      z.strictObject({ order: z.array(journalFilter) }),
      ({ body }) => journal.verifyOrder(body.order),
    ),
  ];
}

function stateRoutes({ deployments, workergroups, instances, machines }: AdminParts): AdminRoute[] {
  const deploymentEntry = z.strictObject({ ttl: z.number().positive().nullable().optional() });
  const status = z.strictObject({ actual_status: z.enum(INSTANCE_STATUSES) });
  const rate = z.strictObject({ linesPerSecond: z.number().nonnegative() });
  const windows = z.strictObject({ maintenances: z.array(maintenanceWindow) });
  return [
    route('GET', '/deployments/{id}', 'one deployment and how close it came to expiry', ({ params }) =>
      deployments.get(idOf(params)),
    ),
    bodyRoute('PUT', '/deployments/{id}', 'adds or replaces it: ttl in seconds', deploymentEntry, (request) =>
      deployments.add({ id: idOf(request.params), ...request.body }),
    ),
    route('DELETE', '/deployments/{id}', 'removes it', ({ params }) => deployments.remove(idOf(params))),
    bodyRoute('POST', '/workergroups/{id}/lines', 'writes lines, or text', lines, ({ params, body }) => {
      if ('lines' in body) workergroups.append(idOf(params), body.lines);
      else workergroups.write(idOf(params), body.text);
    }),
    route('DELETE', '/workergroups/{id}/lines', 'throws its log away', ({ params }) =>
      workergroups.clear(idOf(params)),
    ),
    bodyRoute('PUT', '/workergroups/{id}/rate', 'lines per second from now on', rate, ({ params, body }) =>
      workergroups.setRate(idOf(params), body.linesPerSecond),
    ),
    bodyRoute('PUT', '/instances/{id}/status', 'its status from now on', status, ({ params, body }) =>
      instances.setStatus(idOf(params), body.actual_status),
    ),
    bodyRoute('PUT', '/machines/{id}/maintenances', 'its maintenance windows', windows, ({ params, body }) =>
      machines.setMaintenances(idOf(params), body.maintenances),
    ),
  ];
}

function overview({
  dialect,
  world,
  clock,
  faults,
  deployments,
  workergroups,
  instances,
  machines,
}: AdminParts) {
  const { state } = world;
  return {
    dialect,
    clock: { mode: clock.mode, nowMs: clock.now() },
    settings: state.settings,
    users: [...state.users.values()].map(({ id, username, isAdmin }) => ({ id, username, isAdmin })),
    apiKeys: [...state.keys.values()].map(({ id, name, userId }) => ({ id, name, userId })),
    deployments: deployments.list(),
    workergroups: workergroups.list(),
    instances: instances.list(),
    machines: [...state.machines.keys()].map((id) => ({ id, maintenances: machines.maintenances(id) })),
    faults: faults.list(),
  };
}

function idOf(params: Readonly<Record<string, string>>): number {
  const id = Number(params['id']);
  if (!Number.isSafeInteger(id)) throw new Error(`id: "${params['id']}" is no integer`);
  return id;
}

function route(
  method: AdminRoute['method'],
  path: string,
  summary: string,
  run: (request: AdminRequest) => unknown,
): AdminRoute {
  return { method, path, summary, run };
}

/** A route whose body has been parsed by `body` when it runs. */
function bodyRoute<Schema extends z.ZodType>(
  method: AdminRoute['method'],
  path: string,
  summary: string,
  body: Schema,
  run: (request: AdminRequest<z.output<Schema>>) => unknown,
): AdminRoute {
  return { method, path, summary, body, run: (request) => run(request as AdminRequest<z.output<Schema>>) };
}

import * as z from 'zod';
import { messageOf } from '../../contract/pilotlight-error.ts';
import { INSTANCE_STATUSES } from '../../contract/operations/instances/instance-list.ts';
import { coerceFields } from '../../wire/coerce.ts';
import { createMatcher } from '../../wire/match.ts';
import { problemsOf } from '../../wire/request.ts';
import { jsonAnswer, type Answer } from '../answer.ts';
import { faultSchema } from '../faults.ts';
import { journalExpectation, journalFilter } from '../journal.ts';
import { deploymentChanges, deploymentEntry, seedSchema, TraitsError } from '../seed/seed.ts';
import type { World } from '../service.ts';
import { loadSchema } from '../state/serverless.ts';
import type { TraitsInput } from '../state/settings.ts';
import { ApiKeys, Outbox, outboxFilter, TeamRoles, TwoFactor, type TotpHelper } from './accounts.ts';
import { TraitSwitches, type Control, type Machinery, type Snapshot } from './control.ts';
import {
  Deployments,
  EndpointGroups,
  Instances,
  Loads,
  Offers,
  Templates,
  WorkerGroups,
  Workers,
  workerTroubles,
} from './fleet.ts';

const INSPECTIONS = {
  apiKeys: ApiKeys,
  deployments: Deployments,
  workergroups: WorkerGroups,
  workers: Workers,
  instances: Instances,
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

export interface AdminParts extends Machinery, Inspected {
  readonly control: Control;
}

interface AdminRequest {
  readonly name: string;
  /** `name` as a number. @throws Error if it is not an integer */
  readonly id: number;
  readonly query: Readonly<Record<string, string>>;
  /** @throws z.ZodError, or an Error for text that is not JSON */
  readonly body: <Schema extends z.ZodType>(schema: Schema) => z.output<Schema>;
}

interface AdminRoute {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  run(request: AdminRequest): unknown;
}

function route(method: string) {
  return (path: string, summary: string, run: AdminRoute['run']) => ({ method, path, summary, run });
}

const get = route('GET');
const remove = route('DELETE');
const post = route('POST');
const put = route('PUT');

const snapshotName = z.strictObject({ name: z.string().min(1).default('default') });

/** `atMs`: Unix ms, absent: now. `ms` of `offset`: distance from real time. */
const clockChange = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('freeze'), atMs: z.number().optional() }),
  z.strictObject({ action: z.literal('resume') }),
  z.strictObject({ action: z.literal('offset'), ms: z.number() }),
  z.strictObject({ action: z.literal('advance'), ms: z.number().nonnegative() }),
]);

const journalOrder = z.strictObject({ order: z.array(journalFilter) });
const deployment = deploymentEntry.omit({ id: true });
const lines = z.union([z.strictObject({ lines: z.array(z.string()) }), z.strictObject({ text: z.string() })]);
const rate = z.strictObject({ linesPerSecond: z.number().nonnegative() });
const status = z.strictObject({ actual_status: z.enum(INSTANCE_STATUSES) });
const endpointLoad = z.looseObject({ endpoint: z.union([z.string().min(1), z.int()]) });
const hanging = z.strictObject({ hangs: z.boolean() });
const totpSecret = z.strictObject({ secret: z.string() });
const login = z.strictObject({ user_id: z.int().optional() });

export function adminRoutes(parts: AdminParts): AdminRoute[] {
  const { world, control, clock, faults, traits, journal } = parts;
  const { deployments, workergroups, workers, instances, endpointGroups, load, outbox, tfa } = parts;
  const snapshots = new Map<string, Snapshot>();
  const showClock = () => ({ mode: clock.mode, nowMs: clock.now(), offsetMs: clock.offsetMs });
  // `set` validates: its messages show the value of each field.
  const setTraits = ({ body }: AdminRequest) => traits.set(body(z.unknown()) as TraitsInput);
  return [
    get('/health', 'that it is up', () => ({
      status: 'ok',
      dialect: world.dialect.name,
      nowMs: clock.now(),
    })),
    get('/state', 'what there is, without secrets', () => overview(parts)),
    get('/public-key', 'what it signs routes with, as workers know it: PEM', () => ({
      publicKey: world.signer.publicKey(),
    })),
    post('/reset', 'back to the seed: state, clock, faults, traits, journal', () => control.reset()),
    get('/seed-schema', 'JSON schema of the seed file', () => z.toJSONSchema(seedSchema, { io: 'input' })),
    post('/seed', 'another seed, then as reset', ({ body }) => control.seed(body(seedSchema))),
    post('/snapshot', 'keeps the state under a name', ({ body }) => {
      const { name } = body(snapshotName);
      snapshots.set(name, control.snapshot());
      return { name };
    }),
    post('/restore', 'puts a kept state back, at once', ({ body }) => {
      const { name } = body(snapshotName);
      const snapshot = snapshots.get(name);
      if (!snapshot) throw new RangeError(`no snapshot "${name}"`);
      control.restore(snapshot);
    }),

    get('/clock', "the emulator's clock", showClock),
    post('/clock', 'freeze, resume, offset or advance it', async ({ body }) => {
      const change = body(clockChange);
      if (change.action === 'freeze') await clock.freeze(change.atMs);
      else if (change.action === 'resume') clock.resume();
      else await clock[change.action](change.ms);
      return showClock();
    }),

    get('/faults', 'faults in force', () => ({ faults: faults.list() })),
    post('/faults', 'puts a fault in force', async ({ body }) => {
      const fault = body(faultSchema);
      // The admin API is on the same port: an endless `refused` could never be lifted.
      if (fault.kind === 'refused' && (fault.forMs === undefined || clock.mode === 'frozen'))
        throw new Error('forMs: over this API `refused` needs an end, and a clock that runs towards it');
      // The answer must leave before the listener closes.
      const startInMs = fault.kind === 'refused' ? Math.max(fault.startInMs, 50) : fault.startInMs;
      const { faultId } = await faults.add({ ...fault, startInMs });
      return { faultId };
    }),
    remove('/faults', 'lifts all faults', () => faults.clear()),
    remove('/faults/{faultId}', 'lifts one fault', ({ name }) => {
      if (!faults.list().some(({ faultId }) => faultId === name)) throw new RangeError(`no fault ${name}`);
      return faults.clear(name);
    }),

    get('/traits', 'all traits', () => traits.get()),
    put('/traits', 'changes the traits that the body names; answers all traits', setTraits),
    post('/traits', 'the same', setTraits),

    get('/journal', 'requests that came; filters in the query', ({ query }) => {
      const filter = journalFilter.parse(coerceFields(journalFilter, query));
      return { dropped: journal.dropped, entries: journal.entries(filter) };
    }),
    remove('/journal', 'forgets them', () => journal.clear()),
    post('/journal/verify', 'how many came: times, atLeast, atMost', ({ body }) =>
      journal.verify(body(journalExpectation)),
    ),
    post('/journal/verify-order', 'whether they came in this order', ({ body }) =>
      journal.verifyOrder(body(journalOrder).order),
    ),

    get('/deployments/{id}', 'one deployment and how close it came to expiry', ({ id }) =>
      deployments.get(id),
    ),
    put('/deployments/{id}', 'adds or replaces it: ttl in seconds', ({ id, body }) =>
      deployments.add({ id, ...body(deployment) }),
    ),
    post('/deployments/{id}', 'changes its ttl, name, tag, state', ({ id, body }) =>
      deployments.change(id, body(deploymentChanges)),
    ),
    post('/deployments/{id}/redeploy', 'the same under a new id, which it answers', ({ id }) => ({
      id: deployments.redeploy(id),
    })),
    remove('/deployments/{id}', 'removes it', ({ id }) => deployments.remove(id)),

    post('/workergroups/{id}/lines', 'writes lines, or text', ({ id, body }) => {
      const written = body(lines);
      if ('lines' in written) workergroups.append(id, written.lines);
      else workergroups.write(id, written.text);
    }),
    remove('/workergroups/{id}/lines', 'throws its log away', ({ id }) => workergroups.clear(id)),
    put('/workergroups/{id}/rate', 'lines per second from now on', ({ id, body }) =>
      workergroups.setRate(id, body(rate).linesPerSecond),
    ),

    put('/workers/{id}', 'another performance, a stuck counter, a GPU that is lost', ({ id, body }) =>
      workers.set(id, body(workerTroubles)),
    ),
    put('/instances/{id}/status', 'its status from now on', ({ id, body }) =>
      instances.setStatus(id, body(status).actual_status),
    ),

    get('/endpoint-groups/{endpoint}', 'by id or name: its load, and what its engine did', ({ name }) =>
      endpointGroups.get(name),
    ),
    put('/endpoint-groups/{endpoint}', 'whether no start of its workers ends', ({ name, body }) =>
      endpointGroups.hang(name, body(hanging).hangs),
    ),
    get('/load', 'the load of each endpoint', () => ({ loads: load.list() })),
    put('/load', 'another load from now on: endpoint, shape, rate …, as in a seed', ({ body }) => {
      const { endpoint, ...given } = body(endpointLoad);
      return load.set(endpoint, loadSchema.parse(given));
    }),
    remove('/load', 'no load any more; of one alone with ?endpoint=', ({ query }) =>
      load.stop(query['endpoint']),
    ),

    get('/outbox', 'codes sent by SMS and e-mail; filters in the query', ({ query }) => ({
      messages: outbox.messages(outboxFilter.parse(coerceFields(outboxFilter, query))),
    })),
    remove('/outbox', 'empties it; the codes stay valid', () => outbox.clear()),
    get('/totp/{id}', 'the code that the authenticator of a method shows', ({ id }) => ({
      code: tfa.totp(id),
    })),
    post('/totp', 'the code of a secret that is being set up', ({ body }) => ({
      code: tfa.totp(body(totpSecret).secret),
    })),
    post('/logins', 'begins a login: a tfa_secret for the logged-out path', ({ body }) =>
      tfa.startLogin(body(login).user_id),
    ),
  ];
}

function overview({ world, clock, faults, ...inspected }: AdminParts) {
  const { state } = world;
  return {
    dialect: world.dialect.name,
    clock: { mode: clock.mode, nowMs: clock.now() },
    settings: state.settings,
    traits: state.traits,
    users: [...state.users.values()].map(({ id, username, is_admin }) => ({ id, username, is_admin })),
    apiKeys: [...state.keys.values()].map(({ id, name, userId }) => ({ id, name, userId })),
    deployments: inspected.deployments.list(),
    workergroups: inspected.workergroups.list(),
    instances: inspected.instances.list(),
    machines: [...state.machines.values()].map(({ id, maintenances }) => ({ id, maintenances })),
    // Environment and scripts may hold secrets.
    templates: inspected.templates.list().map(({ id, hash_id, name, creator_id, count_created }) => {
      return { id, hash_id, name, creator_id, count_created };
    }),
    offers: inspected.offers.list(),
    endpointGroups: inspected.endpointGroups.list(),
    teamRoles: inspected.teamRoles.list(),
    faults: faults.list(),
  };
}

export type AdminApi = ReturnType<typeof createAdminApi>;

const PREFIX = '/_emulator';

export function createAdminApi(routes: readonly AdminRoute[]) {
  const match = createMatcher(
    routes.map((each) => ({ method: each.method, path: PREFIX + each.path, value: each })),
  );
  const listed = routes.map(({ method, path, summary }) => ({ method, path: PREFIX + path, summary }));

  return {
    owns: (url: string) => /^\/_emulator(?:$|[/?])/.test(url),
    async answer(method: string, url: string, bodyText: string): Promise<Answer> {
      const { pathname, searchParams } = new URL(url, 'http://emulator');
      if (method === 'GET' && /^\/_emulator\/?$/.test(pathname)) return jsonAnswer(200, { routes: listed });
      const found = match(method, pathname);
      if (!found) return unknownRoute(method, pathname);
      try {
        const { value, params } = found;
        const [name = ''] = Object.values(params);
        const request: AdminRequest = {
          name,
          get id() {
            if (Number.isSafeInteger(Number(name))) return Number(name);
            throw new Error(`id: "${name}" is no integer`);
          },
          query: Object.fromEntries(searchParams),
          body: (schema) => schema.parse(readJson(bodyText)),
        };
        return jsonAnswer(200, (await value.run(request)) ?? { ok: true });
      } catch (error) {
        return refusal(error);
      }
    },
  };

  function unknownRoute(method: string, path: string): Answer {
    const methods = match.methodsOf(path);
    const known =
      methods.length > 0 ? `it knows ${methods.join(', ')} here` : 'GET /_emulator/ lists what it knows';
    return jsonAnswer(404, { error: 'not_found', msg: `no admin route ${method} ${path}; ${known}` });
  }
}

function readJson(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(`body: not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function refusal(error: unknown): Answer {
  const isTraits = error instanceof TraitsError;
  if (!isTraits && !(error instanceof z.ZodError)) {
    const missing = error instanceof RangeError && error.message.startsWith('no ');
    const msg = messageOf(error);
    return jsonAnswer(missing ? 404 : 400, { error: missing ? 'not_found' : 'bad_request', msg });
  }
  const found = isTraits ? error.problems : problemsOf(error, undefined);
  const problems = found.map(({ field, message }) => ({ field, message }));
  const told = problems.map(({ field, message }) => `${field || 'body'}: ${message}`).join('; ');
  return jsonAnswer(400, { error: 'bad_request', msg: isTraits ? error.message : told, problems });
}

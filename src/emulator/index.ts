/**
 * The local emulator of the service: `await using emulator = await startEmulator()`. One process, in memory,
 * no account, never calls out.
 */
import { adminRoutes } from './admin/routes.ts';
import { createAdminApi } from './admin/api.ts';
import { secretsOf } from './calls/access.ts';
import { findKey, firstKeyValue } from './resources/api-keys.ts';
import { buildState } from './seed/build.ts';
import { createClock, type Clock, type ClockStart } from './clock.ts';
import { createControl, type Control } from './service/control.ts';
import type { DialectName } from './dialect/dialect.ts';
import { createFaultInjector, type Faults } from './faults/injector.ts';
import { createFleets } from './fleet/fleets.ts';
import { createInferenceLog } from './worker-log/inference-log.ts';
import { inspectApiKeys, type ApiKeys } from './inspect/api-keys.ts';
import { inspectDeployments, type Deployments } from './inspect/deployments.ts';
import {
  inspectEndpointGroups,
  inspectLoads,
  type EndpointGroups,
  type Loads,
} from './inspect/endpoint-groups.ts';
import { inspectInstances, type Instances } from './inspect/instances.ts';
import { inspectMachines, type Machines } from './inspect/machines.ts';
import { inspectWorkerGroups, type WorkerGroups } from './inspect/worker-groups.ts';
import { inspectTraits, type TraitSwitches } from './inspect/traits.ts';
import { inspectResources, type Resources } from './inspect/resources.ts';
import { createJournal, type Journal } from './journal/journal.ts';
import { openListener } from './http/listener.ts';
import { publicDialect } from './dialect/public.ts';
import { specDialect } from './dialect/spec.ts';
import { createRandom } from './random.ts';
import { checkSeed, readTraits, withReplayFiles } from './seed/file.ts';
import type { Seed } from './seed/schema.ts';
import { createServer } from './http/server.ts';
import { withRateLimit } from './service/rate-limit.ts';
import { createService, type World } from './service/service.ts';
import { createSigner } from './serverless/signature.ts';
import type { SettingsInput } from './state/settings.ts';
import { defaultTraits, type Traits, type TraitsInput } from './state/traits.ts';
import { settle } from './service/settle.ts';
import {
  inspectOutbox,
  inspectTwoFactor,
  totpHelper,
  type Outbox,
  type TotpHelper,
  type TwoFactor,
} from './inspect/two-factor.ts';

export type { Clock, ClockMode, ClockStart } from './clock.ts';
export type { Control, Snapshot } from './service/control.ts';
export type { DeploymentView } from './resources/deployments.ts';
export type { DialectName } from './dialect/dialect.ts';
export type { FaultHandle, FaultView, Faults } from './faults/injector.ts';
export type { FaultInput, FaultKind } from './faults/faults.ts';
export type { ApiKeys } from './inspect/api-keys.ts';
export type { DeploymentChanges, Deployments } from './inspect/deployments.ts';
export type { InstanceView, Instances } from './inspect/instances.ts';
export type { Machines } from './inspect/machines.ts';
export type { WorkerGroupView, WorkerGroups } from './inspect/worker-groups.ts';
export type { Offers, TeamRoleView, TeamRoles, TemplateView, Templates } from './inspect/resources.ts';
export type { EndpointGroupView, EndpointGroups, Loads } from './inspect/endpoint-groups.ts';
export type { EndpointActivity, EndpointLoadView } from './fleet/engine-view.ts';
export type { LoadInput } from './state/endpoints/loads.ts';
export type { OfferView } from './resources/offers.ts';
export type { JournalEntry, JournalExpectation, JournalFilter } from './journal/entry.ts';
export type { Journal, Verification, WaitOptions } from './journal/journal.ts';
export type { SentMessage } from './state/two-factor.ts';
export type { Outbox, OutboxFilter, TotpHelper, TwoFactor } from './inspect/two-factor.ts';
export { DEFAULT_API_KEY, DEFAULT_SEED, DEFAULT_TEAM_KEY, DEFAULT_TOTP_SECRET } from './seed/default.ts';
export { seedSchema, type Seed } from './seed/schema.ts';
export type { TraitSwitches } from './inspect/traits.ts';
export { SeedError, TraitsError, readSeedFile, readTraitsFile } from './seed/file.ts';
export type { Traits, TraitsInput } from './state/traits.ts';
export { settingsSchema, type Settings, type SettingsInput } from './state/settings.ts';

export interface EmulatorOptions {
  /** Default 0: any free one. */
  readonly port?: number;
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Default `spec`: the interface, strictly. `public`: as the public service does. */
  readonly dialect?: DialectName;
  /** Sections that are left out come from the default seed. */
  readonly seed?: Seed;
  /** Default `real`. */
  readonly clock?: ClockStart;
  /** Win over those of the seed. */
  readonly settings?: SettingsInput;
  /** The dialect has a default for each trait. */
  readonly traits?: TraitsInput;
}

export interface Emulator extends Control, Resources, AsyncDisposable {
  /** Base address, for the main and the serverless service alike; without a slash at its end. */
  readonly url: string;
  readonly port: number;
  readonly dialect: DialectName;
  /** Value that the first API key of the seed has now; empty once it is deleted and was the only one. */
  readonly apiKey: string;
  /** What it signs routes with, as workers know it: PEM. */
  readonly publicKey: string;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly journal: Journal;
  readonly apiKeys: ApiKeys;
  readonly deployments: Deployments;
  readonly workergroups: WorkerGroups;
  readonly instances: Instances;
  readonly machines: Machines;
  readonly endpointGroups: EndpointGroups;
  /** Requests that come to endpoints by themselves. */
  readonly load: Loads;
  /** Switches for behaviour of the service that is not known for sure. */
  readonly traits: TraitSwitches;
  /** Codes that were sent by SMS and e-mail. */
  readonly outbox: Outbox;
  readonly totp: TotpHelper;
  readonly tfa: TwoFactor;
  /** Ends at once, requests that hang included; leaves no timer and no socket. Can be called again. */
  close(): Promise<void>;
}

/**
 * Above 60 lines because it is the list of the parts, which are connected here and nowhere else.
 * @throws SeedError for a seed that does not fit, TraitsError for such traits; what listen() says for a port that is taken
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { port = 0, host = '127.0.0.1', dialect: dialectName = 'spec', settings = {} } = options;
  checkSeed(options.seed ?? {});
  const seed = await withReplayFiles(options.seed ?? {});
  const traits: Traits = { ...defaultTraits(dialectName), ...readTraits(options.traits ?? {}) };

  const clock = createClock(options.clock, (beforeMs) => settle(world, beforeMs));
  const state = buildState(seed, settings, clock.now(), traits);
  const world: World = {
    state,
    dialect: dialectName === 'public' ? publicDialect : specDialect,
    now: () => clock.now(),
    random: createRandom(state.settings.randomSeed),
    inferenceLog: createInferenceLog(),
    signer: createSigner(),
    fleets: createFleets(),
  };
  world.fleets.settle(state, clock.now());

  const journal = createJournal(
    () => world.state.settings.journalEntries,
    () => secretsOf(world.state),
  );
  const faults = createFaultInjector({
    clock,
    random: () => world.random(),
    keyName: (key) => nameOfKey(world, key),
    listen: (open) => listener.listen(open),
  });
  const control = createControl({ world, clock, faults, journal, settings, seed, traits });
  const inspected = inspect(world);
  const closing = new AbortController();
  const server = await createServer({
    world,
    clock,
    service: withRateLimit(createService(world), world),
    faults,
    journal,
    admin: createAdminApi(
      adminRoutes({ dialect: dialectName, world, control, clock, faults, journal, ...inspected }),
    ),
    closing: closing.signal,
  });
  const listener = await openListener(server, host, port);

  async function close(): Promise<void> {
    closing.abort();
    clock[Symbol.dispose]();
    await listener.close();
  }

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listener.port}`,
    port: listener.port,
    dialect: dialectName,
    get apiKey() {
      return firstKeyValue(world.state) ?? '';
    },
    get publicKey() {
      return world.signer.publicKey();
    },
    clock,
    faults,
    journal,
    ...control,
    ...inspected,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What a test sees and changes in process. */
function inspect(world: World) {
  return {
    apiKeys: inspectApiKeys(world),
    deployments: inspectDeployments(world),
    workergroups: inspectWorkerGroups(world),
    instances: inspectInstances(world),
    machines: inspectMachines(world),
    endpointGroups: inspectEndpointGroups(world),
    load: inspectLoads(world),
    traits: inspectTraits(world),
    ...inspectResources(world),
    outbox: inspectOutbox(world),
    totp: totpHelper(world),
    tfa: inspectTwoFactor(world),
  };
}

/** The name of the key with this name or value. */
function nameOfKey(world: World, nameOrValue: string): string | undefined {
  const key = world.state.keys.get(nameOrValue) ?? findKey(world.state, nameOrValue)?.[1];
  return key?.name;
}

/**
 * The local emulator of the service: `await using emulator = await startEmulator()`. One process, in memory,
 * no account, never calls out.
 */
import { createControl, type Control } from './admin/control.ts';
import { createAdminApi } from './admin/route.ts';
import { adminRoutes, inspect, type Inspected } from './admin/routes.ts';
import { secretsOf } from './calls/call.ts';
import { ScheduledClock, type Clock, type ClockStart } from './clock.ts';
import { specDialect, type DialectName } from './dialect/dialect.ts';
import { publicDialect } from './dialect/public.ts';
import { FaultInjector, type Faults } from './faults/faults.ts';
import { findKey } from './handlers/accounts.ts';
import { openListener } from './http/listener.ts';
import { createServer } from './http/server.ts';
import { RequestJournal, type Journal } from './journal/journal.ts';
import { buildState } from './seed/build.ts';
import { checkSeed, readTraits } from './seed/file.ts';
import type { Seed } from './seed/schema.ts';
import { withRateLimit } from './service/rate-limit.ts';
import { createService, createWorld, settle } from './service/service.ts';
import type { SettingsInput } from './state/settings.ts';
import { defaultTraits, type Traits, type TraitsInput } from './state/traits.ts';

export type {
  ApiKeys,
  Outbox,
  OutboxFilter,
  TeamRoles,
  TeamRoleView,
  TotpHelper,
  TwoFactor,
} from './admin/accounts.ts';
export type { Control, Snapshot, TraitSwitches } from './admin/control.ts';
export type {
  DeploymentChanges,
  Deployments,
  EndpointActivity,
  EndpointGroups,
  EndpointGroupView,
  EndpointLoadView,
  Loads,
  WorkerGroups,
  WorkerGroupView,
  Workers,
} from './admin/fleet.ts';
export type {
  Instances,
  InstanceView,
  Machines,
  Offers,
  OfferView,
  Templates,
  TemplateView,
} from './admin/rentals.ts';
export type { Clock, ClockMode, ClockStart } from './clock.ts';
export type { DialectName } from './dialect/dialect.ts';
export type { FaultHandle, FaultInput, FaultKind, Faults, FaultView } from './faults/faults.ts';
export type {
  Journal,
  JournalEntry,
  JournalExpectation,
  JournalFilter,
  Verification,
  WaitOptions,
} from './journal/journal.ts';
export { DEFAULT_API_KEY, DEFAULT_SEED, DEFAULT_TEAM_KEY, DEFAULT_TOTP_SECRET } from './seed/default.ts';
export { readSeedFile, readTraitsFile, SeedError, TraitsError } from './seed/file.ts';
export { seedSchema, type Seed } from './seed/schema.ts';
export type { DeploymentView } from './state/deployments.ts';
export type { LoadInput } from './state/loads.ts';
export { settingsSchema, type Settings, type SettingsInput } from './state/settings.ts';
export type { Traits, TraitsInput } from './state/traits.ts';
export type { SentMessage } from './state/users.ts';

/** Where it listens, how it behaves, and what there is at the start. Every field has a default. */
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

/** A running emulator: its address, and everything a test can look at or change. */
export interface Emulator extends Control, Inspected, AsyncDisposable {
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
  /** Ends at once, requests that hang included; leaves no timer and no socket. Can be called again. */
  close(): Promise<void>;
}

/**
 * Starts an emulator in this process. All parts are connected here and nowhere else, hence its length.
 * @throws SeedError for a seed that does not fit, TraitsError for such traits; what listen() says for a port that is taken
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { port = 0, host = '127.0.0.1', dialect: dialectName = 'spec', settings = {} } = options;
  const { seed = {} } = options;
  checkSeed(seed);
  const traits: Traits = { ...defaultTraits(dialectName), ...readTraits(options.traits ?? {}) };

  const clock = new ScheduledClock(options.clock, (beforeMs) => settle(world, beforeMs));
  const state = buildState(seed, settings, clock.now(), traits);
  const dialect = dialectName === 'public' ? publicDialect : specDialect;
  const world = createWorld(state, dialect, () => clock.now());
  world.fleets.settle(state, clock.now());

  const journal = new RequestJournal(() => secretsOf(world.state));
  const faults = new FaultInjector({
    clock,
    random: () => world.random(),
    keyName: (key) => (world.state.keys.get(key) ?? findKey(world.state, key)?.[1])?.name,
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
      const [first] = [...world.state.keys].sort(([, a], [, b]) => a.id - b.id);
      return first?.[0] ?? '';
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

/** The local emulator: one process, in memory, no account. It never calls out. */
import { createControl, type Control } from './admin/control.ts';
import { adminRoutes, createAdminApi, inspect, type Inspected } from './admin/routes.ts';
import { secretsOf } from './call.ts';
import { ScheduledClock, type Clock, type ClockStart } from './clock.ts';
import { publicDialect, specDialect, type DialectName } from './dialect.ts';
import { FaultInjector, type Faults } from './faults.ts';
import { RequestJournal, type Journal } from './journal.ts';
import { withRateLimit } from './rate-limit.ts';
import { buildState } from './seed/build.ts';
import { checkSeed, readTraits, type Seed } from './seed/seed.ts';
import { createServer, openListener } from './server.ts';
import { catchUp, createService, createWorld } from './service.ts';
import { defaultTraits, type SettingsInput, type Traits, type TraitsInput } from './state/settings.ts';

export type { ApiKeys, Outbox, OutboxFilter, TeamRoles, TotpHelper, TwoFactor } from './admin/accounts.ts';
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
export type { Instances, InstanceView, Offers, OfferView, Templates, TemplateView } from './admin/fleet.ts';
export type { Clock, ClockMode, ClockStart } from './clock.ts';
export type { DialectName } from './dialect.ts';
export type { FaultHandle, FaultInput, FaultKind, Faults, FaultView } from './faults.ts';
export type {
  Journal,
  JournalEntry,
  JournalExpectation,
  JournalFilter,
  Verification,
  WaitOptions,
} from './journal.ts';
export { DEFAULT_API_KEY, DEFAULT_SEED, DEFAULT_TEAM_KEY, DEFAULT_TOTP_SECRET } from './seed/seed.ts';
export { readSeedFile, readTraitsFile, SeedError, TraitsError } from './seed/seed.ts';
export { seedSchema, type Seed } from './seed/seed.ts';
export type { DeploymentView, LoadInput } from './state/serverless.ts';
export { settingsSchema, type Settings, type SettingsInput } from './state/settings.ts';
export type { Traits, TraitsInput } from './state/settings.ts';
export type { SentMessage, TeamRoleRecord as TeamRoleView } from './state/state.ts';

/** Options of an emulator. Each has a default. */
export interface EmulatorOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default `spec`: the interface, strictly. `public`: as the public service behaves. */
  readonly dialect?: DialectName;
  /** Omitted sections come from the default seed. */
  readonly seed?: Seed;
  /** Default `real`. */
  readonly clock?: ClockStart;
  /** They win over the settings of the seed. */
  readonly settings?: SettingsInput;
  /** Each dialect has its defaults. */
  readonly traits?: TraitsInput;
}

/** A running emulator: its address, and everything that a test can read or change. */
export interface Emulator extends Control, Inspected, AsyncDisposable {
  /** Base address of the main and the serverless service, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  readonly dialect: DialectName;
  /** Current value of the first API key; empty if there is none. */
  readonly apiKey: string;
  readonly publicKey: string;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly journal: Journal;
  /** Ends at once, hanging requests included. Leaves no timer and no socket. Idempotent. */
  close(): Promise<void>;
}

/** Connects all parts. @throws SeedError, TraitsError, or the error of listen() for a taken port */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { port = 0, host = '127.0.0.1', dialect: dialectName = 'spec', settings = {} } = options;
  const { seed = {} } = options;
  checkSeed(seed);
  const traits: Traits = { ...defaultTraits(dialectName), ...readTraits(options.traits ?? {}) };

  const clock = new ScheduledClock(options.clock, (beforeMs) => catchUp(world, beforeMs));
  const state = buildState(seed, settings, clock.now(), traits);
  const dialect = dialectName === 'public' ? publicDialect : specDialect;
  const world = createWorld(state, dialect, () => clock.now());
  world.fleets.catchUp(state, clock.now());

  const journal = new RequestJournal(() => secretsOf(world.state));
  const closing = new AbortController();
  const service = withRateLimit(createService(world), world);
  const faults = new FaultInjector({
    clock,
    world,
    service,
    closing: closing.signal,
    listen: (open) => listener.listen(open),
  });
  const machinery = { world, clock, faults, journal };
  const control = createControl(machinery, { settings, seed, traits });
  const inspected = inspect(world);
  const server = await createServer({
    ...machinery,
    service,
    admin: createAdminApi(adminRoutes({ ...machinery, control, ...inspected })),
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

/** The heartbeats with all that they need, in the process that creates it: `pilotlight run`, or a test. */
import type { ApiKey } from '../client/api-key.ts';
import { createPartialClient, type ClientObserver, type ClientOf } from '../client/caller.ts';
import { LocalGate, GrantOffice, type Ask, type Grants } from '../client/gate.ts';
import { RateLimiter } from '../client/rate-limiter.ts';
import { systemMs } from '../client/retry.ts';
import { createTransport, type OriginAddresses } from '../client/transport/transport.ts';
import { serverlessOperations } from '../contract/operations/serverless/serverless.ts';
import { AppWatch, createAskApp, type AppHealth } from './app-watch.ts';
import { createBeatPort } from './driver/beat.ts';
import {
  listOf,
  type Choice,
  type DiscoveryNotice,
  type TimingSettings,
  type Wanted,
} from './discovery/wanted.ts';
import { DeploymentWatch, type MissingDeployment } from './discovery/watch.ts';
import { HeartbeatDriver } from './driver/driver.ts';
import type { Notice } from './engine/state.ts';
import type { Ports } from './driver/ports.ts';
import type { AppSnapshot, AvoidedAddress, DeploymentSnapshot, SharedLimit } from './view/snapshot.ts';

export interface HeartListener {
  notice(deploymentId: number, notice: Notice): void;
  exchange(event: ExchangeEvent): void;
  removed(deploymentId: number): void;
  /** It was redeployed: its name has another id. It is shown for a minute, and then removed. */
  replaced(deploymentId: number, by: number, name: string): void;
  discovery(notice: DiscoveryNotice): void;
  keyUnreadable(why: string): void;
  app(news: AppNews): void;
}

export type AppNews =
  | { readonly type: 'healthy' }
  | { readonly type: 'unhealthy'; readonly why: string; readonly withheldInMs: number }
  /** Told again with each bad answer. */
  | { readonly type: 'withheld'; readonly why: string; readonly unhealthyMs: number }
  | {
      readonly type: 'resumed';
      readonly because: 'healthy' | 'reload';
      readonly deployments: number;
      readonly tooLate: readonly number[];
    };

export interface AppChoice {
  /** `http://…`, `https://…` or `tcp://host:port`; it may have credentials in it. */
  readonly address: string;
  readonly grace: number;
}

export type ExchangeEvent = Parameters<NonNullable<ClientObserver['exchange']>>[0];

interface HeartOptions {
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly listener: HeartListener;
  readonly deployments: readonly Wanted[];
  readonly settings: TimingSettings;
  readonly app?: AppChoice | undefined;
  /** Attempts under way, overdue ones included: each has an open file. Default 512. */
  readonly attemptsAtOnce?: number;
}

/** The schemas of other operations are not loaded. */
const HEARTBEAT = { 'deployments.heartbeat': serverlessOperations['deployments.heartbeat'] };
const QUESTIONS = {
  'deployments.get': serverlessOperations['deployments.get'],
  'deployments.list': serverlessOperations['deployments.list'],
};
const SPACINGS = Object.fromEntries(
  Object.entries({ ...HEARTBEAT, ...QUESTIONS }).map(([id, { publicSpacingMs }]) => [id, publicSpacingMs]),
);

/** Within this time a list tells whether the name of a gone deployment has another id, ms. */
const LIST_TELLS_MS = 10_000;
const REPLACED_SHOWN_MS = 60_000;

const KEY_AGAIN_MS = 60_000;

const CLOCK: Ports['clock'] = { mono: () => performance.now(), wall: Date.now };

export class Heart {
  readonly #options: HeartOptions;
  readonly #transport = createTransport();
  readonly #client: ClientOf<keyof typeof HEARTBEAT>;
  readonly #limiter = new RateLimiter({ spacings: SPACINGS });
  readonly #office: GrantOffice;
  readonly #driver: HeartbeatDriver;
  readonly #watch: DeploymentWatch;
  readonly #stopping = new AbortController();
  readonly #kept = new Map<number, Choice>();
  /** Gone deployments by name, until a list could show a redeployment. The value ends the wait. */
  readonly #doubted = new Map<number, () => void>();
  readonly #replaced = new Map<
    number,
    { readonly snapshot: DeploymentSnapshot; readonly forget: () => void }
  >();
  #lastTickAt = Date.now();
  #readKeyAgain = (): void => {};
  #app: AppWatch | undefined;
  #appAddress: string | undefined;

  constructor(options: HeartOptions) {
    const { apiKey, baseUrl, deployments, settings, listener, attemptsAtOnce = 512 } = options;
    this.#options = options;
    const list = listOf(QUESTIONS['deployments.list'], (body) => this.#watch.relevantRows(body));
    const common = { transport: this.#transport, baseUrl, apiKey: () => apiKey.current() };
    // The driver itself decides when a heartbeat leaves.
    this.#client = createPartialClient<keyof typeof HEARTBEAT>(HEARTBEAT, {
      ...common,
      gate: false,
      observe: {
        exchange: (event) => {
          if (event.rate) this.#limiter.heard(event.operation, event.rate, CLOCK.mono());
          listener.exchange(event);
        },
      },
    });
    const questions = createPartialClient<keyof typeof QUESTIONS>(
      { ...QUESTIONS, 'deployments.list': list },
      {
        ...common,
        gate: new LocalGate(this.#limiter, 'question'),
        observe: { exchange: (event) => listener.exchange(event) },
      },
    );
    const ports: Pick<Ports, 'clock' | 'random' | 'setTimer'> = {
      clock: CLOCK,
      random: Math.random,
      setTimer: (ms, fn) =>
        setSystemTimer(ms, () => {
          this.#lastTickAt = Date.now();
          fn();
        }),
    };
    this.#driver = new HeartbeatDriver({
      key: apiKey.current(),
      // The other half is for overdue attempts, so that new ones can always begin.
      openLimit: attemptsAtOnce,
      concurrency: Math.floor(attemptsAtOnce / 2),
      limiter: this.#limiter,
      ports: {
        ...ports,
        beat: createBeatPort(this.#client),
        readKey: (signal) => this.#readKey(signal),
        listener: (deploymentId, notice) => this.#hear(deploymentId, notice),
      },
    });
    this.#limiter.heartbeatAt = () => this.#driver.leavesAt();
    this.#office = new GrantOffice(this.#limiter);
    this.#watch = new DeploymentWatch({
      client: questions,
      wanted: deployments,
      settings,
      ports,
      signal: this.#stopping.signal,
      onChange: (choices) => this.#keep(choices),
      onNotice: (notice) => listener.discovery(notice),
      isGone: (id) => this.#driver.snapshotOf(id)?.state === 'gone',
      isAlive: (id) => this.#driver.snapshotOf(id)?.state === 'healthy',
    });
    this.#watchApp(options.app);
  }

  reload(wanted: readonly Wanted[], settings: TimingSettings, app?: AppChoice): void {
    this.#watch.refresh({ wanted, settings });
    this.#driver.beatNow((state) => state === 'gone');
    if (app !== undefined && app.address === this.#appAddress) this.#app?.setGrace(app.grace);
    else this.#watchApp(app);
  }

  keyChanged(): Promise<void> {
    return this.#driver.readKey();
  }

  lastTickAt(): number {
    return this.#lastTickAt;
  }

  deploymentIds(): Iterable<number> {
    return [...this.#kept.keys(), ...this.#replaced.keys()];
  }

  snapshotOf(deploymentId: number): DeploymentSnapshot | undefined {
    const replaced = this.#replaced.get(deploymentId);
    if (replaced) return replaced.snapshot;
    const snapshot = this.#driver.snapshotOf(deploymentId);
    const name = this.#kept.get(deploymentId)?.name;
    if (snapshot === undefined || name === undefined) return snapshot;
    return { ...snapshot, name, ...(this.#doubted.has(deploymentId) && { state: 'suspect-gone' }) };
  }

  app(): AppSnapshot | undefined {
    return this.#app?.snapshot();
  }

  answer(ask: Ask): Grants {
    return this.#office.answer(ask, CLOCK.mono(), systemMs());
  }

  /** Failed addresses of a name that has others. */
  avoidedAddresses(): AvoidedAddress[] {
    const shared = this.addresses().filter(({ addresses }) => addresses.length > 1);
    return shared.flatMap(({ origin, proxy, addresses }) => {
      const from = proxy === undefined ? origin : `proxy ${proxy}`;
      return addresses.flatMap(({ address, failure }) =>
        failure ? [{ origin: from, address, ...failure }] : [],
      );
    });
  }

  missingDeployments(): MissingDeployment[] {
    return this.#watch.missing();
  }

  openConnections(): number {
    return this.#transport.open;
  }

  addresses(): OriginAddresses[] {
    return this.#transport.addresses();
  }

  sharedLimit(): SharedLimit | undefined {
    return this.#driver.sharedLimit();
  }

  lastBeatsTakeMs(): number {
    return this.#driver.finalBeatMs();
  }

  /** One last heartbeat for every deployment. Returns the ids that were not reached. */
  lastBeats(limitMs: number): Promise<number[]> {
    // From here on nothing is withheld or resumed: the app may end with this process.
    this.#app?.stop();
    return this.#driver.finalBeat(limitMs);
  }

  async stop(): Promise<void> {
    this.#app?.stop();
    this.#readKeyAgain();
    for (const end of this.#doubted.values()) end();
    for (const { forget } of this.#replaced.values()) forget();
    this.#stopping.abort(new Error('stopping'));
    await Promise.all([this.#driver.stop(), this.#watch.done]);
    await this.#client[Symbol.asyncDispose]();
  }

  #watchApp(app: AppChoice | undefined): void {
    const wasWithheld = this.#app?.health.withheld ?? false;
    this.#app?.stop();
    this.#appAddress = app?.address;
    this.#app =
      app &&
      new AppWatch({
        grace: app.grace,
        // Not the driver's: its timers tell that the scheduler lives.
        ports: { clock: CLOCK, setTimer: setSystemTimer },
        ask: createAskApp(app.address),
        onHealth: (health, before) => this.#hearApp(health, before),
      });
    if (wasWithheld) this.#resume('reload');
  }

  #hearApp(health: AppHealth, before: AppHealth): void {
    const { unhealthyMs, misses, withheld } = health;
    const why = this.#app?.why;
    if (withheld && !before.withheld) this.#driver.withhold();
    if (before.withheld && !withheld) this.#resume(misses === 0 ? 'healthy' : 'reload');
    else if (why === undefined) this.#options.listener.app({ type: 'healthy' });
    else if (withheld) this.#options.listener.app({ type: 'withheld', why, unhealthyMs });
    else {
      const withheldInMs = Math.max(0, health.grace - unhealthyMs);
      this.#options.listener.app({ type: 'unhealthy', why, withheldInMs });
    }
  }

  #resume(because: 'healthy' | 'reload'): void {
    const tooLate = this.#driver.resume();
    this.#options.listener.app({ type: 'resumed', because, deployments: this.#kept.size, tooLate });
  }

  #hear(id: number, notice: Notice): void {
    const { listener } = this.#options;
    if (notice.type !== 'state') return listener.notice(id, notice);
    this.#doubted.get(id)?.();
    this.#doubted.delete(id);
    const isNamed = this.#kept.get(id)?.name !== undefined;
    // Its name may have another id by now.
    if (notice.to === 'suspect-gone' && isNamed) this.#watch.refresh();
    // After the driver is done with it: it may be removed.
    if (notice.to === 'gone') queueMicrotask(() => this.#watch.gone(id));
    if (notice.to !== 'gone' || !isNamed) return listener.notice(id, notice);
    const tell = (): void => {
      this.#doubted.delete(id);
      listener.notice(id, notice);
    };
    this.#doubted.set(id, setSystemTimer(LIST_TELLS_MS, tell));
  }

  async #readKey(signal: AbortSignal): Promise<string> {
    const { apiKey, listener } = this.#options;
    const before = apiKey.current();
    this.#readKeyAgain();
    try {
      const key = await apiKey.reread(signal);
      if (key !== before) this.#watch.refresh();
      return key;
    } catch (error) {
      if (signal.aborted) throw error;
      listener.keyUnreadable((error as Error).message);
      this.#readKeyAgain = setSystemTimer(KEY_AGAIN_MS, () => void this.keyChanged());
      throw error;
    }
  }

  #replace(snapshot: DeploymentSnapshot, by: number, name: string): void {
    // Without times that would raise an alarm.
    const { nextBeatAt: _next, expiresAt: _expires, ...last } = snapshot;
    const { deploymentId: id } = last;
    const forget = setSystemTimer(REPLACED_SHOWN_MS, () => {
      this.#replaced.delete(id);
      this.#options.listener.removed(id);
    });
    this.#replaced.set(id, { snapshot: { ...last, state: 'replaced' }, forget });
    this.#options.listener.replaced(id, by, name);
  }

  #keep(choices: readonly Choice[]): void {
    const wanted = new Set(choices.map(({ id }) => id));
    for (const [id, { name, tag }] of this.#kept) {
      if (wanted.has(id)) continue;
      // Another tag of the name is another deployment.
      const successor = choices.findLast((one) => one.name === name && one.tag === tag && one.id > id);
      const snapshot = this.snapshotOf(id);
      this.#doubted.get(id)?.();
      this.#doubted.delete(id);
      this.#kept.delete(id);
      this.#driver.remove(id);
      if (name === undefined || !successor || !snapshot) this.#options.listener.removed(id);
      else this.#replace(snapshot, successor.id, name);
    }
    for (const choice of choices) {
      this.#replaced.get(choice.id)?.forget();
      this.#replaced.delete(choice.id);
      this.#kept.set(choice.id, choice);
      this.#driver.add(choice);
    }
  }
}

function setSystemTimer(ms: number, fn: () => void): () => void {
  const timer = setTimeout(fn, ms);
  return () => clearTimeout(timer);
}

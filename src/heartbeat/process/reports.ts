/** What happened at the heart, on its way to the daemon: bounded, one report under way at a time. */
import type { ExchangeEvent, Heart } from '../heart.ts';
import type { DeploymentSnapshot } from '../view/snapshot.ts';
import type { Vitals } from './system.ts';
import type { Report } from './link.ts';

type ReportSources = Pick<
  Heart,
  | 'snapshotOf'
  | 'deploymentIds'
  | 'lastTickAt'
  | 'openConnections'
  | 'avoidedAddresses'
  | 'missingDeployments'
  | 'app'
>;

const GATHER_MS = 50;
/** A due heartbeat waits at most until so many are written. */
const SNAPSHOTS_AT_ONCE = 250;
/** Of exchanges, and of lags: four seconds at 1,000 heartbeats a second. */
const CAPACITY = 4_000;

export class Reports {
  readonly #heart: () => ReportSources;
  readonly #vitals: Pick<Vitals, 'read'>;
  #send: ((report: Report) => void) | undefined;
  #number = 0;
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #changed = new Set<number>();
  #removed: number[] = [];
  #exchanges: Report['exchanges'][number][] = [];
  #lags: number[] = [];
  #missed = 0;
  #messages: Record<string, number> = {};
  readonly #upToDate: (() => void)[] = [];

  constructor(heart: () => ReportSources, vitals: Pick<Vitals, 'read'>) {
    this.#heart = heart;
    this.#vitals = vitals;
  }

  /** Begins with all deployments. A report that was under way is lost. */
  sendTo(send: (report: Report) => void): void {
    this.#send = send;
    this.#underWay = 0;
    this.#removed = [];
    for (const id of this.#heart().deploymentIds()) this.#changed.add(id);
    this.#gather();
  }

  close(): void {
    this.#send = undefined;
    for (const tell of this.#upToDate.splice(0)) tell();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  get waits(): boolean {
    return this.#underWay > 0;
  }

  taken(number: number): void {
    if (number !== this.#underWay) return;
    this.#underWay = 0;
    if (this.#hasNews()) this.#gather();
    else for (const tell of this.#upToDate.splice(0)) tell();
  }

  /** Resolves when the daemon knows all that has happened, or nothing listens. */
  async upToDate(): Promise<void> {
    if (this.#send === undefined || (this.#underWay === 0 && !this.#hasNews())) return;
    await new Promise<void>((resolve) => this.#upToDate.push(resolve));
  }

  /** A report shows that both sides work, even if nothing has happened. */
  signOfLife(): void {
    if (this.#send !== undefined && this.#underWay === 0) this.#flush();
  }

  changed(deploymentId: number): void {
    this.#changed.add(deploymentId);
    this.#gather();
  }

  removed(deploymentId: number): void {
    this.#changed.delete(deploymentId);
    this.#removed.push(deploymentId);
    this.#gather();
  }

  exchange(event: ExchangeEvent): void {
    this.#exchanges = this.#bounded(this.#exchanges);
    this.#exchanges.push({ ...event, at: Date.now() });
  }

  lag(ms: number): void {
    this.#lags = this.#bounded(this.#lags);
    this.#lags.push(ms);
  }

  message(level: string): void {
    this.#messages[level] = (this.#messages[level] ?? 0) + 1;
  }

  #bounded<T>(list: T[]): T[] {
    if (list.length < CAPACITY) return list;
    this.#missed += CAPACITY / 2;
    return list.slice(CAPACITY / 2);
  }

  #gather(): void {
    if (this.#send === undefined || this.#underWay > 0) return;
    this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  #hasNews(): boolean {
    return this.#changed.size > 0 || this.#removed.length > 0;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#number += 1;
    this.#underWay = this.#number;
    const heart = this.#heart();
    this.#send?.({
      number: this.#number,
      lastTickAt: heart.lastTickAt(),
      changed: this.#takeSnapshots(),
      removed: this.#removed,
      exchanges: this.#exchanges,
      lags: this.#lags,
      missed: this.#missed,
      messages: this.#messages,
      openConnections: heart.openConnections(),
      vitals: this.#vitals.read(),
      avoided: heart.avoidedAddresses(),
      missing: heart.missingDeployments(),
      app: heart.app(),
    });
    this.#removed = [];
    this.#exchanges = [];
    this.#lags = [];
    this.#missed = 0;
    this.#messages = {};
  }

  #takeSnapshots(): DeploymentSnapshot[] {
    const snapshots: DeploymentSnapshot[] = [];
    for (const id of this.#changed) {
      this.#changed.delete(id);
      const snapshot = this.#heart().snapshotOf(id);
      if (snapshot !== undefined) snapshots.push(snapshot);
      if (snapshots.length === SNAPSHOTS_AT_ONCE) break;
    }
    return snapshots;
  }
}

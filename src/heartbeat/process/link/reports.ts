/**
 * What happened at the heart, on its way to the daemon: gathered, bounded, one report under way at a time. Of a
 * deployment the newest state is told, however often it changed meanwhile.
 */
import type { ExchangeEvent } from '../../heart.ts';
import type { DeploymentSnapshot } from '../../view/snapshot.ts';
import type { Report } from './link.ts';

/** What is read when a report is made. */
export interface ReportSources {
  snapshotOf(deploymentId: number): DeploymentSnapshot | undefined;
  deploymentIds(): Iterable<number>;
  lastTickAt(): number;
  openConnections(): number;
}

/** How long news is gathered, ms: one report for what happens together. */
const GATHER_MS = 50;
/** Deployments in one report: a beat that is due waits for no more than these to be written. */
const SNAPSHOTS_AT_ONCE = 250;
/** Exchanges and lags that wait at most: at 1,000 heartbeats a second, four seconds of them. */
const CAPACITY = 4_000;

export class Reports {
  readonly #sources: ReportSources;
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

  constructor(sources: ReportSources) {
    this.#sources = sources;
  }

  /** From now on reports go there, beginning with all deployments. What was under way to another is lost. */
  sendTo(send: (report: Report) => void): void {
    this.#send = send;
    this.#underWay = 0;
    this.#removed = [];
    for (const id of this.#sources.deploymentIds()) this.#changed.add(id);
    this.#gather();
  }

  /** Nobody listens any more. */
  close(): void {
    this.#send = undefined;
    for (const tell of this.#upToDate.splice(0)) tell();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Whether a report waits to be taken. */
  get waits(): boolean {
    return this.#underWay > 0;
  }

  taken(number: number): void {
    if (number !== this.#underWay) return;
    this.#underWay = 0;
    if (this.#hasNews()) this.#gather();
    else for (const tell of this.#upToDate.splice(0)) tell();
  }

  /** Resolves when the daemon knows all that has happened by now, or nobody listens. */
  async upToDate(): Promise<void> {
    if (this.#send === undefined || (this.#underWay === 0 && !this.#hasNews())) return;
    await new Promise<void>((resolve) => this.#upToDate.push(resolve));
  }

  /** A report at the latest now, though nothing has happened: it shows that both sides live. */
  signOfLife(): void {
    if (this.#send !== undefined && this.#underWay === 0) this.#flush();
  }

  changed(deploymentId: number): void {
    this.#changed.add(deploymentId);
    this.#gather();
  }

  removed(deploymentId: number): void {
    this.#changed.delete(deploymentId);
    if (this.#send) this.#removed.push(deploymentId);
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

  /** The oldest half makes room when there is none. */
  #bounded<T>(list: T[]): T[] {
    if (list.length < CAPACITY) return list;
    this.#missed += CAPACITY / 2;
    return list.slice(CAPACITY / 2);
  }

  /** News leaves soon, unless a report is under way: then with the next one. */
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
    this.#send?.({
      number: this.#number,
      lastTickAt: this.#sources.lastTickAt(),
      changed: this.#takeSnapshots(),
      removed: this.#removed,
      exchanges: this.#exchanges,
      lags: this.#lags,
      missed: this.#missed,
      messages: this.#messages,
      openConnections: this.#sources.openConnections(),
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
      const snapshot = this.#sources.snapshotOf(id);
      if (snapshot !== undefined) snapshots.push(snapshot);
      if (snapshots.length === SNAPSHOTS_AT_ONCE) break;
    }
    return snapshots;
  }
}

/**
 * Decides when the heart says something about its deployments: each change of state, and once a minute whatever is still
 * wrong. Many share one line, so that ten thousand deployments that fail together do not flood the log; but the reason of
 * a failure is there within ten seconds of its start.
 */
import type { OriginAddresses } from '../../../client/transport/transport.ts';
import type { DiscoveryNotice, Finding } from '../../discovery/findings.ts';
import type { HeartbeatState, Notice } from '../../engine/state.ts';
import type { AppNews } from '../../heart.ts';
import { describeAddressFailure } from '../../driver/describe-failure.ts';
import { FAILURE_WORDS } from '../../view/failure-words.ts';
import type { SharedLimit } from '../../view/snapshot.ts';
import { counted, NAMED, type HeartLog, type LogFields } from './log.ts';
import { DISCOVERY, LIMIT_ADVICE, MESSAGES, STATE_ADVICE, STATE_LEVELS } from './messages.ts';

/** Read every few seconds. */
export interface LoggerSources {
  readonly sharedLimit: () => SharedLimit | undefined;
  readonly addresses: () => readonly OriginAddresses[];
  readonly deploymentIds: () => Iterable<number>;
}

/** How often to look for new troubles, and how often to log all of them again, ms. */
const LOOK_MS = 5_000;
const SUMMARY_MS = 60_000;
/** How long changes are gathered, and the least time between two lines about changes, ms. */
const GATHER_MS = 250;
const BETWEEN_MS = 1_000;
/** A deployment that comes and goes is named with the same trouble again after this, ms. */
const NAMED_AGAIN_MS = 60_000;

/** A deployment whose last heartbeat was not accepted. */
interface Trouble {
  readonly state: HeartbeatState;
  readonly reason: keyof typeof FAILURE_WORDS;
  /** The reason in words, if more is known than its kind. */
  readonly why: string | undefined;
}

/** From a state to another since the last line about changes. */
interface Change {
  readonly id: number;
  readonly from: HeartbeatState;
  readonly to: HeartbeatState;
  /** When the TTL ends, monotonic ms; undefined if that is not known. */
  readonly expiresAt: number | undefined;
  /** It is not logged before this, monotonic ms. */
  readonly notBefore: number;
}

export class HeartbeatLogger {
  readonly #log: HeartLog;
  readonly #sources: LoggerSources;
  readonly #troubles = new Map<number, Trouble>();
  readonly #looking: NodeJS.Timeout;
  #summaryAt = performance.now();
  readonly #changes = new Map<number, Change>();
  /** When a line last named a deployment, by state and id; `failing` is each state that is not healthy. */
  readonly #namedAt = new Map<string, number>();
  /** Deployments of which the log says last that something is wrong. */
  readonly #loggedTroubles = new Set<number>();
  #changesAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;
  #limitMs: number | undefined;
  /** Addresses that were logged as failed, and not yet that they work. */
  readonly #failedAddresses = new Set<string>();
  /** Whether the log says last that the app is unhealthy, and how often heartbeats were resumed. */
  #isAppUnhealthy = false;
  #resumes = 0;

  constructor(log: HeartLog, sources: LoggerSources) {
    this.#log = log;
    this.#sources = sources;
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
  }

  notice(id: number, notice: Notice): void {
    switch (notice.type) {
      case 'sent':
        if (notice.attempt === 1) this.#trouble(id, { state: 'starting', reason: 'overdue' });
        return;
      case 'accepted':
        return void this.#troubles.delete(id);
      case 'overdue':
        return this.#trouble(id, { reason: 'overdue' });
      case 'failed':
        this.#trouble(id, { reason: notice.reason, why: notice.why });
        this.#log(MESSAGES.failed, { deploymentId: id, reason: notice.reason, why: notice.why });
        return;
      case 'state':
        return this.#change(id, notice);
      case 'wait-cut-short':
        return void this.#log(MESSAGES.sentEarly, { deploymentId: id, earlyMs: Math.round(notice.byMs) });
      case 'clock-step': {
        // All deployments notice the same step; a step of another size is logged too.
        const byMs = Math.round(notice.byMs);
        return void this.#log(
          MESSAGES.clockStep,
          { deploymentId: id, byMs },
          String(Math.round(byMs / 10_000)),
        );
      }
      case 'superseded':
        return;
    }
  }

  discovery({ type, found }: DiscoveryNotice): void {
    const all: readonly Finding[] = found;
    const [first] = all;
    if (first === undefined) return;
    const some = all.slice(0, NAMED).map((finding) => fieldsOf(finding));
    this.#log(DISCOVERY[type], all.length === 1 ? fieldsOf(first) : { count: all.length, found: some });
  }

  app(news: AppNews): void {
    const all = (): LogFields => counted([...this.#sources.deploymentIds()]);
    // After a resume, the next trouble is logged at once.
    const subject = String(this.#resumes);
    if (news.type === 'healthy') {
      if (this.#isAppUnhealthy) this.#isAppUnhealthy = !this.#log(MESSAGES.appHealthy, {}, subject);
    } else if (news.type === 'unhealthy') {
      const fields = { ...all(), why: news.why, withheldInSeconds: seconds(news.withheldInMs) };
      if (this.#log(MESSAGES.appUnhealthy, fields, subject)) this.#isAppUnhealthy = true;
    } else if (news.type === 'withheld') {
      const fields = { ...all(), why: news.why, unhealthySeconds: seconds(news.unhealthyMs) };
      this.#log(MESSAGES.withheld, fields, subject);
    } else {
      this.#resumes += 1;
      this.#isAppUnhealthy = false;
      const cause = news.because === 'healthy' ? 'the app is healthy again' : 'the configuration changed';
      this.#log(MESSAGES.resumed, { cause, count: news.deployments });
      if (news.tooLate.length > 0) this.#log(MESSAGES.resumedLate, counted(news.tooLate));
    }
  }

  /** It is not kept alive any more. */
  forget(id: number): void {
    this.#troubles.delete(id);
    this.#changes.delete(id);
    this.#loggedTroubles.delete(id);
  }

  /** Logs what still waits, and nothing after it. */
  close(): void {
    clearInterval(this.#looking);
    this.#logChanges(Infinity);
    clearTimeout(this.#timer);
  }

  #trouble(id: number, change: Partial<Trouble>): void {
    const { why, ...before } = this.#troubles.get(id) ?? {
      state: 'retrying',
      reason: 'overdue',
      why: undefined,
    };
    // A new reason has its own words, or none.
    this.#troubles.set(id, { ...before, why: 'reason' in change ? undefined : why, ...change });
  }

  /** Whom heartbeats go to; undefined before the first. */
  #place(): string | undefined {
    const [asked] = this.#sources.addresses();
    if (asked?.proxy !== undefined) return `proxy ${asked.proxy}`;
    return asked && new URL(asked.origin).host;
  }

  /**
   * Until it is logged, a change and the next one are one; there and back again is none. The same trouble is named once a
   * minute; the end of one that was logged is logged at once.
   */
  #change(id: number, { from: last, to, remainingMs }: Extract<Notice, { type: 'state' }>): void {
    // That all are withheld is logged once, of the app.
    if (to === 'stopped' || to === 'withheld') return this.forget(id);
    if (to !== 'healthy') this.#trouble(id, { state: to });
    const isRecovery = to === 'healthy' && this.#loggedTroubles.has(id);
    const first = this.#changes.get(id)?.from ?? last;
    if (first === to && !isRecovery) return void this.#changes.delete(id);
    const from = first === to ? last : first;
    const namedAt = isRecovery ? undefined : this.#namedAt.get(`${to} ${id}`);
    const notBefore = (namedAt ?? -Infinity) + NAMED_AGAIN_MS;
    const expiresAt = remainingMs === undefined ? undefined : performance.now() + remainingMs;
    this.#changes.set(id, { id, from, to, expiresAt, notBefore });
    this.#logBy(notBefore);
  }

  #logBy(notBefore: number): void {
    const dueAt = Math.max(performance.now() + GATHER_MS, this.#changesAt + BETWEEN_MS, notBefore);
    if (dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => this.#logChanges(dueAt), dueAt - performance.now());
  }

  /** Those that may be logged at this time. */
  #logChanges(now: number): void {
    clearTimeout(this.#timer);
    this.#dueAt = Infinity;
    this.#changesAt = performance.now();
    const due = [...this.#changes.values()].filter(({ notBefore }) => notBefore <= now);
    for (const [to, changes] of Map.groupBy(due, (change) => change.to)) {
      for (const { id } of changes) {
        this.#changes.delete(id);
        this.#named(id, to);
      }
      this.#log({ ...MESSAGES.stateChanged, level: STATE_LEVELS[to] ?? 'info' }, this.#fieldsOf(changes));
    }
    if (this.#changes.size > 0)
      this.#logBy(
        [...this.#changes.values()].reduce((least, { notBefore }) => Math.min(least, notBefore), Infinity),
      );
  }

  /** Of changes to one state. */
  #fieldsOf(changes: readonly Change[]): LogFields {
    const [first] = changes;
    if (first === undefined) return {};
    const { id, from, to } = first;
    const trouble = this.#troubles.get(id);
    const ends = changes.flatMap(({ expiresAt }) => expiresAt ?? []);
    const deployments = changes.length === 1 ? { deploymentId: id } : counted(changes.map((one) => one.id));
    const remainingSeconds = ends.length === 0 ? undefined : seconds(Math.min(...ends) - performance.now());
    // JSON has no undefined.
    return {
      ...deployments,
      from,
      to,
      reason: trouble && reasonOf(trouble, this.#place()),
      remainingSeconds,
      advice: STATE_ADVICE[to],
    };
  }

  #named(id: number, state: HeartbeatState): void {
    const now = performance.now();
    this.#namedAt.set(`${state} ${id}`, now);
    if (state === 'healthy') return void this.#loggedTroubles.delete(id);
    this.#loggedTroubles.add(id);
    this.#namedAt.set(`failing ${id}`, now);
  }

  /** Logs new troubles soon, and all of them once a minute. */
  #look(): void {
    const now = performance.now();
    const isTime = now - this.#summaryAt >= SUMMARY_MS;
    if (isTime) this.#summaryAt = now;
    for (const [key, at] of this.#namedAt) if (now - at >= NAMED_AGAIN_MS) this.#namedAt.delete(key);
    this.#lookAtLimit();
    this.#lookAtAddresses();
    const troubles = [...this.#troubles].filter(([id]) => isTime || !this.#namedAt.has(`failing ${id}`));
    if (troubles.length === 0) return;
    const states: Record<string, number> = {};
    const reasons: Record<string, number> = {};
    const place = this.#place();
    for (const [id, trouble] of troubles) {
      const { state } = trouble;
      const reason = reasonOf(trouble, place);
      states[state] = (states[state] ?? 0) + 1;
      reasons[reason] = (reasons[reason] ?? 0) + 1;
      this.#namedAt.set(`failing ${id}`, now);
      this.#loggedTroubles.add(id);
    }
    this.#log(MESSAGES.failing, { ...counted(troubles.map(([id]) => id)), states, reasons });
  }

  /** A limit under which all fit is logged when it is found; one under which they do not, once a minute. */
  #lookAtLimit(): void {
    const limit = this.#sources.sharedLimit();
    if (limit === undefined) return;
    const fields = {
      thresholdMs: Math.round(limit.thresholdMs),
      deployments: limit.deployments,
      neededSeconds: seconds(limit.neededMs),
      availableSeconds: seconds(limit.availableMs),
    };
    if (!limit.fits) this.#log(MESSAGES.tooMany, { ...fields, advice: LIMIT_ADVICE });
    else if (this.#limitMs !== limit.thresholdMs) this.#log(MESSAGES.sharedLimit, fields);
    this.#limitMs = limit.thresholdMs;
  }

  /** A single address is not avoided, whatever happened to it. */
  #lookAtAddresses(): void {
    const known = new Set<string>();
    for (const { origin, proxy, addresses } of this.#sources.addresses()) {
      for (const { address, failure } of addresses.length < 2 ? [] : addresses) {
        const key = `${origin} ${address}`;
        known.add(key);
        const fields = { origin, address, ...(proxy !== undefined && { proxy }) };
        const failed = failure && {
          ...fields,
          reason: describeAddressFailure(failure.reason),
          since: new Date(failure.since).toISOString(),
        };
        if (failed && this.#log(MESSAGES.addressFailed, failed, key)) this.#failedAddresses.add(key);
        else if (!failure && this.#failedAddresses.delete(key)) this.#log(MESSAGES.addressWorks, fields);
      }
    }
    for (const key of this.#failedAddresses) if (!known.has(key)) this.#failedAddresses.delete(key);
  }
}

/** Silence has no error that names an address, so `place` does. */
function reasonOf({ reason, why }: Trouble, place: string | undefined): string {
  const isSilence = reason === 'overdue' || reason === 'timeout';
  const words = why ?? FAILURE_WORDS[reason];
  return why === undefined && isSilence && place !== undefined ? `${words} (${place})` : words;
}

/** A name may be that of thousands. The message says the type. */
function fieldsOf(finding: Finding): LogFields {
  const fields = { ...finding, type: undefined };
  if (!('ids' in fields) || fields.ids.length <= NAMED) return fields;
  return { ...fields, count: fields.ids.length, ids: fields.ids.slice(0, NAMED) };
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

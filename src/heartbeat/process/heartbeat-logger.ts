/**
 * Decides when the heart logs something about its deployments. Many deployments share a line. The reason of a
 * failure is logged within ten seconds.
 */
import type { DiscoveryNotice, Finding } from '../discovery/wanted.ts';
import type { HeartbeatState, Notice } from '../engine/state.ts';
import type { AppNews, Heart } from '../heart.ts';
import { describeAddressFailure } from '../driver/beat.ts';
import { FAILURE_WORDS } from '../view/snapshot.ts';
import {
  counted,
  DISCOVERY,
  LIMIT_ADVICE,
  MESSAGES,
  NAMED,
  STATE_ADVICE,
  STATE_LEVELS,
  type HeartLog,
  type LogFields,
} from './log.ts';

type LoggerSources = Pick<Heart, 'sharedLimit' | 'addresses' | 'deploymentIds'>;

/** New troubles are looked for, and all of them are logged again, ms. */
const LOOK_MS = 5_000;
const SUMMARY_MS = 60_000;
/** How long changes are gathered, and the least time between two lines about them, ms. */
const GATHER_MS = 250;
const BETWEEN_MS = 1_000;
/** A flapping deployment is logged with the same trouble at most once in this time, ms. */
const NAMED_AGAIN_MS = 60_000;

interface Story {
  state: HeartbeatState;
  /** undefined: no line has named it. */
  logged?: HeartbeatState;
  /** Why its last heartbeat was not accepted. `why`: in words, if more is known than the kind. */
  trouble?: { readonly reason: keyof typeof FAILURE_WORDS; readonly why: string | undefined } | undefined;
  /** Monotonic ms; undefined: not known. */
  expiresAt?: number | undefined;
  /** When a line last named it in a state, and in any trouble, monotonic ms. */
  readonly namedAt: Map<HeartbeatState | 'trouble', number>;
}

export class HeartbeatLogger {
  readonly #log: HeartLog;
  readonly #heart: () => LoggerSources;
  readonly #stories = new Map<number, Story>();
  readonly #looking: NodeJS.Timeout;
  #summaryAt = performance.now();
  #changesAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #limitMs: number | undefined;
  /** Logged as failed, and not yet as working. */
  readonly #failedAddresses = new Set<string>();
  /** Whether the last line about the app says unhealthy, and how often heartbeats were resumed. */
  #isAppUnhealthy = false;
  #resumes = 0;

  constructor(log: HeartLog, heart: () => LoggerSources) {
    this.#log = log;
    this.#heart = heart;
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
  }

  notice(id: number, notice: Notice): void {
    const known = this.#stories.get(id);
    if (notice.type === 'accepted') {
      if (known) known.trouble = undefined;
      return;
    }
    const story: Story = known ?? { state: 'retrying', namedAt: new Map() };
    this.#stories.set(id, story);
    switch (notice.type) {
      case 'sent':
        if (notice.attempt === 1) Object.assign(story, { state: 'starting', trouble: OVERDUE });
        return;
      case 'overdue':
        story.trouble = OVERDUE;
        return;
      case 'failed':
        story.trouble = { reason: notice.reason, why: notice.why };
        this.#log(MESSAGES.failed, { deploymentId: id, ...story.trouble });
        return;
      case 'state':
        return this.#change(id, story, notice);
      case 'wait-cut-short':
        return void this.#log(MESSAGES.sentEarly, { deploymentId: id, earlyMs: Math.round(notice.byMs) });
      case 'clock-step': {
        // All deployments notice the same step; a step of another size is logged too.
        const byMs = Math.round(notice.byMs);
        const size = String(Math.round(byMs / 10_000));
        return void this.#log(MESSAGES.clockStep, { deploymentId: id, byMs }, size);
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
    const all = (): LogFields => counted([...this.#heart().deploymentIds()]);
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

  replaced(id: number, by: number, name: string): void {
    this.forget(id);
    this.#log(MESSAGES.replaced, { deploymentId: id, deployment: name, by });
  }

  forget(id: number): void {
    this.#stories.delete(id);
  }

  /** Logs what still waits, and nothing after it. */
  close(): void {
    clearInterval(this.#looking);
    this.#logChanges(Infinity);
  }

  /** Silence has no error with an address, so the host is named. */
  #reasonOf(trouble = OVERDUE): string {
    const { reason, why = FAILURE_WORDS[reason] } = trouble;
    const [asked] = this.#heart().addresses();
    const isSilence = trouble.why === undefined && (reason === 'overdue' || reason === 'timeout');
    if (!isSilence || asked === undefined) return why;
    return `${why} (${asked.proxy === undefined ? new URL(asked.origin).host : `proxy ${asked.proxy}`})`;
  }

  #change(id: number, story: Story, { from, to, remainingMs }: Extract<Notice, { type: 'state' }>): void {
    // The app's line says that all are withheld.
    if (to === 'stopped' || to === 'withheld') return this.forget(id);
    story.logged ??= from;
    story.state = to;
    if (to !== 'healthy') story.trouble ??= OVERDUE;
    story.expiresAt = remainingMs === undefined ? undefined : performance.now() + remainingMs;
    const waitMs = Math.max(GATHER_MS, this.#changesAt + BETWEEN_MS - performance.now());
    this.#timer ??= setTimeout(() => this.#logChanges(), waitMs);
  }

  /** One line for each state that deployments have come to. */
  #logChanges(until = performance.now()): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const due = [...this.#stories].filter(
      ([, story]) => isUnlogged(story) && notBefore(story, story.state) <= until,
    );
    if (due.length > 0) this.#changesAt = performance.now();
    for (const [to, changed] of Map.groupBy(due, ([, { state }]) => state)) {
      const message = { ...MESSAGES.stateChanged, level: STATE_LEVELS[to] ?? 'info' };
      this.#log(message, this.#fieldsOf(to, changed));
      for (const [, story] of changed) markNamed(story, this.#changesAt);
    }
  }

  #fieldsOf(to: HeartbeatState, changed: readonly (readonly [number, Story])[]): LogFields {
    const [first] = changed;
    if (first === undefined) return {};
    const [id, { logged: from, trouble }] = first;
    return {
      ...(changed.length === 1 ? { deploymentId: id } : counted(changed.map(([one]) => one))),
      from,
      to,
      reason: to === 'healthy' ? undefined : this.#reasonOf(trouble),
      remainingSeconds: leastRemaining(changed),
      advice: STATE_ADVICE[to],
    };
  }

  #look(): void {
    const now = performance.now();
    const isTime = now - this.#summaryAt >= SUMMARY_MS;
    if (isTime) this.#summaryAt = now;
    this.#lookAtLimit();
    this.#lookAtAddresses();
    // Those that could not be named again when they changed.
    this.#logChanges();
    const failing: [number, Story][] = [];
    const states: Record<string, number> = {};
    const reasons: Record<string, number> = {};
    for (const [id, story] of this.#stories) {
      if (!story.trouble || !(isTime || notBefore(story, 'trouble') <= now)) continue;
      failing.push([id, story]);
      const reason = this.#reasonOf(story.trouble);
      states[story.state] = (states[story.state] ?? 0) + 1;
      reasons[reason] = (reasons[reason] ?? 0) + 1;
      markNamed(story, now);
    }
    if (failing.length === 0) return;
    const remainingSeconds = leastRemaining(failing);
    this.#log(MESSAGES.failing, { ...counted(failing.map(([id]) => id)), remainingSeconds, states, reasons });
  }

  /** If all deployments fit, the limit is logged when it is found; if not, once a minute. */
  #lookAtLimit(): void {
    const limit = this.#heart().sharedLimit();
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
    for (const { origin, proxy, addresses } of this.#heart().addresses()) {
      if (addresses.length < 2) continue;
      for (const { address, failure } of addresses) {
        const key = `${origin} ${address}`;
        known.add(key);
        const fields = { origin, address, proxy };
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

const OVERDUE: NonNullable<Story['trouble']> = { reason: 'overdue', why: undefined };

function isUnlogged({ state, logged }: Story): boolean {
  return logged !== undefined && logged !== state;
}

/** Of the deployment that expires first, s. */
function leastRemaining(stories: readonly (readonly [number, Story])[]): number | undefined {
  const least = Math.min(...stories.map(([, { expiresAt = Infinity }]) => expiresAt));
  return least === Infinity ? undefined : seconds(least - performance.now());
}

/** The same trouble is named once a minute; its end at once. Monotonic ms. */
function notBefore({ namedAt }: Story, as: HeartbeatState | 'trouble'): number {
  return (namedAt.get(as) ?? -Infinity) + NAMED_AGAIN_MS;
}

function markNamed(story: Story, now: number): void {
  story.logged = story.state;
  if (story.state === 'healthy') return;
  story.namedAt.set(story.state, now).set('trouble', now);
}

/** A name may be that of thousands of deployments. The message says the type. */
function fieldsOf(finding: Finding): LogFields {
  const fields = { ...finding, type: undefined };
  if (!('ids' in fields) || fields.ids.length <= NAMED) return fields;
  return { ...fields, count: fields.ids.length, ids: fields.ids.slice(0, NAMED) };
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

/**
 * What the heart says of its deployments: each change of state, and whatever is still wrong once a minute. Many in one
 * line, so that ten thousand deployments that fail together are no flood; and never silent, so that the reason of a
 * failure is read within ten seconds of its start.
 */
import type { HeartbeatState, Notice } from '../machine.ts';
import type { SharedLimit } from '../shared-limit.ts';
import type { FindingType, Remark } from '../discovery/findings.ts';
import type { HeartLog, LogFields } from './log.ts';

/** How long changes are gathered, ms. */
const GATHER_MS = 250;
/** While the same kind of change goes on, its lines are at most this far apart, ms. */
const LONGEST_PAUSE_MS = 60_000;
/** After a start, a failure is said this soon, ms, and then again after each minute. */
const FIRST_SUMMARY_MS = 5_000;
const SUMMARY_MS = 60_000;
/** Between two lines of the same rare event, ms. */
const RARELY_MS = 10_000;
/** How many ids a line names. */
const NAMED = 20;

const LOUD: Partial<Record<HeartbeatState, 'error' | 'warn'>> = {
  retrying: 'warn',
  throttled: 'warn',
  'suspect-gone': 'warn',
  urgent: 'error',
  unauthorized: 'error',
  lapsed: 'error',
  gone: 'error',
};

/** What to do, for the states in which somebody has to. */
const ADVICE: Partial<Record<HeartbeatState, string>> = {
  urgent: 'heartbeats fail and the TTL runs out; is the service reachable from here?',
  unauthorized: 'the service refuses the key; put a valid one where PILOTLIGHT_API_KEY or its _FILE has it',
  lapsed: 'the TTL has passed without an accepted heartbeat; the deployment has probably expired',
  gone: 'the service does not know this deployment; it is asked on at its interval until its TTL has passed, then every 30 s, and at a reload',
};

/** Times in the fields are ms. */
const REMARKS: Readonly<Record<FindingType, { readonly level: 'info' | 'warn'; readonly words: string }>> = {
  'ttl-differs': {
    level: 'warn',
    words: 'the TTL that was given is not the one of the service; the shorter rules',
  },
  'interval-gives-way': {
    level: 'warn',
    words: 'PILOTLIGHT_HEARTBEAT_INTERVAL is too long for a TTL, and gives way to the automatic one',
  },
  'ttl-too-short': { level: 'warn', words: 'a TTL is too short to survive one failed heartbeat' },
  stopped: { level: 'warn', words: 'a deployment is stopped, and is not kept alive' },
  matched: { level: 'info', words: 'deployments found by their name' },
  unmatched: { level: 'warn', words: 'no deployment of this name; the list is asked for again' },
  'no-list': { level: 'warn', words: 'the service lists no deployments, so that a name cannot be found' },
  unanswered: { level: 'warn', words: 'the service does not tell TTLs and names; it is asked again' },
};

interface Change {
  readonly id: number;
  readonly from: HeartbeatState;
  readonly remainingMs: number | undefined;
}

/** Changes to one state that wait for their line. */
interface Gathering {
  changes: Map<number, Change>;
  pauseMs: number;
  /** When the last line of it was written, monotonic ms. */
  saidAt: number;
  timer: NodeJS.Timeout | undefined;
}

/** What is known of a deployment that is not well. */
interface Trouble {
  state: HeartbeatState;
  reason: string;
}

export class Announcer {
  readonly #log: HeartLog;
  readonly #sharedLimit: () => SharedLimit | undefined;
  /** θ as it was said last, where all deployments fit under it, ms. */
  #saidLimit: number | undefined;
  readonly #gatherings = new Map<HeartbeatState, Gathering>();
  readonly #troubles = new Map<number, Trouble>();
  readonly #rare = new Map<string, { readonly at: number; unsaid: number }>();
  readonly #summary: { timer: NodeJS.Timeout };

  /** `sharedLimit` is asked once a minute. */
  constructor(log: HeartLog, sharedLimit: () => SharedLimit | undefined) {
    this.#log = log;
    this.#sharedLimit = sharedLimit;
    this.#summary = { timer: setTimeout(() => this.#summarize(), FIRST_SUMMARY_MS) };
  }

  notice(id: number, notice: Notice): void {
    switch (notice.type) {
      case 'sent':
        if (!this.#troubles.has(id) && notice.attempt === 1)
          this.#troubles.set(id, { state: 'starting', reason: 'no answer yet' });
        return;
      case 'accepted':
        this.#troubles.delete(id);
        return;
      case 'failed':
        this.#troubles.set(id, { state: this.#troubles.get(id)?.state ?? 'retrying', reason: notice.reason });
        return this.#log.debug({ deploymentId: id, reason: notice.reason }, 'heartbeat failed');
      case 'state':
        return this.#changed(id, notice.from, notice.to, notice.remainingMs);
      case 'wait-cut-short':
        return this.rarely('the service asked for a wait that would cost the deployment', {
          deploymentId: id,
          askedMs: Math.round(notice.askedMs),
          waitMs: Math.round(notice.waitMs),
        });
      case 'clocks-parted':
        return this.rarely('the clocks parted: a suspend, or a clock that was set', {
          deploymentId: id,
          byMs: Math.round(notice.byMs),
        });
      case 'overdue':
      case 'superseded':
        return;
    }
  }

  /** Of TTLs and names: each remark is made once. */
  remark({ type, found }: Remark): void {
    const [first] = found;
    const fields: LogFields =
      found.length === 1 ? { ...first } : { count: found.length, found: found.slice(0, NAMED) };
    const { level, words } = REMARKS[type];
    this.#log[level]({ ...fields, type: undefined }, words);
  }

  forget(id: number): void {
    this.#troubles.delete(id);
  }

  /** Says what still waits, and nothing more. */
  close(): void {
    clearTimeout(this.#summary.timer);
    for (const [to, gathering] of this.#gatherings) {
      clearTimeout(gathering.timer);
      this.#say(to, gathering);
    }
  }

  /** What may concern thousands at once is said for the first of them, and how many there were with the next line. */
  rarely(message: string, fields: LogFields): void {
    const last = this.#rare.get(message);
    const now = performance.now();
    if (last !== undefined && now - last.at < RARELY_MS) {
      last.unsaid += 1;
      return;
    }
    this.#rare.set(message, { at: now, unsaid: 0 });
    this.#log.warn({ ...fields, ...(last && last.unsaid > 0 && { unsaidBefore: last.unsaid }) }, message);
  }

  #changed(id: number, from: HeartbeatState, to: HeartbeatState, remainingMs: number | undefined): void {
    if (to === 'stopped') return this.forget(id);
    const trouble = this.#troubles.get(id);
    if (trouble) trouble.state = to;
    const gathering = this.#gatherings.get(to) ?? {
      changes: new Map<number, Change>(),
      pauseMs: GATHER_MS,
      saidAt: -Infinity,
      timer: undefined,
    };
    this.#gatherings.set(to, gathering);
    gathering.changes.set(id, { id, from, remainingMs });
    gathering.timer ??= this.#sayIn(to, gathering);
  }

  /** The first line of a kind comes soon; each that follows before a minute of rest waits twice as long. */
  #sayIn(to: HeartbeatState, gathering: Gathering): NodeJS.Timeout {
    const since = performance.now() - gathering.saidAt;
    if (since > LONGEST_PAUSE_MS) gathering.pauseMs = GATHER_MS;
    return setTimeout(
      () => {
        gathering.timer = undefined;
        gathering.saidAt = performance.now();
        gathering.pauseMs = Math.min(LONGEST_PAUSE_MS, gathering.pauseMs * 2);
        this.#say(to, gathering);
      },
      Math.max(GATHER_MS, gathering.pauseMs - since),
    );
  }

  #say(to: HeartbeatState, gathering: Gathering): void {
    const changes = [...gathering.changes.values()];
    gathering.changes = new Map();
    const [first] = changes;
    if (first === undefined) return;
    const remaining = changes.flatMap(({ remainingMs }) => (remainingMs === undefined ? [] : [remainingMs]));
    const reason = this.#troubles.get(first.id)?.reason;
    const fields = {
      ...(changes.length === 1 ? { deploymentId: first.id } : counted(changes.map(({ id }) => id))),
      from: first.from,
      to,
      ...(reason !== undefined && to !== 'healthy' && { reason }),
      ...(remaining.length > 0 && { remainingSeconds: seconds(Math.min(...remaining)) }),
      ...(ADVICE[to] !== undefined && { advice: ADVICE[to] }),
    };
    this.#log[LOUD[to] ?? 'info'](fields, 'heartbeat state changed');
  }

  /** One under which all fit is said when it is found; one under which they do not, each time. */
  #sayLimit(): void {
    const limit = this.#sharedLimit();
    if (limit === undefined) return;
    const { thresholdMs, deployments, neededMs, availableMs, fits } = limit;
    const fields = {
      thresholdMs: Math.round(thresholdMs),
      deployments,
      neededSeconds: seconds(neededMs),
      availableSeconds: seconds(availableMs),
    };
    if (!fits) {
      const advice = 'use a longer TTL, fewer deployments for this key, or a second key';
      this.#log.error(
        { ...fields, advice },
        'the deployments of this key do not fit under the rate limit that they share; some will expire',
      );
    } else if (this.#saidLimit !== thresholdMs) {
      this.#log.info(fields, 'the deployments of this key share a rate limit, and take turns under it');
    }
    this.#saidLimit = fits ? thresholdMs : undefined;
  }

  #summarize(): void {
    this.#summary.timer = setTimeout(() => this.#summarize(), SUMMARY_MS);
    this.#sayLimit();
    if (this.#troubles.size === 0) return;
    const byReason: Record<string, number> = {};
    const byState: Record<string, number> = {};
    for (const { state, reason } of this.#troubles.values()) {
      byReason[reason] = (byReason[reason] ?? 0) + 1;
      byState[state] = (byState[state] ?? 0) + 1;
    }
    const fields: LogFields = {
      ...counted([...this.#troubles.keys()]),
      states: byState,
      reasons: byReason,
    };
    this.#log.error(fields, 'deployments whose last heartbeats were not accepted');
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

function counted(ids: readonly number[]): LogFields {
  return { count: ids.length, deploymentIds: ids.slice(0, NAMED) };
}

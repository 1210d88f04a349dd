/**
 * What the heart logs about its deployments: each change of state, and once a minute whatever is still wrong. Many are
 * gathered in one line, so that ten thousand deployments that fail together do not flood the log; but the reason of a
 * failure is always there within ten seconds of its start.
 */
import type { HeartbeatState, Notice } from '../../engine/state.ts';
import { FAILURE_WORDS } from '../../view/failure-words.ts';
import type { SharedLimit } from '../../view/snapshot.ts';
import type { OriginAddresses } from '../../../client/transport/transport.ts';
import type { Finding, FindingType, Remark } from '../../discovery/findings.ts';
import { AddressLines } from './address-lines.ts';
import type { HeartLog, LogFields } from './log.ts';
import { StateLines, type Change } from './state-lines.ts';

/** How often to look for troubles that were not logged yet, and how often to log all of them again, ms. */
const LOOK_MS = 5_000;
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
  unauthorized:
    'the service refuses the key; put a valid one, with the permission instance_write, where PILOTLIGHT_API_KEY or its _FILE has it',
  lapsed: 'the TTL has passed without an accepted heartbeat; the deployment has probably expired',
  gone: 'the service does not know this deployment; it is still tried, at its interval until its TTL has passed, then every 30 s, and at a reload',
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

/** What is known of a deployment that is not well. */
interface Trouble {
  state: HeartbeatState;
  reason: string;
  /** Whether it was logged since it began. */
  said: boolean;
}

export class Announcer {
  readonly #log: HeartLog;
  readonly #sharedLimit: () => SharedLimit | undefined;
  readonly #addressLines: AddressLines;
  /** θ as it was said last, ms. */
  #saidLimit: number | undefined;
  readonly #lines = new Map<HeartbeatState, StateLines>();
  readonly #troubles = new Map<number, Trouble>();
  readonly #rare = new Map<string, { readonly at: number; unsaid: number }>();
  readonly #looking: NodeJS.Timeout;
  #summaryAt = performance.now();

  /** Both are asked every few seconds. */
  constructor(
    log: HeartLog,
    sharedLimit: () => SharedLimit | undefined,
    addresses: () => readonly OriginAddresses[],
  ) {
    this.#log = log;
    this.#sharedLimit = sharedLimit;
    this.#addressLines = new AddressLines(log, addresses);
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
  }

  notice(id: number, notice: Notice): void {
    switch (notice.type) {
      case 'sent':
        if (notice.attempt === 1) this.#troubled(id, { state: 'starting', reason: 'no answer yet' });
        return;
      case 'accepted':
        return this.forget(id);
      case 'overdue':
        return this.#troubled(id, { reason: FAILURE_WORDS.overdue });
      case 'failed':
        this.#troubled(id, { reason: notice.why ?? FAILURE_WORDS[notice.reason] });
        return this.#log.debug(
          { deploymentId: id, reason: notice.reason, why: notice.why },
          'heartbeat failed',
        );
      case 'state':
        return this.#changed(id, notice.from, notice.to, notice.remainingMs);
      case 'wait-cut-short':
        return this.rarely(
          'heartbeat sent before the rate limit allows it: the wait would cost the deployment',
          {
            deploymentId: id,
            earlyMs: Math.round(notice.byMs),
          },
        );
      case 'clock-step':
        return this.#clockStep(id, notice.byMs);
      case 'superseded':
        return;
    }
  }

  /** About TTLs and names: each remark is made once. */
  remark({ type, found }: Remark): void {
    const [first] = found;
    const fields: LogFields =
      found.length === 1 && first
        ? { ...shortened(first) }
        : { count: found.length, found: found.slice(0, NAMED).map((one) => shortened(one)) };
    const { level, words } = REMARKS[type];
    this.#log[level]({ ...fields, type: undefined }, words);
  }

  forget(id: number): void {
    this.#troubles.delete(id);
  }

  /** Logs what still waits, and nothing after it. */
  close(): void {
    clearInterval(this.#looking);
    for (const lines of this.#lines.values()) lines.flush();
  }

  /** What may concern thousands at once is logged for the first of them; the next line counts the others. */
  rarely(message: string, fields: LogFields, kind = message): void {
    const now = performance.now();
    for (const [key, { at }] of this.#rare) if (now - at > SUMMARY_MS) this.#rare.delete(key);
    const last = this.#rare.get(kind);
    if (last !== undefined && now - last.at < RARELY_MS) {
      last.unsaid += 1;
      return;
    }
    this.#rare.set(kind, { at: now, unsaid: 0 });
    this.#log.warn({ ...fields, ...(last && last.unsaid > 0 && { unsaidBefore: last.unsaid }) }, message);
  }

  /** All deployments notice the same step, which is logged once; a step of another size is logged too. */
  #clockStep(id: number, byMs: number): void {
    const words = 'clock step: a suspend, or a clock that was set';
    const fields = { deploymentId: id, byMs: Math.round(byMs) };
    this.rarely(words, fields, `${words} ${Math.round(byMs / 10_000)}`);
  }

  #troubled(id: number, { state, reason }: Partial<Trouble>): void {
    const trouble = this.#troubles.get(id) ?? { state: 'retrying', reason: 'no answer yet', said: false };
    this.#troubles.set(id, { ...trouble, ...(state && { state }), ...(reason && { reason }) });
  }

  #changed(id: number, from: HeartbeatState, to: HeartbeatState, remainingMs: number | undefined): void {
    // That all are withheld is said once, of the app (app-lines.ts).
    if (to === 'stopped' || to === 'withheld') return this.forget(id);
    if (to !== 'healthy') this.#troubled(id, { state: to });
    let lines = this.#lines.get(to);
    if (!lines) {
      lines = new StateLines((changes) => this.#say(to, changes));
      this.#lines.set(to, lines);
    }
    lines.add({ id, from, remainingMs });
  }

  /** Only for those that are still in the state: the others have changed again. */
  #say(to: HeartbeatState, gathered: readonly Change[]): void {
    const changes = gathered.filter(({ id }) => (this.#troubles.get(id)?.state ?? 'healthy') === to);
    const [first] = changes;
    if (first === undefined) return;
    const remaining = changes.flatMap(({ remainingMs }) => (remainingMs === undefined ? [] : [remainingMs]));
    const reason = this.#troubles.get(first.id)?.reason;
    const fields = {
      ...(changes.length === 1 ? { deploymentId: first.id } : counted(changes.map(({ id }) => id))),
      from: first.from,
      to,
      ...(reason !== undefined && { reason }),
      ...(remaining.length > 0 && { remainingSeconds: seconds(Math.min(...remaining)) }),
      ...(ADVICE[to] !== undefined && { advice: ADVICE[to] }),
    };
    for (const { id } of changes) this.#markSaid(id);
    this.#log[LOUD[to] ?? 'info'](fields, 'heartbeat state changed');
  }

  #markSaid(id: number): void {
    const trouble = this.#troubles.get(id);
    if (trouble) trouble.said = true;
  }

  /** A limit under which all fit is logged when it is found; one under which they do not, once a minute. */
  #sayLimit(isTime: boolean): void {
    const limit = this.#sharedLimit();
    if (limit === undefined || (!isTime && this.#saidLimit === limit.thresholdMs)) return;
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
    this.#saidLimit = thresholdMs;
  }

  /** Logs soon those that were not logged yet, and once a minute all. */
  #look(): void {
    const isTime = performance.now() - this.#summaryAt >= SUMMARY_MS;
    if (isTime) this.#summaryAt = performance.now();
    this.#sayLimit(isTime);
    this.#addressLines.look();
    const told = [...this.#troubles].filter(([, { said }]) => isTime || !said);
    if (told.length === 0) return;
    const byReason: Record<string, number> = {};
    const byState: Record<string, number> = {};
    for (const [id, { state, reason }] of told) {
      byReason[reason] = (byReason[reason] ?? 0) + 1;
      byState[state] = (byState[state] ?? 0) + 1;
      this.#markSaid(id);
    }
    const fields: LogFields = { ...counted(told.map(([id]) => id)), states: byState, reasons: byReason };
    this.#log.error(fields, 'deployments whose last heartbeats were not accepted');
  }
}

/** A name may be that of thousands. */
function shortened(finding: Finding): LogFields {
  if (finding.type !== 'matched' || finding.ids.length <= NAMED) return finding;
  return { ...finding, count: finding.ids.length, ids: finding.ids.slice(0, NAMED) };
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

function counted(ids: readonly number[]): LogFields {
  return { count: ids.length, deploymentIds: ids.slice(0, NAMED) };
}

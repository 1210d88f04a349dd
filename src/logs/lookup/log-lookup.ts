/**
 * Finds the logs that WORKER_GROUPS or ENDPOINT_LOGS names: lists worker groups or endpoints at the start and every
 * minute. If a list fails, the followed logs stay.
 */
import { backoffMs, Repeating } from '../../time/repeating.ts';
import { isWanted, LISTS_TO_BE_GONE, missingNames, type WantedRow } from '../../contract/wanted.ts';
import { within, type Clock } from '../../time/clock.ts';
import type { LogListener } from '../events.ts';
import type { LogSource } from '../record.ts';

interface LogLookupOptions {
  readonly kind: LogSource['kind'];
  readonly wanted: readonly WantedRow[];
  readonly list: (signal: AbortSignal) => Promise<readonly ListedLog[]>;
  /** In the constructor, and then whenever something changes. Must not throw. */
  readonly onChange: (begun: readonly LogSource[], left: readonly LogSource[]) => void;
  readonly observe: LogListener;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}

const LIST_EVERY_MS = 60_000;
/** With the wait for the rate limit, ms. */
const TIMEOUT_MS = 600_000;

export class LogLookup {
  readonly #options: LogLookupOptions;
  readonly #asking: Repeating;
  #wanted: readonly WantedRow[];
  #known = NOTHING_KNOWN;
  #followed: readonly LogSource[] = [];
  #missing: readonly string[] = [];
  #failures = 0;

  constructor(options: LogLookupOptions) {
    this.#options = options;
    this.#wanted = options.wanted;
    this.#tell();
    this.#asking = new Repeating({ run: (signal) => this.#look(signal), firstInMs: 0, clock: options.clock });
  }

  /** Logs that are known already are followed at once. */
  want(wanted: readonly WantedRow[]): void {
    this.#wanted = wanted;
    this.#tell();
    this.#asking.wake();
  }

  stop(): Promise<void> {
    return this.#asking.stop();
  }

  /** @returns How long until the next list, ms. */
  async #look(signal: AbortSignal): Promise<number> {
    const { kind, random } = this.#options;
    const isNeeded = this.#wanted.some(({ by }) => kind === 'endpoint' || by !== 'id');
    if (isNeeded) await this.#ask(signal);
    else this.#failures = 0;
    return this.#failures === 0 ? LIST_EVERY_MS : backoffMs(this.#failures, random());
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { kind, list, clock, observe } = this.#options;
    try {
      const listed = await within(clock, TIMEOUT_MS, signal, list);
      this.#known = afterList(this.#known, listed);
      if (this.#failures > 0) observe({ kind: 'logs listed again', of: kind, failures: this.#failures });
      this.#failures = 0;
      this.#tell();
      this.#tellMissing();
    } catch (error) {
      if (signal.aborted) return;
      this.#failures += 1;
      observe({ kind: 'logs not listed', of: kind, error, failures: this.#failures });
    }
  }

  #tell(): void {
    const { kind, onChange, observe } = this.#options;
    const [before, now] = [this.#followed, followedLogs(kind, this.#wanted, this.#known)];
    const begun = without(now, before);
    const left = without(before, now);
    if (begun.length === 0 && left.length === 0) return;
    this.#followed = now;
    observe({ kind: 'logs changed', of: kind, begun, left });
    onChange(begun, left);
  }

  /** Each name once, until it is there. */
  #tellMissing(): void {
    const { kind, observe } = this.#options;
    const missing = missingNames(
      this.#wanted,
      this.#known.values().map(({ endpoint }) => endpoint),
    );
    const news = missing.filter((name) => !this.#missing.includes(name));
    this.#missing = missing;
    if (news.length > 0) observe({ kind: 'endpoints missing', of: kind, names: news });
  }
}

/** Another name makes another endpoint. */
function without(sources: readonly LogSource[], others: readonly LogSource[]): LogSource[] {
  const known = new Set(others.map((source) => JSON.stringify(source)));
  return sources.filter((source) => !known.has(JSON.stringify(source)));
}

/** A row of a list: a worker group, or an endpoint. */
export interface ListedLog {
  readonly id: number;
  /** Of the endpoint; for a worker group, of the endpoint that it serves. */
  readonly endpoint_name?: string | null | undefined;
}

/** By id. */
type KnownLogs = ReadonlyMap<
  number,
  {
    /** undefined if the list does not say it. */
    readonly endpoint: string | undefined;
    /** Lists in a row that did not have it. */
    readonly missed: number;
  }
>;

export const NOTHING_KNOWN: KnownLogs = new Map();

export function afterList(known: KnownLogs, listed: readonly ListedLog[]): KnownLogs {
  const missing = [...known].flatMap(([id, one]) =>
    one.missed + 1 < LISTS_TO_BE_GONE ? [[id, { ...one, missed: one.missed + 1 }] as const] : [],
  );
  const there = listed.map(
    ({ id, endpoint_name }) =>
      [id, { endpoint: endpoint_name ?? known.get(id)?.endpoint, missed: 0 }] as const,
  );
  return new Map([...missing, ...there]);
}

/** By id, ascending. A worker group that is wanted by its id needs no list. */
export function followedLogs(
  kind: LogSource['kind'],
  wanted: readonly WantedRow[],
  known: KnownLogs,
): readonly LogSource[] {
  const needsList = kind === 'endpoint';
  const unlisted = wanted.flatMap((one) => (one.by === 'id' && !needsList ? [one.id] : []));
  const listed = [...known].filter(([id, { endpoint }]) => isWanted(wanted, id, endpoint));
  const ids = new Set([...unlisted, ...listed.map(([id]) => id)]);
  return [...ids]
    .sort((a, b) => a - b)
    .map((id) => (needsList ? { kind, id, name: known.get(id)?.endpoint ?? `#${id}` } : { kind, id }));
}

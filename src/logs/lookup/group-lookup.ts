/**
 * Keeps the set of followed groups what WORKER_GROUPS says, `all` and `endpoint:NAME` included: asks the service for
 * its groups at the start and every minute. What it does not know it leaves as it was.
 */
import { backoffMs } from '../../time/backoff.ts';
import { within, type Clock } from '../../time/clock.ts';
import { Repeating } from '../../time/repeating.ts';
import type { LogListener } from '../events.ts';
import {
  afterList,
  followedGroups,
  NOTHING_KNOWN,
  unservedEndpoints,
  type ListedGroup,
} from './knowledge.ts';
import type { WantedGroup } from './wanted.ts';

export interface GroupLookupOptions {
  readonly wanted: readonly WantedGroup[];
  /** Asks once. */
  readonly list: (signal: AbortSignal) => Promise<readonly ListedGroup[]>;
  /** All groups to follow, ascending: in the constructor, and then whenever they change. Must not throw. */
  readonly onChange: (ids: readonly number[]) => void;
  readonly observe: LogListener;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Between two lists, ms. */
const LIST_EVERY_MS = 60_000;
/** A list that takes longer does not count, its wait for the rate limit included, ms. */
const TIMEOUT_MS = 600_000;

export class GroupLookup {
  readonly #options: GroupLookupOptions;
  readonly #asking: Repeating;
  #wanted: readonly WantedGroup[];
  #known = NOTHING_KNOWN;
  #followed: readonly number[] = [];
  #unserved: readonly string[] = [];
  #failures = 0;

  constructor(options: GroupLookupOptions) {
    this.#options = options;
    this.#wanted = options.wanted;
    this.#tell();
    this.#asking = new Repeating({ run: (signal) => this.#look(signal), firstInMs: 0, clock: options.clock });
  }

  /** Others are wanted from now on; what of them is known is followed at once. */
  want(wanted: readonly WantedGroup[]): void {
    this.#wanted = wanted;
    this.#tell();
    this.#asking.wake();
  }

  /** Resolves when nothing is under way any more. */
  stop(): Promise<void> {
    return this.#asking.stop();
  }

  /** @returns How long until the next list, ms. */
  async #look(signal: AbortSignal): Promise<number> {
    const isNeeded = this.#wanted.some(({ by }) => by !== 'id');
    if (isNeeded) await this.#ask(signal);
    else this.#failures = 0;
    return this.#failures === 0 ? LIST_EVERY_MS : backoffMs(this.#failures, this.#options.random());
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { list, clock, observe } = this.#options;
    try {
      const listed = await within(clock, TIMEOUT_MS, signal, list);
      this.#known = afterList(this.#known, listed);
      if (this.#failures > 0) observe({ kind: 'groups listed again', failures: this.#failures });
      this.#failures = 0;
      this.#tell();
      this.#tellUnserved();
    } catch (error) {
      if (signal.aborted) return;
      this.#failures += 1;
      observe({ kind: 'groups not listed', error, failures: this.#failures });
    }
  }

  #tell(): void {
    const { onChange, observe } = this.#options;
    const [before, now] = [this.#followed, followedGroups(this.#wanted, this.#known)];
    const begun = without(now, before);
    const left = without(before, now);
    if (begun.length === 0 && left.length === 0) return;
    this.#followed = now;
    observe({ kind: 'groups changed', begun, left });
    onChange(now);
  }

  /** Each name once, until it is served. */
  #tellUnserved(): void {
    const unserved = unservedEndpoints(this.#wanted, this.#known);
    const news = unserved.filter((name) => !this.#unserved.includes(name));
    this.#unserved = unserved;
    if (news.length > 0) this.#options.observe({ kind: 'endpoints unserved', names: news });
  }
}

function without(ids: readonly number[], others: readonly number[]): number[] {
  const known = new Set(others);
  return ids.filter((id) => !known.has(id));
}

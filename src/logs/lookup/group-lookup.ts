/**
 * Keeps the set of followed groups what WORKER_GROUPS says, `all` and `endpoint:NAME` included: asks the service for
 * its groups at the start and every minute. What it does not know it leaves as it was.
 */
import { backoffMs } from '../../time/backoff.ts';
import { within, type Clock } from '../../time/clock.ts';
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
/** A list that takes longer does not count, ms. */
const TIMEOUT_MS = 30_000;

export class GroupLookup {
  readonly #options: GroupLookupOptions;
  readonly #stopping = new AbortController();
  #wanted: readonly WantedGroup[];
  #known = NOTHING_KNOWN;
  #followed: readonly number[] = [];
  #unserved: readonly string[] = [];
  /** Ends the pause between two lists. */
  #pause = new AbortController();
  readonly #ended: Promise<void>;

  constructor(options: GroupLookupOptions) {
    this.#options = options;
    this.#wanted = options.wanted;
    this.#tell();
    this.#ended = this.#run();
  }

  /** Others are wanted from now on; what of them is known is followed at once. */
  want(wanted: readonly WantedGroup[]): void {
    this.#wanted = wanted;
    this.#tell();
    this.#pause.abort();
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#options;
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      this.#pause = new AbortController();
      const isNeeded = this.#wanted.some(({ by }) => by !== 'id');
      failures = !isNeeded || (await this.#ask(failures)) ? 0 : failures + 1;
      const pauseMs = failures === 0 ? LIST_EVERY_MS : backoffMs(failures, random());
      await clock.sleep(pauseMs, AbortSignal.any([signal, this.#pause.signal])).catch(() => {});
    }
  }

  /** Whether there was an answer. */
  async #ask(failures: number): Promise<boolean> {
    const { list, clock, observe } = this.#options;
    const { signal } = this.#stopping;
    try {
      const listed = await within(clock, TIMEOUT_MS, signal, list);
      this.#known = afterList(this.#known, listed);
      if (failures > 0) observe({ kind: 'groups listed again', failures });
      this.#tell();
      this.#tellUnserved();
      return true;
    } catch (error) {
      if (!signal.aborted) observe({ kind: 'groups not listed', error, failures: failures + 1 });
      return false;
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

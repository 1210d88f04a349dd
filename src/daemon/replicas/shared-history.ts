/**
 * The history of endpoints in Redis, shared by the replicas: the holder of the lease writes, all read. Rows of a stretch
 * of time are lines of one string, to which Redis appends and which it drops by itself when it is too old: a year of ten
 * endpoints is some 80 MB of its memory.
 */
import { added, type StepRow } from '../../fleet/history/fold.ts';
import { leftChanges, type LeftChange } from '../../fleet/history/left-steering.ts';
import {
  STARTS_KEPT,
  type HistoryStore,
  type StartRecord,
  type StoredState,
  type Write,
} from '../../fleet/history/store.ts';
import { KEPT_MS, tierOf, TIER_MS, type Tier } from '../../fleet/history/tiers.ts';
import {
  base64Row,
  endpointFrom,
  endpointText,
  knownFrom,
  livesFrom,
  rowFromBase64,
  startsFrom,
} from '../../fleet/history/stored-text.ts';
import { commitBeside, commitFenced, LeaseLost, StaleVersion, type Command } from './fenced-commit.ts';
import type { Redis } from './redis.ts';
import type { SharedKeys } from './shared-keys.ts';
import { readEach, type Unread } from './unread.ts';

const HOUR_MS = 3_600_000;
/** What the rows of one key cover, ms: some ten to hundred kilobytes. */
const STRETCH_MS: Readonly<Record<Tier, number>> = {
  sample: HOUR_MS,
  minute: 24 * HOUR_MS,
  hour: 30 * 24 * HOUR_MS,
};

export interface SharedHistoryOptions {
  readonly redis: Redis;
  readonly keys: SharedKeys;
  /** What this replica puts under the lease. */
  readonly token: string;
  /** Unix ms. */
  readonly now: () => number;
  /** Skipped, and everything else is read. */
  readonly onUnread?: ((unread: Unread) => void) | undefined;
  /** Hears once of each change that an earlier version had under way; the replica that writes tells it. */
  readonly onLeftChange?: ((change: LeftChange) => void) | undefined;
}

export class SharedHistory implements HistoryStore {
  readonly kind = 'redis';
  readonly keptMs = KEPT_MS;
  readonly #options: SharedHistoryOptions;
  /** Of the last commit; undefined: what Redis has is not known. */
  #version: number | undefined;
  /** The last one that this replica knew of. */
  #known: number | undefined;
  /** What an earlier version kept of how it steered, by label of an endpoint. */
  #left: readonly (readonly [label: string, text: string])[] = [];

  constructor(options: SharedHistoryOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#version !== undefined;
  }

  async open(): Promise<StoredState> {
    const { redis, keys, onUnread } = this.#options;
    const version = Number((await redis.command('GET', keys.fleetCommits)) ?? 0);
    const endpoints = await this.#entries(keys.fleetEndpoints);
    const lives = await this.#entries(keys.fleetWorkers);
    const known = (await redis.command('GET', keys.fleetKnown)) as string | null;
    const starts: StartRecord[] = [];
    for (const [label] of endpoints) {
      const texts = (await redis.command('LRANGE', keys.fleetStarts(label), '0', '-1')) as string[];
      starts.push(...startsFrom(texts));
    }
    const state = {
      isOthers: this.#known !== undefined && version > this.#known,
      endpoints: readEach(endpoints, endpointFrom, (field, error) =>
        onUnread?.({ key: keys.fleetEndpoints, field, error, of: 'endpoint' }),
      ),
      lives: livesFrom(lives.map(([, text]) => text)),
      starts,
      known: readEach(
        known === null ? [] : [['', known]],
        (_, text) => knownFrom(text),
        (_, error) => onUnread?.({ key: keys.fleetKnown, field: undefined, error, of: 'names' }),
      ).flat(),
    };
    this.#left = this.#options.onLeftChange ? await this.#entries(keys.fleetSteering) : [];
    [this.#version, this.#known] = [version, version];
    return state;
  }

  async write(writes: readonly Write[], nowMs: number): Promise<void> {
    const { redis, keys, token } = this.#options;
    const from = this.#version;
    if (from === undefined) throw new LeaseLost('what Redis has is not known');
    const left = this.#left;
    const commands = [...writes.flatMap((write) => this.#commands(write, nowMs)), ...this.#forgetting(left)];
    const fence = { lease: keys.lease, token, version: keys.fleetCommits, from, to: from + 1 };
    try {
      await commitFenced(redis, fence, commands);
    } catch (error) {
      // Redis has lost what it had, or another has written: it is read again before the next write. Where only the lease
      // is gone it may come back, and the same write with it, which may have arrived.
      if (error instanceof StaleVersion) this.#version = undefined;
      throw error;
    }
    [this.#version, this.#known, this.#left] = [from + 1, from + 1, []];
    for (const change of leftChanges(left)) this.#options.onLeftChange?.(change);
  }

  /** Rows of a stretch are added up where they are read, so a line more harms none of those of the holder. */
  async add(label: string, rows: readonly StepRow[], nowMs: number): Promise<void> {
    await commitBeside(
      this.#options.redis,
      rows.flatMap((row) => this.#rowCommands(label, row, nowMs)),
    );
  }

  async read(label: string, tier: Tier, fromMs: number, toMs: number): Promise<readonly StepRow[]> {
    const { redis, keys, now } = this.#options;
    const stretchMs = STRETCH_MS[tier];
    const first = Math.floor(Math.max(fromMs, now() - this.keptMs[tier]) / stretchMs);
    const last = Math.floor(Math.min(toMs, now() + stretchMs) / stretchMs);
    if (last < first) return [];
    const stretches = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const names = stretches.map((stretch) => keys.fleetRows(label, tier, stretch));
    const texts = (await redis.command('MGET', ...names)) as (string | null)[];
    const rows = new Map<number, StepRow>();
    for (const line of texts.flatMap((text) => text?.split('\n').slice(0, -1) ?? [])) {
      const [at = '', body = ''] = line.split(' ');
      const row = rowFromBase64(body, Number(at), TIER_MS[tier]);
      const before = rows.get(row.fromMs);
      if (row.fromMs >= fromMs && row.fromMs < toMs) rows.set(row.fromMs, before ? added(before, row) : row);
    }
    return [...rows.values()].sort((a, b) => a.fromMs - b.fromMs);
  }

  close(): void {
    this.#version = undefined;
  }

  /** Names and values of a hash. */
  async #entries(key: string): Promise<[string, string][]> {
    const flat = (await this.#options.redis.command('HGETALL', key)) as string[];
    return Array.from({ length: flat.length / 2 }, (_, index) => [
      flat[2 * index] ?? '',
      flat[2 * index + 1] ?? '',
    ]);
  }

  #commands({ rows, state, label, lives, gone, starts, known }: Write, nowMs: number): Command[] {
    const { keys } = this.#options;
    const commands = rows.flatMap((row) => this.#rowCommands(label, row, nowMs));
    if (state) commands.push(['HSET', keys.fleetEndpoints, label, endpointText(state)]);
    if (gone === 'all') commands.push(['DEL', keys.fleetWorkers]);
    else for (const id of gone) commands.push(['HDEL', keys.fleetWorkers, String(id)]);
    for (const life of lives)
      commands.push(['HSET', keys.fleetWorkers, String(life.id), JSON.stringify(life)]);
    for (const start of starts) {
      const key = keys.fleetStarts(start.endpoint);
      commands.push(
        ['RPUSH', key, JSON.stringify(start)],
        ['LTRIM', key, String(-STARTS_KEPT), '-1'],
        ['PEXPIRE', key, String(KEPT_MS.hour)],
      );
    }
    if (known) commands.push(['SET', keys.fleetKnown, JSON.stringify(known)]);
    return commands;
  }

  #forgetting(left: readonly (readonly [label: string, text: string])[]): Command[] {
    const { keys } = this.#options;
    if (left.length === 0) return [];
    return [['DEL', keys.fleetSteering, ...left.map(([label]) => keys.fleetJournal(label))]];
  }

  #rowCommands(label: string, row: StepRow, nowMs: number): Command[] {
    const tier = tierOf(row);
    const stretch = Math.floor(row.fromMs / STRETCH_MS[tier]);
    const key = this.#options.keys.fleetRows(label, tier, stretch);
    const endMs = (stretch + 1) * STRETCH_MS[tier] + this.keptMs[tier];
    return [
      ['APPEND', key, `${row.fromMs} ${base64Row(row)}\n`],
      ['PEXPIRE', key, String(Math.max(1, endMs - nowMs))],
    ];
  }
}

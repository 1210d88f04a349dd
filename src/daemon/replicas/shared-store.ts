/**
 * What the replicas share in Redis: records that a sink has not taken yet, how far each sink and each worker group
 * got, and a version that counts the commits. Only the holder of the lease writes, one commit at a time; a commit is
 * applied whole or not at all, and a second time without effect (its answer may have been lost).
 */
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { GroupProgress } from '../../logs/follower/group.ts';
import type { LogRecord } from '../../logs/record.ts';
import type { Window } from '../../logs/follower/stream.ts';
import type { Redis } from './redis.ts';
import { commitFenced, LeaseLost, type Command } from './fenced-commit.ts';
import type { SharedKeys } from './shared-keys.ts';
import { isProgress, withoutWindows, withWindows } from './stored-progress.ts';

/** What Redis has cannot be read: it is not what a replica wrote. */
export class UnreadableState extends PilotlightError {
  readonly code = 'unreadable_state';
  readonly actor = 'service';
  /** Of the state that is there. */
  readonly version: number;

  constructor(version: number, cause: unknown) {
    super('what the replicas keep in Redis cannot be read', { cause });
    this.version = version;
  }
}

export interface SharedState {
  readonly version: number;
  readonly records: readonly LogRecord[];
  /** Position of the first of them, or of the next to come. */
  readonly first: number;
  readonly acknowledged: ReadonlyMap<string, number>;
  readonly progress: ReadonlyMap<number, GroupProgress>;
}

export const NOTHING: Omit<SharedState, 'version'> = {
  records: [],
  first: 1,
  acknowledged: new Map(),
  progress: new Map(),
};

/** Elements of a list that are read at once. */
const PART = 2_000;

export class SharedStore {
  readonly #redis: Redis;
  readonly #keys: SharedKeys;
  readonly #token: string;

  constructor(redis: Redis, keys: SharedKeys, token: string) {
    this.#redis = redis;
    this.#keys = keys;
    this.#token = token;
  }

  /** Goes up with each commit; 0 or less when there is nothing, Redis has lost it, or it is not all restored yet. */
  async version(): Promise<number> {
    return (await this.#readVersion()) ?? 0;
  }

  /**
   * The whole state, for the holder of the lease. However many groups there are, no question is a large one: Redis
   * answers others meanwhile, and within its time.
   *
   * @throws LeaseLost when somebody else has written meanwhile, or `held` says no; UnreadableState.
   */
  async load(held: () => boolean): Promise<SharedState> {
    const version = await this.#readVersion();
    if (version === undefined) throw new UnreadableState(0, new TypeError('the version is no number'));
    if (version <= 0) return { ...NOTHING, version };
    try {
      return await this.#load(version, held);
    } catch (error) {
      throw isUnreadable(error) ? new UnreadableState(version, error) : error;
    }
  }

  /** @returns undefined when what is there is none. */
  async #readVersion(): Promise<number | undefined> {
    const version = Number((await this.#redis.command('GET', this.#keys.version)) ?? 0);
    return Number.isSafeInteger(version) ? version : undefined;
  }

  async #load(version: number, held: () => boolean): Promise<SharedState> {
    const { first, records, acknowledged, progress } = this.#keys;
    const acknowledgements = pairs(await this.#redis.command('HGETALL', acknowledged));
    const groups = pairs(await this.#redis.command('HGETALL', progress));
    const known = new Map<number, GroupProgress>();
    for (const [id, body] of groups) {
      if (!held()) throw new LeaseLost('the lease ran out while the state was read');
      known.set(Number(id), await this.#progress(Number(id), body));
    }
    const state = {
      version,
      first: Number((await this.#redis.command('GET', first)) ?? 1),
      records: (await this.#list(records)).map((text) => JSON.parse(text) as LogRecord),
      acknowledged: new Map(acknowledgements.map(([sink, position]) => [sink, Number(position)])),
      progress: known,
    };
    if ((await this.version()) !== version) throw new LeaseLost('another replica has written meanwhile');
    return state;
  }

  /**
   * All of it is applied, or nothing; a second time it has no effect.
   *
   * @param from The version that Redis must have. @param to The one that it gets.
   * @throws LeaseLost; any other error leaves open whether it was applied: then commit the same again.
   */
  async commit(from: number, to: number, commands: readonly Command[]): Promise<void> {
    const { lease, version } = this.#keys;
    await commitFenced(this.#redis, { lease, version, token: this.#token, from, to }, commands);
  }

  /** Begins a holding: with what Redis has, at a version above all before. */
  async begin({ version }: SharedState, to: number): Promise<void> {
    const { records, first, acknowledged, progress } = this.#keys;
    // What is left there of a state that was not all restored.
    const clear: Command[] = version > 0 ? [] : [['DEL', records, first, acknowledged, progress]];
    await this.commit(version, to, clear);
  }

  /**
   * Gives Redis a whole state in place of the one it has, in many small commits. Until the last of them Redis counts
   * as empty, so half a state is never taken for a whole one.
   *
   * @param others Keys that must go as well.
   * @throws What commit does; then load again, and begin anew.
   */
  async replace(
    loaded: SharedState,
    state: SharedState,
    to: number,
    others: readonly string[] = [],
  ): Promise<void> {
    const { records, first, acknowledged, progress } = this.#keys;
    const windows = [...loaded.progress, ...state.progress].flatMap(([id, { streams }]) =>
      Object.keys(streams).map((level) => this.#keys.window(id, level)),
    );
    let version = Math.min(loaded.version, 0) - 1;
    const keys = [records, first, acknowledged, progress, ...windows, ...others];
    await this.commit(loaded.version, version, inChunks(['DEL'], keys));
    for (const commands of inPieces(stateCommands(this.#keys, state))) {
      await this.commit(version, version - 1, commands);
      version -= 1;
    }
    await this.commit(version, to, []);
  }

  /** Of all windows that are there, also where nothing that can be read names them. */
  async windowKeys(): Promise<readonly string[]> {
    const found = new Set<string>();
    const pattern = `${this.#keys.windows}*`;
    let cursor = '0';
    do {
      const answer = await this.#redis.command('SCAN', cursor, 'MATCH', pattern, 'COUNT', '1000');
      const [next, keys] = answer as [string, string[]];
      for (const key of keys) found.add(key);
      cursor = next;
    } while (cursor !== '0');
    return [...found];
  }

  /** @throws TypeError when it is not what a replica wrote. */
  async #progress(id: number, body: string): Promise<GroupProgress> {
    const stored: unknown = JSON.parse(body);
    if (!isProgress(stored)) throw new TypeError(`the progress of worker group ${id} cannot be read`);
    const lists = new Map<string, readonly string[]>();
    for (const level of Object.keys(stored.streams))
      lists.set(level, await this.#list(this.#keys.window(id, level)));
    return withWindows(stored, (level, from) => ({
      from,
      hashes: Float64Array.from(lists.get(level) ?? [], Number),
    }));
  }

  async #list(key: string): Promise<string[]> {
    const all: string[] = [];
    for (let part: string[] = []; all.length === 0 || part.length === PART;) {
      const [from, to] = [all.length, all.length + PART - 1];
      part = (await this.#redis.command('LRANGE', key, String(from), String(to))) as string[];
      if (part.length === 0) break;
      for (const text of part) all.push(text);
    }
    return all;
  }
}

/** Text that is no JSON, JSON of another shape, or a key of another kind. */
function isUnreadable(error: unknown): boolean {
  if (error instanceof SyntaxError || error instanceof TypeError) return true;
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}

function pairs(answer: unknown): [string, string][] {
  const flat = answer as string[];
  return Array.from({ length: flat.length / 2 }, (_, index) => [
    flat[2 * index] ?? '',
    flat[2 * index + 1] ?? '',
  ]);
}

/** Arguments of one command: Lua cannot unpack many thousands. */
const CHUNK = 500;

export function pushCommands(key: string, values: readonly string[]): Command[] {
  return inChunks(['RPUSH', key], values);
}

function inChunks(command: Command, values: readonly string[]): Command[] {
  return Array.from({ length: Math.ceil(values.length / CHUNK) }, (_, index) => [
    ...command,
    ...values.slice(index * CHUNK, (index + 1) * CHUNK),
  ]);
}

/** What brings a group's progress up to date: of the windows only the lines that are new. */
export function progressCommands(
  keys: SharedKeys,
  workergroupId: number,
  progress: GroupProgress,
  before: GroupProgress | undefined,
): Command[] {
  const commands: Command[] = [];
  for (const [level, { window }] of Object.entries(progress.streams)) {
    const key = keys.window(workergroupId, level);
    const known = before?.streams[level]?.window;
    const { from, hashes } = window;
    const added = hashes.subarray(Math.max(0, (known ? nextPlace(known) : from) - from));
    if (added.length > 0) commands.push(...pushCommands(key, Array.from(added, String)));
    // Redis drops a list with its last element.
    commands.push(hashes.length === 0 ? ['DEL', key] : ['LTRIM', key, String(-hashes.length), '-1']);
  }
  const body = JSON.stringify(withoutWindows(progress));
  return [...commands, ['HSET', keys.progress, String(workergroupId), body]];
}

function nextPlace({ from, hashes }: Window): number {
  return from + hashes.length;
}

/** What writes a whole state into a Redis that has none. */
function stateCommands(keys: SharedKeys, { records, first, acknowledged, progress }: SharedState): Command[] {
  return [
    ...pushCommands(
      keys.records,
      records.map((record) => JSON.stringify(record)),
    ),
    ['SET', keys.first, String(first)],
    ...Array.from(acknowledged, ([sink, position]) => ['HSET', keys.acknowledged, sink, String(position)]),
    ...[...progress].flatMap(([id, one]) => progressCommands(keys, id, one, undefined)),
  ];
}

/** Of one commit while a state is restored, in characters: about. */
const PIECE = 500_000;

function* inPieces(commands: Iterable<Command>): Generator<readonly Command[]> {
  let piece: Command[] = [];
  let size = 0;
  for (const command of commands) {
    piece.push(command);
    for (const argument of command) size += argument.length;
    if (size < PIECE) continue;
    yield piece;
    [piece, size] = [[], 0];
  }
  if (piece.length > 0) yield piece;
}

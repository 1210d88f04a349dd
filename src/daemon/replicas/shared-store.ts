/**
 * What the replicas share in Redis: records that a sink has not taken yet, how far each sink and each worker group
 * got, and a version that counts the commits. Only the holder of the lease writes, one commit at a time; a commit is
 * applied whole or not at all, and a second time without effect (its answer may have been lost).
 */
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { GroupProgress } from '../../logs/tail/group.ts';
import type { LogRecord } from '../../logs/record.ts';
import type { Stream } from '../../logs/tail/stream.ts';
import { nextPlace, restoredWindow, windowLines } from '../../logs/tail/window.ts';
import type { Redis } from './redis.ts';

/** The keys of one set of replicas. The braces keep them on one node of a cluster. */
export class SharedKeys {
  readonly #scope: string;

  /** @param scope What the replicas have in common and others have not. */
  constructor(scope: string) {
    this.#scope = `pilotlight:{${scope}}`;
  }

  get lease(): string {
    return `${this.#scope}:lease`;
  }
  get version(): string {
    return `${this.#scope}:version`;
  }
  /** List of JSON records; the first one has the position under `first`. */
  get records(): string {
    return `${this.#scope}:records`;
  }
  get first(): string {
    return `${this.#scope}:first`;
  }
  /** Hash: sink → position that it has acknowledged. */
  get acknowledged(): string {
    return `${this.#scope}:acknowledged`;
  }
  /** Hash: worker group → its progress as JSON, without the lines of the windows. */
  get progress(): string {
    return `${this.#scope}:progress`;
  }
  /** List of the lines of one window. */
  window(workergroupId: number, level: string): string {
    return `${this.#scope}:window:${workergroupId}:${level}`;
  }
}

export type Command = readonly string[];

const COMMIT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
local version = tonumber(redis.call('GET', KEYS[2]) or '0')
local expected = tonumber(ARGV[2])
if version == expected + 1 then return version end
if version ~= expected then return -1 end
local at = 3
while at <= #ARGV do
  local count = tonumber(ARGV[at])
  redis.call(unpack(ARGV, at + 1, at + count))
  at = at + count + 1
end
return redis.call('INCR', KEYS[2])`;

/** The lease is another's, or somebody else has written: nothing was changed. */
export class LeaseLost extends PilotlightError {
  readonly code = 'lease_lost';
  readonly actor = 'service';
}

export interface SharedState {
  readonly version: number;
  readonly records: readonly LogRecord[];
  /** Position of the first of them, or of the next to come. */
  readonly first: number;
  readonly acknowledged: ReadonlyMap<string, number>;
  readonly progress: ReadonlyMap<number, GroupProgress>;
}

type StoredStream = Omit<Stream, 'window'> & { readonly from: number };
type StoredProgress = Omit<GroupProgress, 'streams'> & {
  readonly streams: Readonly<Record<string, StoredStream>>;
};

export class SharedStore {
  readonly #redis: Redis;
  readonly #keys: SharedKeys;
  readonly #token: string;

  constructor(redis: Redis, keys: SharedKeys, token: string) {
    this.#redis = redis;
    this.#keys = keys;
    this.#token = token;
  }

  /** Commits so far; 0 when there is nothing, or Redis has lost it. */
  async version(): Promise<number> {
    return Number((await this.#redis.command('GET', this.#keys.version)) ?? 0);
  }

  /** The whole state. Call it while holding the lease, so that nobody else writes at the same time. */
  async load(): Promise<SharedState> {
    const { first, records, acknowledged, progress } = this.#keys;
    const acknowledgements = pairs(await this.#redis.command('HGETALL', acknowledged));
    const groups = pairs(await this.#redis.command('HGETALL', progress));
    return {
      version: await this.version(),
      first: Number((await this.#redis.command('GET', first)) ?? 1),
      records: (await this.#list(records)).map((text) => JSON.parse(text) as LogRecord),
      acknowledged: new Map(acknowledgements.map(([sink, position]) => [sink, Number(position)])),
      progress: new Map(
        await Promise.all(
          groups.map(async ([id, body]) => [Number(id), await this.#progress(Number(id), body)] as const),
        ),
      ),
    };
  }

  /** @throws LeaseLost; any other error leaves open whether it was applied: then commit the same again. */
  async commit(version: number, commands: readonly Command[]): Promise<void> {
    const flat = commands.flatMap((command) => [String(command.length), ...command]);
    const { lease, version: counter } = this.#keys;
    const answer = await this.#redis.command(
      'EVAL',
      COMMIT,
      '2',
      lease,
      counter,
      this.#token,
      String(version),
      ...flat,
    );
    if (answer === -1) throw new LeaseLost('the lease has gone to another replica');
  }

  async #progress(id: number, body: string): Promise<GroupProgress> {
    const { streams, ...rest } = JSON.parse(body) as StoredProgress;
    const whole: [string, Stream][] = [];
    for (const [level, { from, ...stream }] of Object.entries(streams)) {
      const lines = await this.#list(this.#keys.window(id, level));
      whole.push([level, { ...stream, window: restoredWindow(from, [], lines) }]);
    }
    return { ...rest, streams: Object.fromEntries(whole) };
  }

  async #list(key: string): Promise<string[]> {
    return (await this.#redis.command('LRANGE', key, '0', '-1')) as string[];
  }
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
  return Array.from({ length: Math.ceil(values.length / CHUNK) }, (_, index) => [
    'RPUSH',
    key,
    ...values.slice(index * CHUNK, (index + 1) * CHUNK),
  ]);
}

/** What brings a group's progress up to date: of the windows only the lines that are new. */
export function progressCommands(
  keys: SharedKeys,
  workergroupId: number,
  { streams, ...rest }: GroupProgress,
  before: GroupProgress | undefined,
): Command[] {
  const stored: Record<string, StoredStream> = {};
  const commands: Command[] = [];
  for (const [level, { window, ...stream }] of Object.entries(streams)) {
    stored[level] = { ...stream, from: window.from };
    const key = keys.window(workergroupId, level);
    const known = before?.streams[level]?.window;
    const next = Math.max(window.from, known ? nextPlace(known) : window.from);
    if (next < nextPlace(window)) commands.push(...pushCommands(key, windowLines(window, next)));
    // Redis drops a list with its last element.
    const { length } = window.hashes;
    commands.push(length === 0 ? ['DEL', key] : ['LTRIM', key, String(-length), '-1']);
  }
  const body: StoredProgress = { ...rest, streams: stored };
  return [...commands, ['HSET', keys.progress, String(workergroupId), JSON.stringify(body)]];
}

/** What writes a whole state into a Redis that has none. */
export function stateCommands(
  keys: SharedKeys,
  { records, first, acknowledged, progress }: SharedState,
): Command[] {
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

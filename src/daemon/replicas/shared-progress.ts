/**
 * How far logs were followed, in Redis: the next leader goes on from there. Redis hears of lines before this replica's
 * spool and sinks do, so the next leader takes all others, and no line comes twice.
 */
import type { LogStore } from '../../logs/follow/group-follower.ts';
import { FORGOTTEN, type GroupProgress, type LogBeginning } from '../../logs/follower/group.ts';
import type { LogRecord } from '../../logs/record.ts';
import type { Spool } from '../../logs/spool/spool.ts';
import type { Clock } from '../../time/clock.ts';
import type { RedisState } from './lease.ts';
import { RedisError, type Redis, type RedisTrouble } from './redis.ts';
import { decodeLog, encodeLog, type SharedLog } from './shared-log.ts';

/**
 * Writes fields of the index, and a value if there is a third key. The version rises with each write, so it is lower than
 * the writer saw if Redis went back in time. Then nothing is written, unless the write notes that loss.
 */
const WRITE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local version = tonumber(redis.call('HGET', KEYS[2], 'version') or 0)
local seen = tonumber(ARGV[2])
if version < seen and ARGV[3] ~= 'loss' then return -1 end
if KEYS[3] then redis.call('SET', KEYS[3], ARGV[4]) end
version = string.format('%.0f', math.max(version, seen) + 1)
redis.call('HSET', KEYS[2], 'version', version, unpack(ARGV, KEYS[3] and 5 or 4))
return version`;

/** Between two writes of one value, and between two tries, ms. */
const WRITE_EVERY_MS = 2_000;
const RETRY_MS = 200;
/** Values that are read at once: each answer must come within the time of one. */
const READ_AT_ONCE = 16;
/** The last leader may know what Redis lost, and is waited for so long, ms. The lease of a dead one runs out earlier. */
const PATIENCE_MS = 10_000;

export interface SharedKeys {
  readonly lease: string;
  /** A hash: the last token, the version, the token of the last loss, and the number delivered of each log. */
  readonly index: string;
  readonly logs: string;
}

interface SharedProgressOptions {
  readonly redis: Redis;
  readonly keys: SharedKeys;
  readonly spool: Pick<Spool, 'progress' | 'forget' | 'append' | 'waiting'>;
  readonly clock: Clock;
  /** Monotonic ms. */
  readonly now: () => number;
  readonly writing: Pick<RedisTrouble, 'failed' | 'passed'>;
  /** This replica must not write: the holding is over. */
  readonly onRefused: (error: RedisError) => void;
}

type OwnProgress = GroupProgress & { readonly token?: number };

interface Holding {
  readonly token: number;
  readonly held: () => boolean;
  /** Values of lower tokens may be out of date, as Redis lost something. */
  readonly lost: number;
  /** Logs that had a value. */
  readonly written: ReadonlySet<string>;
  readonly over: AbortController;
}

interface Value {
  readonly log: SharedLog;
  /** Number of the last record that all sinks had. */
  readonly delivered: number;
  /** The spool of this replica has what is not delivered. */
  readonly isOwn: boolean;
  /** Unix ms; 0: not by this replica. */
  readonly writtenAt: number;
}

export class SharedProgress implements LogStore {
  readonly #options: SharedProgressOptions;
  #holding: Holding | undefined;
  readonly #values = new Map<string, Value>();
  /** The highest that was seen. */
  #version = 0;
  #run: string | undefined;
  /** The version at the end of the last holding. */
  #heldUntil = 0;
  /** Monotonic ms: since then Redis may lack something that was written. */
  #inDoubtSince: number | undefined;
  #telling: Promise<void> | undefined;

  constructor(options: SharedProgressOptions) {
    this.#options = options;
  }

  /** Another replica leads. */
  saw(state: RedisState): void {
    this.#look(state);
    const { now } = this.#options;
    if (now() - (this.#inDoubtSince ?? Infinity) > PATIENCE_MS) this.#inDoubtSince = undefined;
  }

  /** This replica leads. @returns Whether logs begin a new epoch, as Redis may have lost something. */
  async begin(token: number, state: RedisState, held: () => boolean): Promise<boolean> {
    const { redis, keys } = this.#options;
    const hasForgotten = this.#hasForgotten(state);
    const flat = (await redis.command('HGETALL', keys.index)) as string[];
    const index = new Map(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, Number(flat[at + 1])]] : [])));
    const written = new Set([...index.keys()].filter((name) => name.includes('/')));
    this.#values.clear();
    const read = async (source: string): Promise<void> => {
      const bytes = (await redis.binary('GET', keys.logs + source)) as Buffer | null;
      const log = bytes === null ? undefined : decodeLog(bytes);
      const delivered = index.get(source) ?? 0;
      if (log !== undefined) this.#values.set(source, { log, delivered, isOwn: false, writtenAt: 0 });
    };
    const sources = [...written];
    while (sources.length > 0) await Promise.all(sources.splice(0, READ_AT_ONCE).map(read));
    if (!held()) throw new RedisError('redis_slow');
    const lost = hasForgotten ? token : (index.get('lost') ?? 0);
    this.#holding = { token, held, lost, written, over: new AbortController() };
    if (hasForgotten) await this.#write([], ['lost', String(lost)], this.#holding.over.signal, 'loss');
    this.#inDoubtSince = undefined;
    return hasForgotten;
  }

  /** This replica does not lead any more. */
  end(): void {
    if (this.#holding === undefined) return;
    this.#heldUntil = this.#version;
    this.#holding.over.abort();
    this.#holding = undefined;
  }

  beginning(source: string): LogBeginning {
    const { spool, clock } = this.#options;
    const own: OwnProgress | undefined = spool.progress(source);
    const value = this.#values.get(source);
    const log = value?.log;
    // No earlier epoch can be this.
    const now = Math.floor(clock.now());
    if (this.#isLost(source, own, log)) {
      // What this replica knows itself does not come again.
      const known = log === undefined || (own?.token ?? 0) >= log.token ? own : log.progress;
      if (known !== own) spool.forget(source);
      const epoch = Math.max(now, (known?.epoch ?? 0) + 1);
      return { progress: known && { ...known, epoch }, epoch, mark: FORGOTTEN };
    }
    if (value === undefined || log === undefined) return { progress: own, epoch: now };
    if (own?.token === log.token) {
      this.#values.set(source, { ...value, isOwn: true });
      return { progress: own };
    }
    spool.forget(source);
    const waiting = log.progress.seq - value.delivered;
    const mark = { reason: 'handover', lost_min: 0, lost_estimate: waiting } as const;
    return { progress: log.progress, ...(waiting > 0 && { mark }) };
  }

  /** If this replica dies between Redis and its spool, the next leader counts the lines as not delivered. */
  async append(
    source: string,
    records: readonly LogRecord[],
    progress: GroupProgress,
    signal: AbortSignal,
  ): Promise<void> {
    const { spool, clock, keys } = this.#options;
    if (this.#holding?.held() !== true) throw new RedisError('lease_lost');
    const { token } = this.#holding;
    const { writtenAt = 0 } = this.#values.get(source) ?? {};
    await this.#pause(Math.min(WRITE_EVERY_MS, writtenAt + WRITE_EVERY_MS - clock.now()), signal);
    const delivered = Math.max(0, progress.seq - records.length - spool.waiting(source));
    const log = { token, progress };
    await this.#write([keys.logs + source], [encodeLog(log), source, String(delivered)], signal);
    spool.append(source, records, { ...progress, token } as OwnProgress);
    this.#values.set(source, { log, delivered, isOwn: true, writtenAt: clock.now() });
  }

  /** The lease was renewed. */
  refresh(version: number): void {
    if (this.#holding === undefined) return;
    // What this replica knows is newer: it leads again, and notes the loss.
    if (version < this.#version) return this.#options.onRefused(new RedisError('redis_behind'));
    this.#version = version;
    this.#telling ??= this.#tell(this.#holding.over.signal).finally(() => (this.#telling = undefined));
  }

  async finish(signal: AbortSignal): Promise<void> {
    await this.#telling;
    await this.#tell(signal);
  }

  /** Tells Redis what was delivered. If that fails, the next renewal tries again. */
  async #tell(signal: AbortSignal): Promise<void> {
    const told = new Map<string, number>();
    for (const [source, { log, delivered: before, isOwn }] of this.#values) {
      const { seq } = log.progress;
      const delivered = isOwn && before < seq ? seq - this.#options.spool.waiting(source) : before;
      if (delivered > before) told.set(source, delivered);
    }
    if (told.size === 0) return;
    const [write] = await Promise.allSettled([this.#write([], [...told].flat().map(String), signal)]);
    if (write.status === 'rejected') return;
    for (const [source, delivered] of told) {
      const value = this.#values.get(source);
      if (value !== undefined) this.#values.set(source, { ...value, delivered });
    }
  }

  /** There may have been a value that this replica does not know. */
  #isLost(source: string, own: OwnProgress | undefined, log: SharedLog | undefined): boolean {
    const { lost, written } = this.#holding ?? { lost: Infinity };
    if (log === undefined) return lost > 0 || written?.has(source) === true || own?.token !== undefined;
    if (log.token < lost) return true;
    if (own?.token === undefined || own.token < log.token) return false;
    return own.token > log.token || own.seq > log.progress.seq;
  }

  /** Redis may lack something. @throws redis_forgot if the last leader may know it. */
  #hasForgotten(state: RedisState): boolean {
    const { now } = this.#options;
    const isBehind = this.#look(state);
    if (this.#inDoubtSince === undefined) return false;
    // No other replica has led since this one.
    if (this.#heldUntil === this.#version) return isBehind;
    if (now() - this.#inDoubtSince < PATIENCE_MS) throw new RedisError('redis_forgot');
    return true;
  }

  /** A server that was started again may lack what others wrote last. @returns Whether it lacks something for sure. */
  #look({ version, run }: RedisState): boolean {
    const isBehind = version < this.#version;
    if (isBehind || run !== (this.#run ?? run)) this.#inDoubtSince ??= this.#options.now();
    this.#version = Math.max(this.#version, version);
    this.#run = run;
    return isBehind;
  }

  /** Tries as long as this replica holds the lease. @throws lease_lost */
  async #write(
    names: readonly string[],
    args: readonly (string | Buffer)[],
    signal: AbortSignal,
    kind: 'next' | 'loss' = 'next',
  ): Promise<void> {
    const { redis, keys, writing, onRefused } = this.#options;
    const all = [keys.lease, keys.index, ...names];
    for (; this.#holding?.held() === true && !signal.aborted; await this.#pause(RETRY_MS, signal)) {
      const fence = [String(this.#holding.token), String(this.#version), kind];
      try {
        const answer = await redis.command('EVAL', WRITE, String(all.length), ...all, ...fence, ...args);
        const version = Number(answer);
        if (version > 0) {
          this.#version = Math.max(this.#version, version);
          return writing.passed();
        }
        onRefused(new RedisError(version < 0 ? 'redis_behind' : 'lease_lost'));
        break;
      } catch (error) {
        writing.failed(error);
      }
    }
    throw new RedisError('lease_lost');
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await this.#options.clock.sleep(ms, signal).catch(() => {});
  }
}

/**
 * How far logs were followed, in Redis: from there the next replica goes on. Redis hears of lines before the spool of
 * this replica does, and so before any sink: lines of which it has not heard are taken by the next replica, and never
 * delivered by this one.
 */
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { LogStore } from '../../logs/follow/group-follower.ts';
import { FORGOTTEN, type GroupProgress, type LogBeginning } from '../../logs/follower/group.ts';
import type { LogRecord } from '../../logs/record.ts';
import type { Spool } from '../../logs/spool/spool.ts';
import type { Clock } from '../../time/clock.ts';
import type { Redis } from './redis.ts';
import { decodeLog, encodeLog, type SharedLog } from './shared-log.ts';

/** The lease is another's: nothing was changed. */
export class LeaseLost extends PilotlightError {
  readonly code = 'lease_lost';
  readonly actor = 'service';

  constructor() {
    super('the lease has gone to another replica');
  }
}

/** What is written goes with its token: Redis refuses it when the lease is another's. */
const IF_HELD = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end`;
/** The version counts what is written. */
const WRITE = `${IF_HELD}
redis.call('SET', KEYS[3], ARGV[4])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return redis.call('HINCRBY', KEYS[2], 'version', 1)`;
/** Raises the version above all that there were. After a loss the values go that may be out of date, and it is noted. */
const RAISE = `${IF_HELD}
for at = 3, #KEYS do redis.call('DEL', KEYS[at]) end
if ARGV[3] == '1' then redis.call('HSET', KEYS[2], 'lost', '1') end
local version = math.max(tonumber(redis.call('HGET', KEYS[2], 'version') or 0), tonumber(ARGV[2])) + 1
redis.call('HSET', KEYS[2], 'version', string.format('%.0f', version))
return version`;

/** Between two writes of one log, and between two tries, ms. */
const WRITE_EVERY_MS = 2_000;
const RETRY_MS = 200;

export interface SharedKeys {
  readonly lease: string;
  /** A hash: the last token, the version, whether something was lost, and the epoch of each log that has a value. */
  readonly index: string;
  /** What the names of the values begin with; the name of the log follows. */
  readonly logs: string;
  /** What version 0.1 kept is not read. */
  readonly old: string;
}

export interface SharedProgressOptions {
  readonly redis: Redis;
  readonly keys: SharedKeys;
  readonly spool: Pick<Spool, 'progress' | 'forget' | 'append' | 'waiting'>;
  readonly clock: Clock;
  /** A write was refused: the holding is over. */
  readonly onRefused: (error: LeaseLost) => void;
  /** A write was made, or failed and is tried again. */
  readonly onWrite: (error?: unknown) => void;
}

/** How far this replica followed a log, and under which token. */
type OwnProgress = GroupProgress & { readonly token?: number };

interface Holding {
  readonly token: number;
  readonly held: () => boolean;
  /** Redis may have lost something: no value of it is the newest for sure. */
  readonly isBehind: boolean;
  /** It did so before: a log without a value may have had one. */
  readonly hasLost: boolean;
  /** Logs that a value was written of. */
  readonly written: ReadonlySet<string>;
  readonly over: AbortController;
}

/** As Redis should have it. */
interface Value {
  readonly log: SharedLog;
  /** The spool of this replica has what of it is not delivered. */
  readonly isOwn: boolean;
  /** Unix ms; 0: not by this replica. */
  readonly writtenAt: number;
}

export class SharedProgress implements LogStore {
  readonly #options: SharedProgressOptions;
  #holding: Holding | undefined;
  readonly #values = new Map<string, Value>();
  /** Of each log: settles when nothing of it is on its way. */
  readonly #turns = new Map<string, Promise<void>>();
  /** The highest that is known: of what this replica wrote, or what Redis said. */
  #version = 0;
  /** The version at the end of the last holding. */
  #heldUntil = 0;
  #hasLostSight = false;
  #syncing: Promise<void> | undefined;

  constructor(options: SharedProgressOptions) {
    this.#options = options;
  }

  /**
   * Another replica holds the lease, and so much was written.
   *
   * @param isLiving It has renewed the lease since this replica lost sight.
   */
  saw(version: number, isLiving: boolean): void {
    this.#version = Math.max(this.#version, version);
    if (isLiving) this.#hasLostSight = false;
  }

  /** The connection to Redis is a new one: what others wrote before that, this replica may never have seen. */
  lostSight(): void {
    // Who has seen nothing yet has nothing to compare with.
    this.#hasLostSight = this.#version > 0;
  }

  /** No other replica has led since this one, as far as it knows. */
  get isLast(): boolean {
    return this.#version > 0 && this.#heldUntil === this.#version;
  }

  /** Redis may lack something that was written. @param version Of what it has. */
  isBehind(version: number): boolean {
    return version < this.#version || (this.#hasLostSight && this.#version > 0 && !this.isLast);
  }

  /**
   * The lease was taken: reads what Redis has.
   *
   * @param version What Redis says that was written. @throws LeaseLost, or why it could not be read.
   */
  async begin(token: number, version: number, held: () => boolean): Promise<void> {
    const { redis, keys } = this.#options;
    const flat = (await redis.command('HGETALL', keys.index)) as string[];
    const names = new Set(flat.filter((_, at) => at % 2 === 0));
    const written = new Set([...names].filter((name) => name.includes('/')));
    const isUpgrade = written.size === 0 && (await redis.command('EXISTS', keys.old)) === 1;
    const isBehind = this.isBehind(version) || isUpgrade;
    this.#values.clear();
    for (const source of written) {
      const value = await redis.binary('GET', keys.logs + source);
      const log = value === null ? undefined : decodeLog(value as Buffer);
      if (log !== undefined) this.#values.set(source, { log, isOwn: false, writtenAt: 0 });
    }
    if (!held()) throw new LeaseLost();
    const hasLost = names.has('lost');
    this.#holding = { token, held, isBehind, hasLost, written, over: new AbortController() };
    await this.#raise(isBehind ? [...written] : [], isBehind);
  }

  /** The lease is gone, or given up: what is on its way is not written any more. */
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
    // A log that is new has an epoch that none before can have had.
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
    const waiting = log.progress.seq - log.delivered;
    const mark = { reason: 'handover', lost_min: 0, lost_estimate: waiting } as const;
    return { progress: log.progress, ...(waiting > 0 && { mark }) };
  }

  /** Redis hears of it first. If this replica is killed before its spool has it, the next one counts it as not delivered. */
  append(
    source: string,
    records: readonly LogRecord[],
    progress: GroupProgress,
    signal: AbortSignal,
  ): Promise<void> {
    const { spool, clock } = this.#options;
    return this.#inTurn(source, async (token) => {
      const { writtenAt = 0 } = this.#values.get(source) ?? {};
      await this.#pause(Math.min(WRITE_EVERY_MS, writtenAt + WRITE_EVERY_MS - clock.now()), signal);
      const delivered = Math.max(0, progress.seq - records.length - spool.waiting(source));
      await this.#write(source, { token, delivered, progress }, true, signal);
      spool.append(source, records, { ...progress, token } as OwnProgress);
    });
  }

  /**
   * The lease was renewed, and Redis said how much was written: it is told what it lacks.
   *
   * @returns Whether it begins to be told all, because it has lost something.
   */
  refresh(version: number): boolean {
    const isBehind = version < this.#version;
    this.#version = Math.max(this.#version, version);
    const signal = this.#holding?.over.signal;
    if (signal === undefined || this.#syncing !== undefined) return false;
    // What fails was told, and is tried again with the next renewal.
    this.#syncing = this.#sync(isBehind ? 'loss' : 'renewal', signal).finally(
      () => (this.#syncing = undefined),
    );
    return isBehind;
  }

  async settle(signal: AbortSignal): Promise<void> {
    await this.#syncing;
    await this.#sync('end', signal);
  }

  /** @param why `loss`: Redis went back in time while this replica held the lease, and no other knows what it lacks. */
  async #sync(why: 'renewal' | 'end' | 'loss', signal: AbortSignal): Promise<void> {
    const { spool, clock } = this.#options;
    const isAll = why === 'loss';
    const isLacking = ({ log, isOwn }: Value) => isOwn && log.delivered < log.progress.seq;
    const lacking = [...this.#values].filter(([, value]) => isAll || isLacking(value));
    const writes = lacking.map(([source, value]) =>
      this.#inTurn(source, async () => {
        const { log, isOwn, writtenAt } = this.#values.get(source) ?? value;
        const delivered = isOwn ? log.progress.seq - spool.waiting(source) : log.delivered;
        const isDue = why !== 'renewal' || clock.now() - writtenAt >= WRITE_EVERY_MS;
        if (isDue && (isAll || delivered > log.delivered))
          await this.#write(source, { ...log, delivered }, isOwn, signal);
      }),
    );
    const ends = await Promise.allSettled(writes);
    if (isAll && ends.every(({ status }) => status === 'fulfilled'))
      await this.#raise([], false).catch(this.#options.onWrite);
  }

  /** There may have been a value that this replica does not know. */
  #isLost(source: string, own: OwnProgress | undefined, log: SharedLog | undefined): boolean {
    const holding = this.#holding;
    if (holding === undefined || holding.isBehind) return true;
    if (log === undefined) return holding.hasLost || holding.written.has(source) || own?.token !== undefined;
    if (own?.token === undefined || own.token < log.token) return false;
    return own.token > log.token || own.seq > log.progress.seq;
  }

  /** One after the other. */
  #inTurn(source: string, run: (token: number) => Promise<void>): Promise<void> {
    const before = this.#turns.get(source)?.catch(() => {}) ?? Promise.resolve();
    const turn = before.then(() => {
      if (this.#holding?.held() !== true) throw new LeaseLost();
      return run(this.#holding.token);
    });
    this.#turns.set(source, turn);
    return turn;
  }

  /** Tries as long as this replica holds the lease. */
  async #write(source: string, log: SharedLog, isOwn: boolean, signal: AbortSignal): Promise<void> {
    const { keys, clock, onWrite } = this.#options;
    const args = [source, String(log.progress.epoch), encodeLog(log)];
    for (; this.#holding?.held() === true && !signal.aborted; await this.#pause(RETRY_MS, signal)) {
      try {
        await this.#fenced(WRITE, [keys.logs + source], args);
        this.#values.set(source, { log, isOwn, writtenAt: clock.now() });
        return onWrite();
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        onWrite(error);
      }
    }
    throw new LeaseLost();
  }

  async #raise(outdated: readonly string[], hasLost: boolean): Promise<void> {
    const names = outdated.map((source) => this.#options.keys.logs + source);
    await this.#fenced(RAISE, names, [String(this.#version), hasLost ? '1' : '0']);
  }

  /** @throws LeaseLost, after which the holding is over; any other error leaves open whether it was done. */
  async #fenced(script: string, names: readonly string[], args: readonly (string | Buffer)[]): Promise<void> {
    const { redis, keys, onRefused } = this.#options;
    const all = [keys.lease, keys.index, ...names];
    const token = String(this.#holding?.token);
    const version = Number(await redis.command('EVAL', script, String(all.length), ...all, token, ...args));
    // One that is too low is noticed with the next renewal.
    this.#version = Math.max(this.#version, version);
    if (version > 0) return;
    const error = new LeaseLost();
    onRefused(error);
    throw error;
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const over = this.#holding?.over.signal ?? signal;
    if (ms > 0) await this.#options.clock.sleep(ms, AbortSignal.any([signal, over])).catch(() => {});
  }
}

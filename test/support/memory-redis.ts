/**
 * As much of Redis as the replicas ask for, in this process, so that each step can be tried in a millisecond; tests with
 * a real one say that it means the same. Times to live are kept, and nothing runs out.
 */
import type { Redis } from '../../src/daemon/replicas/redis.ts';

type Value = string | string[] | Map<string, string>;

export class MemoryRedis implements Redis {
  readonly values = new Map<string, Value>();
  /** By key, ms. */
  readonly lifetimes = new Map<string, number>();
  /** Names of the commands, in order; those of a script are not among them. */
  readonly asked: string[] = [];
  /** Settles before the next answer, and may take its place; what was asked has its effect at once. */
  meanwhile: (() => Promise<void>) | undefined;

  async command(...[name = '', ...args]: readonly string[]): Promise<unknown> {
    this.asked.push(name);
    const answer = name === 'EVAL' ? this.#script(args) : this.#run(name, args);
    const { meanwhile } = this;
    this.meanwhile = undefined;
    await meanwhile?.();
    return answer;
  }

  close(): void {}

  /** A commit, under a lease or beside it. */
  #script([, keys, ...args]: readonly string[]): unknown {
    if (keys === '0') return this.#runAll(args);
    const [lease = '', version = '', writer = '', token = '', from, to = '', ...commands] = args;
    if (this.values.get(lease) !== token) return -1;
    const present = this.values.get(version) ?? '0';
    if (present === to) return this.values.get(writer) === token ? 1 : -2;
    if (present !== from) return -2;
    this.#runAll(commands);
    this.values.set(version, to);
    this.values.set(writer, token);
    return 1;
  }

  #runAll(args: readonly string[]): null {
    for (let at = 0; at < args.length;) {
      const count = Number(args[at]);
      const [name = '', ...rest] = args.slice(at + 1, at + 1 + count);
      this.#run(name, rest);
      at += count + 1;
    }
    return null;
  }

  #run(name: string, [key = '', ...args]: readonly string[]): unknown {
    const [first = '', second = ''] = args;
    switch (name) {
      case 'GET':
        return this.#text(key) ?? null;
      case 'MGET':
        return [key, ...args].map((one) => this.#text(one) ?? null);
      case 'SET':
        this.values.set(key, first);
        return 'OK';
      case 'DEL':
        for (const one of [key, ...args]) this.values.delete(one);
        return 1;
      case 'APPEND':
        this.values.set(key, (this.#text(key) ?? '') + first);
        return 1;
      case 'PEXPIRE':
        this.lifetimes.set(key, Number(first));
        return 1;
      case 'HSET':
        this.#hash(key).set(first, second);
        return 1;
      case 'HDEL':
        this.#hash(key).delete(first);
        return 1;
      case 'HGETALL':
        return [...this.#hash(key)].flat();
      case 'RPUSH':
        this.values.set(key, [...this.#list(key), ...args]);
        return 1;
      case 'LRANGE':
        return part(this.#list(key), Number(first), Number(second));
      case 'LTRIM':
        this.values.set(key, part(this.#list(key), Number(first), Number(second)));
        return 'OK';
      case 'SCAN':
        return this.#scanned(Number(key), second.replace(/\*$/, ''));
      default:
        throw new Error(`unknown command ${name}`);
    }
  }

  /** One key at a time, so that whoever looks at the first answer alone has not all of them. */
  #scanned(cursor: number, prefix: string): [string, string[]] {
    const all = [...this.values.keys()].filter((one) => one.startsWith(prefix));
    const next = cursor + 1 < all.length ? cursor + 1 : 0;
    return [String(next), all.slice(cursor, cursor + 1)];
  }

  #text(key: string): string | undefined {
    const value = this.values.get(key);
    if (value !== undefined && typeof value !== 'string') throw wrongType();
    return value;
  }

  #list(key: string): string[] {
    const value = this.values.get(key) ?? [];
    if (!Array.isArray(value)) throw wrongType();
    return value;
  }

  #hash(key: string): Map<string, string> {
    const value = this.values.get(key) ?? new Map<string, string>();
    if (!(value instanceof Map)) throw wrongType();
    this.values.set(key, value);
    return value;
  }
}

/** As Redis counts: from the end where it is below 0, and with the last one. */
function part(list: readonly string[], from: number, to: number): string[] {
  return list.slice(from, to === -1 ? undefined : to + 1);
}

function wrongType(): Error {
  return new Error('WRONGTYPE Operation against a key holding the wrong kind of value');
}

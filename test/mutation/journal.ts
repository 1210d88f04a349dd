/**
 * What a run has found so far, one line of JSON each, so that it goes on where it was stopped, or where a mutant ended
 * the process of the tests.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

export type Verdict = 'killed' | 'timeout' | 'survived';

/** One test, in one process: which mutants it reaches how often, and how long it takes without any. */
interface Reached {
  readonly kind: 'reached';
  readonly test: string;
  readonly ms: number;
  readonly hits: Readonly<Record<string, number>>;
}

export interface Begun {
  readonly kind: 'begun';
  readonly test: string;
  readonly mutant: string;
  readonly pid: number;
}

export type Entry =
  | Reached
  /** The code of a file of tests, whose tests follow. */
  | { readonly kind: 'file'; readonly file: string; readonly hash: string }
  /** Reached when a file is loaded, or in hooks that run once. */
  | { readonly kind: 'loaded'; readonly ids: readonly string[] }
  /** The test fails without any mutant. */
  | { readonly kind: 'unusable'; readonly test: string }
  | Begun
  /** The process was spoilt by an earlier mutant, so nothing is known of this one. */
  | { readonly kind: 'again'; readonly test: string; readonly mutant: string }
  | {
      readonly kind: 'ended';
      readonly test: string;
      readonly mutant: string;
      readonly verdict: Verdict;
    };

/** Bytes that an entry of a test and a mutant has at most. */
const LONGEST = 1_000;

/** Its file, and its place in there. */
export function fileOf(test: string): string {
  return test.slice(0, test.indexOf('#'));
}

export class Journal {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  write(entry: Entry): void {
    appendFileSync(this.path, `${JSON.stringify(entry)}\n`);
  }

  entries(): Entry[] {
    if (!existsSync(this.path)) return [];
    const lines = readFileSync(this.path, 'utf8').split('\n');
    return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as Entry);
  }

  /** The test that has begun with a mutant, and not ended. It is asked for often, and the journal is long. */
  open(): Begun | undefined {
    if (!existsSync(this.path)) return undefined;
    const file = openSync(this.path, 'r');
    try {
      const bytes = Buffer.alloc(LONGEST);
      const length = readSync(file, bytes, 0, LONGEST, Math.max(0, fstatSync(file).size - LONGEST));
      const line = bytes.toString('utf8', 0, length).split('\n').at(-2) ?? '';
      if (!line.startsWith('{"kind":"begun"')) return undefined;
      return JSON.parse(line) as Begun;
    } finally {
      closeSync(file);
    }
  }
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

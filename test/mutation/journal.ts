/**
 * What a run has found so far, one line of JSON each, so that it goes on where it was stopped, or where a mutant ended
 * the process of the tests. And what that says: which tests reach which mutants, which were noticed, what is left to try.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

/** One test, in one process: which mutants it reaches how often, and how long it takes without any, while it counts. */
interface Reached {
  readonly kind: 'reached';
  readonly test: string;
  readonly ms: number;
  readonly hits: Readonly<Record<string, number>>;
}

interface Begun {
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
  | { readonly kind: 'ended'; readonly test: string; readonly mutant: string; readonly isNoticed: boolean };

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

export interface Findings {
  readonly tests: ReadonlyMap<string, Omit<Reached, 'kind' | 'test'>>;
  /** By file of tests: the hash of its text when it was run. */
  readonly files: ReadonlyMap<string, string>;
  /** Reached when a file is loaded, or in hooks that run once, and in no test. */
  readonly loaded: ReadonlySet<string>;
  readonly noticed: ReadonlySet<string>;
  readonly survived: ReadonlySet<string>;
  readonly unusable: ReadonlySet<string>;
  /** A pair that ended the process of the tests, or made it hang, if the last line tells of one. */
  readonly open: Begun | undefined;
}

export function findingsOf(entries: readonly Entry[]): Findings {
  const tests = new Map<string, Omit<Reached, 'kind' | 'test'>>();
  const files = new Map<string, string>();
  const loaded = new Set<string>();
  const noticed = new Set<string>();
  const survived = new Set<string>();
  const unusable = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === 'file') files.set(entry.file, entry.hash);
    else if (entry.kind === 'loaded') for (const id of entry.ids) loaded.add(id);
    else if (entry.kind === 'reached') tests.set(entry.test, { ms: entry.ms, hits: entry.hits });
    else if (entry.kind === 'unusable') unusable.add(entry.test);
    else if (entry.kind === 'ended')
      if (entry.isNoticed) noticed.add(entry.mutant);
      else survived.add(`${entry.test} ${entry.mutant}`);
  }
  for (const { hits } of tests.values()) for (const id of Object.keys(hits)) loaded.delete(id);
  const last = entries.at(-1);
  const open = last?.kind === 'begun' ? last : undefined;
  return { tests, files, loaded, noticed, survived, unusable, open };
}

/** By test: the mutants that it is still to meet, among those that were chosen; tests that take longer than that are left out. */
export function planOf(
  { tests, noticed, survived, unusable }: Findings,
  chosen: ReadonlySet<string>,
  limitMs: number,
): Record<string, string[]> {
  const plan: Record<string, string[]> = {};
  for (const [test, { ms, hits }] of tests) {
    if (ms > limitMs || unusable.has(test)) continue;
    const open = Object.keys(hits).filter(
      (id) => chosen.has(id) && !noticed.has(id) && !survived.has(`${test} ${id}`),
    );
    if (open.length > 0) plan[test] = open;
  }
  return plan;
}

/** Without what was found by tests that are not as they were. */
export function stillTrue(
  entries: readonly Entry[],
  isSame: (file: string, hash: string) => boolean,
): Entry[] {
  const { files } = findingsOf(entries);
  const changed = new Set([...files].filter(([file, hash]) => !isSame(file, hash)).map(([file]) => file));
  return entries.filter((entry) => {
    if (entry.kind === 'loaded') return true;
    if (entry.kind === 'file') return !changed.has(entry.file);
    return !changed.has(fileOf(entry.test)) || (entry.kind === 'ended' && entry.isNoticed);
  });
}

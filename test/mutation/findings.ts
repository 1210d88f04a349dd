/** What a journal says: which tests reach which mutants, which of them noticed one, and which pairs are still to be tried. */
import { fileOf, type Begun, type Entry, type Verdict } from './journal.ts';

interface ReachedByTest {
  /** With a count of what it reaches, which takes time. */
  readonly ms: number;
  readonly hits: Readonly<Record<string, number>>;
}

export interface Findings {
  readonly tests: ReadonlyMap<string, ReachedByTest>;
  /** By file of tests: the hash of its text when it was run. */
  readonly files: ReadonlyMap<string, string>;
  /** Reached when a file is loaded, or in hooks that run once, and in no test. */
  readonly loaded: ReadonlySet<string>;
  readonly noticed: ReadonlyMap<string, Verdict>;
  readonly survived: ReadonlySet<string>;
  readonly unusable: ReadonlySet<string>;
  /** A pair that ended the process of the tests, or made it hang, if the last line tells of one. */
  readonly open: Begun | undefined;
}

export function findingsOf(entries: readonly Entry[]): Findings {
  const tests = new Map<string, ReachedByTest>();
  const files = new Map<string, string>();
  const loaded = new Set<string>();
  const noticed = new Map<string, Verdict>();
  const survived = new Set<string>();
  const unusable = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === 'file') files.set(entry.file, entry.hash);
    else if (entry.kind === 'loaded') for (const id of entry.ids) loaded.add(id);
    else if (entry.kind === 'reached') tests.set(entry.test, { ms: entry.ms, hits: entry.hits });
    else if (entry.kind === 'unusable') unusable.add(entry.test);
    else if (entry.kind === 'ended')
      if (entry.verdict === 'survived') survived.add(`${entry.test} ${entry.mutant}`);
      else noticed.set(entry.mutant, entry.verdict);
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
    return !changed.has(fileOf(entry.test)) || (entry.kind === 'ended' && entry.verdict !== 'survived');
  });
}

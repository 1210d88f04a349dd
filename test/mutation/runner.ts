/**
 * Runs each test once as it is, and then once for each mutant that it reaches, in the same process: a mutant takes the
 * milliseconds of a test, not the seconds of a start of vitest. A test that noticed a mutant is run again without it,
 * to see whether the mutant has spoilt the process; if so, the process ends, and run.ts begins another.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { TestRunner, type RunnerTestCase, type RunnerTask } from 'vitest';
import { root } from '../support/optional.ts';
import { findingsOf, Journal } from './journal.ts';

/** What run.ts says. */
export interface Job {
  readonly journal: string;
  /** Nothing: each test runs once, to see what it reaches. */
  readonly plan: Readonly<Record<string, readonly string[]>> | undefined;
  /** The highest number that a mutant has. */
  readonly most: number;
}

/** Stryker's: the code reads and writes it. */
interface Switches {
  activeMutant: string;
  hitCount?: number;
  hitLimit?: number;
}

const job = JSON.parse(readFileSync(process.env['MUTATION_JOB'] ?? '', 'utf8')) as Job;
const switches: Switches = { activeMutant: 'none' };
/** By the mutants' numbers, how often the place of each was reached: the code counts, while there is no plan. */
const hits = new Float64Array(job.most + 1);
Object.assign(globalThis, { __stryker__: switches, __hits__: hits });
const journal = new Journal(job.journal);
// A loop may go round so many times more often than without the mutant.
const [HITS_FACTOR, HITS_MORE] = [100, 1_000];

type Step = { readonly kind: 'asItIs' } | { readonly kind: 'check' | 'mutant'; readonly mutant: string };

const before = findingsOf(journal.entries());

export default class MutantRunner extends TestRunner {
  readonly #noticed = new Set(before.noticed);
  #step: Step = { kind: 'asItIs' };
  #open: string[] = [];
  #startMs = 0;
  /** Mutants that were not noticed since the test last passed without one: they may have spoilt what comes after. */
  #unchecked = 0;
  #isFresh = true;
  /** Reached between tests. */
  readonly #loaded = new Set<string>();

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test);
    if (test.type !== 'test' || (test.mode !== 'run' && test.mode !== 'queued')) return;
    const open = job.plan === undefined ? [] : this.#stillOpen(job.plan[keyOf(test)] ?? []);
    if (test.fails === true || (job.plan !== undefined && open.length === 0)) {
      test.mode = 'skip';
      return;
    }
    this.#open = [...open];
    this.#step = { kind: 'asItIs' };
    test.retry = 0;
    test.repeats = Number.MAX_SAFE_INTEGER;
  }

  override onBeforeTryTask(test: RunnerTestCase, options: never): void {
    super.onBeforeTryTask(test, options);
    const key = keyOf(test);
    if (job.plan === undefined) for (const id of Object.keys(takenHits())) this.#loaded.add(id);
    this.#startMs = ownMs();
    switches.activeMutant = 'none';
    if (this.#step.kind !== 'mutant') return;
    const { mutant } = this.#step;
    journal.write({ kind: 'begun', test: key, mutant, pid: process.pid });
    switches.activeMutant = mutant;
    switches.hitCount = 0;
    switches.hitLimit = (before.tests.get(key)?.hits[mutant] ?? 1) * HITS_FACTOR + HITS_MORE;
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: never): Promise<void> {
    await super.onAfterRetryTask(test, options);
    const { result } = test;
    if (result === undefined || result.state === 'skip') return;
    switches.activeMutant = 'none';
    const hasPassed = result.state === 'pass';
    delete result.errors;
    result.attempts = [];
    const next = this.#after(keyOf(test), hasPassed);
    if (next === undefined) Object.assign(result, { pending: true });
    else this.#step = next;
  }

  override onAfterRunFiles(files: never): void {
    super.onAfterRunFiles(files);
    if (job.plan === undefined)
      journal.write({ kind: 'loaded', ids: [...this.#loaded, ...Object.keys(takenHits())] });
  }

  #after(test: string, hasPassed: boolean): Step | undefined {
    const step = this.#step;
    if (step.kind === 'mutant') {
      const { mutant } = step;
      if (!hasPassed) return { kind: 'check', mutant };
      journal.write({ kind: 'ended', test, mutant, isNoticed: false });
      this.#unchecked += 1;
      return this.#next();
    }
    if (step.kind === 'check') {
      const { mutant } = step;
      const isSure = hasPassed || this.#unchecked === 0;
      if (isSure) journal.write({ kind: 'ended', test, mutant, isNoticed: true });
      else journal.write({ kind: 'again', test, mutant });
      if (!hasPassed) end();
      this.#noticed.add(mutant);
      this.#unchecked = 0;
      return this.#next();
    }
    if (hasPassed) {
      if (job.plan === undefined) this.#reached(test);
      this.#isFresh = false;
      this.#unchecked = 0;
      return this.#next();
    }
    if (!this.#isFresh && job.plan !== undefined) end();
    journal.write({ kind: 'unusable', test });
    return undefined;
  }

  #reached(test: string): void {
    const ms = Math.round(ownMs() - this.#startMs);
    journal.write({ kind: 'reached', test, ms, hits: takenHits() });
  }

  #next(): Step | undefined {
    const mutant = this.#stillOpen(this.#open).at(0);
    if (mutant === undefined) return undefined;
    this.#open = this.#open.slice(this.#open.indexOf(mutant) + 1);
    return { kind: 'mutant', mutant };
  }

  #stillOpen(mutants: readonly string[]): readonly string[] {
    return mutants.filter((id) => !this.#noticed.has(id));
  }
}

/** Now, without the time in which other processes had the processor: how slow a test is says nothing of the machine. */
function ownMs(): number {
  return performance.now() - waitedMs();
}

/** How long this thread was ready to run and had to wait, as /proc tells; 0 where it does not. */
function waitedMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

function takenHits(): Record<string, number> {
  const taken = [...hits.entries()].filter(([, count]) => count > 0);
  hits.fill(0);
  return Object.fromEntries(taken);
}

function keyOf(test: RunnerTask): string {
  return `${relative(root, test.file.filepath)}#${test.id}`;
}

/** Without a word to vitest, which would wait for the tests that are left. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

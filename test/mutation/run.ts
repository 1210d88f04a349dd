/**
 * `npm run test:mutation -- src/wire [--mutants 150] [--seed 1] [--tests test/unit/wire] [--slowest 2000] [--record]`:
 * mutants of rooms and files, and those that no test notices. test/README.md has the options.
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '../../src/scaling/planner/load.ts';
import { cpuSecondsOf } from '../bench/process-tree.ts';
import { root } from '../support/optional.ts';
import { counting, filesOf, instrument, withOnly, type Mutant } from './instrument.ts';
import { fileOf, findingsOf, hashOf, Journal, planOf, stillTrue, type Findings } from './journal.ts';
import { recordRow, wordsOf } from './results.ts';
import type { Job } from './runner.ts';

/** A test that takes longer with a mutant hangs; and so does one that computes for so much longer than without. */
const HANGS_MS = 40_000;
const [COMPUTES_FACTOR, COMPUTES_MS] = [3, 3_000];
/** Quick tests first: most mutants do not live to meet the slow ones. */
const LIMITS_MS = [20, 100, 1_000, Infinity];

const { values, positionals } = parseArgs({
  options: {
    mutants: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', multiple: true },
    slowest: { type: 'string', default: '10000' },
    together: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const [count, seed, slowestMs] = [Number(values.mutants), Number(values.seed), Number(values.slowest)];
if (positionals.length === 0 || !(count > 0) || !Number.isInteger(seed) || !(slowestMs > 0)) {
  process.stderr.write('usage: npm run test:mutation -- PATH... [--mutants N] [--seed N] [--tests FOLDER]\n');
  process.exit(2);
}
const rooms = positionals.map((path) => path.split('/')[1] ?? '');
const tests = values.tests ?? [...new Set(rooms)].map((room) => `test/unit/${room}`);
const { mutants, texts } = await instrument(filesOf(positionals));
const folder = join('.stryker-tmp', hashOf(JSON.stringify([texts, tests])));
mkdirSync(join(root, folder), { recursive: true });
const textsPath = join(root, folder, 'texts.json');
const journal = new Journal(join(root, folder, 'journal.jsonl'));
const before = journal.entries();
const lines = stillTrue(before, (file, hash) => existsSync(join(root, file)) && hashOfFile(file) === hash);
if (lines.length < before.length)
  writeFileSync(journal.path, lines.map((entry) => `${JSON.stringify(entry)}\n`).join(''));

await look();
const chosen = choose(findings().loaded);
writeFileSync(textsPath, JSON.stringify(withOnly(texts, new Set(chosen.map(({ id }) => id)))));
for (const limitMs of LIMITS_MS) await meet(Math.min(limitMs, slowestMs));

const { loaded, noticed, tests: reached } = findings();
const inReach = new Set([...reached.values()].flatMap(({ hits }) => Object.keys(hits)));
const row = {
  command: process.argv
    .slice(2)
    .filter((argument) => argument !== '--record')
    .join(' '),
  mutants: mutants.filter(({ id }) => !loaded.has(id)).length,
  tried: chosen.length,
  noticed: chosen.filter(({ id }) => noticed.has(id)).length,
  unreached: chosen.filter(({ id }) => !inReach.has(id)).length,
};
const unnoticed = chosen.filter(({ id }) => !noticed.has(id)).map(wordsOfMutant);
process.stdout.write([...unnoticed.toSorted(), '', wordsOf(row), ''].join('\n'));
if (values.record) recordRow(row);

/** Its place, and what became of what. */
function wordsOfMutant({ id, file, mutatorName, replacement, location: { start, end } }: Mutant): string {
  const part = readFileSync(join(root, file), 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  part.push((part.pop() ?? '').slice(0, end.column - 1));
  const text = part.join(' ').slice(start.column - 1);
  const status = inReach.has(id) ? 'survived' : 'not reached';
  return `${file}:${start.line}:${start.column} ${mutatorName} ${status}: ${short(text)} => ${short(replacement)}`;
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 60)} … ${line.slice(-20)}` : line;
}

function findings(): Findings {
  return findingsOf(journal.entries());
}

function hashOfFile(file: string): string {
  return hashOf(readFileSync(join(root, file), 'utf8'));
}

/** Runs each test as it is, where that is not known. */
async function look(): Promise<void> {
  const known = findings().files;
  const files = filesOf(tests).filter((file) => file.endsWith('.test.ts') && !known.has(file));
  if (files.length === 0) return;
  writeFileSync(textsPath, JSON.stringify(counting(texts)));
  await vitest(files, undefined);
  for (const file of files) journal.write({ kind: 'file', file, hash: hashOfFile(file) });
}

/** Mutants that are reached while a test runs, or never; the same for the same seed. */
function choose(withoutTest: ReadonlySet<string>): typeof mutants {
  const random = createRandom(seed);
  return mutants
    .map((mutant) => ({ mutant, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ mutant }) => mutant)
    .filter(({ id }) => !withoutTest.has(id))
    .slice(0, count);
}

/** Until every pair of a test that is quick enough and a mutant that it reaches was tried, or one more run changes nothing. */
async function meet(limitMs: number): Promise<void> {
  const ids = new Set(chosen.map(({ id }) => id));
  for (let left = Infinity; ;) {
    const found = findings();
    const plan = planOf(found, ids, limitMs);
    const pairs = Object.values(plan).flat().length;
    process.stdout.write(
      `${found.noticed.size} noticed; tests up to ${limitMs} ms: ${pairs} meetings left\n`,
    );
    if (pairs === 0 || pairs >= left) return;
    left = pairs;
    await vitest([...new Set(Object.keys(plan).map(fileOf))], plan);
    const { open } = findings();
    if (open !== undefined)
      journal.write({ kind: 'ended', test: open.test, mutant: open.mutant, isNoticed: true });
  }
}

async function vitest(files: readonly string[], plan: Job['plan']): Promise<void> {
  const most = mutants.reduce((found, { id }) => Math.max(found, Number(id)), 0);
  const job: Job = { journal: journal.path, plan, most };
  const jobPath = join(root, folder, 'job.json');
  writeFileSync(jobPath, JSON.stringify(job));
  const child = spawn('vitest', ['run', '--config', 'test/mutation/vitest.config.ts', ...files], {
    cwd: root,
    stdio: 'ignore',
    env: {
      ...process.env,
      MUTATION_JOB: jobPath,
      MUTATION_TESTS: tests.join(','),
      MUTATION_TEXTS: textsPath,
      MUTATION_TOGETHER: String(values.together),
      MUTATION_LOOK: String(plan === undefined),
      PROPERTY_RUNS: '20',
      PROPERTY_SEED: String(seed),
    },
  });
  const watch = setInterval(endOfWhatHangs(findings().tests), 500);
  await new Promise((resolve) => child.once('exit', resolve));
  clearInterval(watch);
}

/** Looks now and then: a loop without an end is seen by the processor's time, which other processes do not change. */
function endOfWhatHangs(reachedBy: Findings['tests']): () => void {
  let seen = { pair: '', computedMs: 0 };
  return () => {
    const open = journal.open();
    if (open === undefined) return;
    const computesMs = COMPUTES_FACTOR * (reachedBy.get(open.test)?.ms ?? 0) + COMPUTES_MS;
    const pair = `${open.pid} ${open.test} ${open.mutant}`;
    const computedMs = 1_000 * cpuSecondsOf([open.pid]);
    if (seen.pair !== pair) seen = { pair, computedMs };
    const isSilent = Date.now() - statSync(journal.path).mtimeMs > HANGS_MS;
    if (!isSilent && computedMs - seen.computedMs < computesMs) return;
    try {
      process.kill(open.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
}

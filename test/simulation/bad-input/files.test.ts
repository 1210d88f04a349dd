/** Whatever is in the files that are read: the program starts, says what it cannot read, and does its work. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as fc from '../../support/fast-check.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PilotlightError } from '../../../src/contract/pilotlight-error.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { DEFAULT_SEED, readSeedFile } from '../../../src/emulator/seed/seed.ts';
import { casesOf, PATIENCE, withoutHang } from '../../support/bad-input/cases.ts';
import { damagedBytes, damagedJsonText, damagedText } from '../../support/bad-input/damage.ts';
import { pilotlight } from '../../support/console.ts';
import { serviceOf, startTestDaemon, until, type TestDaemon } from '../../support/daemon.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let emulator: Emulator;
const made = temporaryFolder();
let lines = 0;
beforeAll(async () => {
  emulator = await startEmulator({
    dialect: 'public',
    traits: { log_shape: 'text' },
    seed: { workergroups: [{ id: 7, lines_per_second: 0, endpoint_id: 31 }] },
  });
  await using daemon = await start(made.path);
  await expectWork(daemon, made.path);
});
afterAll(async () => {
  await emulator[Symbol.asyncDispose]();
  made[Symbol.dispose]();
});

function start(folder: string): Promise<TestDaemon> {
  return startTestDaemon({
    ...serviceOf(emulator),
    WORKER_GROUPS: '7',
    ENDPOINTS: 'all',
    STATE_DIR: join(folder, 'state'),
    LOG_SINKS: 'stdout,file',
    LOG_FILE: join(folder, 'logs', 'worker.log'),
  });
}

/** What is written from here on is delivered once, and endpoints are watched. */
async function expectWork(daemon: TestDaemon, folder: string): Promise<void> {
  const last = `last of ${(lines += 300)} lines`;
  emulator.workergroups.append(7, [
    ...Array.from({ length: 299 }, (_, index) => `line ${lines + index}`),
    last,
  ]);
  await until(() => daemon.lines(7).includes(last));
  expect(daemon.lines(7).filter((line) => line === last)).toHaveLength(1);
  await until(() => inFile(join(folder, 'logs', 'worker.log')).includes(last));
  await until(() =>
    daemon.daemon.fleet.view().endpoints.some(({ sampledAtMs }) => sampledAtMs !== undefined),
  );
  for (const { level, msg, err } of daemon.messages)
    expect(level, `${String(msg)} ${JSON.stringify(err)}`).not.toBe('fatal');
}

function inFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Far beyond what it takes, so that what is never done has its counterexample. */
async function atLast(work: Promise<void>, seen: () => string): Promise<void> {
  let overdue: NodeJS.Timeout | undefined;
  const never = new Promise<void>((_, reject) => {
    overdue = setTimeout(() => reject(new Error(`it does not do its work: ${seen()}`)), 40_000);
  });
  await Promise.race([work, never]).finally(() => clearTimeout(overdue));
}

const DATABASES = ['state/spool.sqlite', 'state/fleet.sqlite'] as const;
const LINKS = ['a link to nothing', 'a link to itself'];
const place = fc.constantFrom(...DATABASES, 'logs/worker.log', 'logs/worker.log.1');
const stands = fc.constantFrom('a folder', 'a pipe', ...LINKS, 'nothing', 'an empty file');
const cell = { table: fc.nat(), row: fc.nat(), column: fc.nat() };

const mishap = fc.weighted(
  [3, fc.tagged('bytes', { name: place, seed: fc.nat() })],
  [1, fc.tagged('stands', { name: place, what: stands })],
  // What stands in a cell of the database, changed.
  [4, fc.tagged('cell', { name: fc.constantFrom(...DATABASES), seed: fc.nat(), ...cell })],
);
type Wrong = typeof mishap extends fc.Arbitrary<infer One> ? One : never;
type Cell = Extract<Wrong, { kind: 'cell' }>;
/** What stands in the place of a file comes last, so that there is one to damage. */
const KINDS: readonly Wrong['kind'][] = ['cell', 'bytes', 'stands'];
/** Several for one daemon, whose start is what takes time. */
const wrongs = fc
  .array(mishap, { minLength: 1, maxLength: 9 })
  .map((all) => all.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind)));

function one<Value>(arbitrary: fc.Arbitrary<Value>, seed: number): Value {
  const [value] = fc.sample(arbitrary, { numRuns: 1, seed });
  return value as Value;
}

function inflict(folder: string, wrong: Wrong): void {
  const path = join(folder, wrong.name);
  switch (wrong.kind) {
    case 'bytes':
      return writeFileSync(path, one(damagedBytes(readBytes(path)), wrong.seed));
    case 'stands':
      return putInPlace(path, wrong.what);
    case 'cell':
      return changeCell(path, wrong);
  }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.from(
      '{"time":"2026-11-23T00:00:00.000Z","workergroup_id":7,"epoch":1,"seq":1,"line":"x"}\n',
    );
  }
}

function putInPlace(path: string, what: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { recursive: true, force: true });
  if (what === 'a folder') mkdirSync(path);
  if (what === 'a pipe') execFileSync('mkfifo', [path]);
  if (what === 'a link to nothing') symlinkSync(`${path}.gone/away`, path);
  if (what === 'a link to itself') symlinkSync(path, path);
  if (what === 'an empty file') writeFileSync(path, '');
}

function changeCell(path: string, where: Cell): void {
  const db = new DatabaseSync(path);
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const names = tables.map(({ name }) => String(name));
    const filled = names.filter((name) => db.prepare(`SELECT 1 FROM ${name}`).get() !== undefined);
    const table = filled[where.table % filled.length] ?? '';
    const rows = db.prepare(`SELECT * FROM ${table}`).all();
    const row = rows[where.row % rows.length] ?? {};
    const columns = Object.entries(row);
    const [column = '', value] = columns[where.column % columns.length] ?? [];
    const known = columns.filter(([, each]) => each !== null);
    const key = known.map(([name]) => `${name} = ?`).join(' AND ');
    const values = known.map(([, each]) => each as string);
    const change = db.prepare(`UPDATE OR REPLACE ${table} SET ${column} = ? WHERE ${key}`);
    change.run(changed(value, where.seed), ...values);
  } finally {
    db.close();
  }
}

function changed(value: unknown, seed: number): string | number | Uint8Array {
  if (value instanceof Uint8Array) return one(damagedBytes(value), seed);
  if (typeof value === 'string')
    return value.startsWith('{') ? inJson(value, seed) : one(damagedText(value), seed);
  return one(fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2 ** 53 - 1)), seed);
}

function inJson(text: string, seed: number): string {
  const values = fc.oneof(damagedText(text), damagedJsonText(JSON.parse(text)));
  return one(values, seed);
}

test('of the daemon: in STATE_DIR, and the file of the sink', { timeout: PATIENCE }, async () => {
  await fc.assert(
    fc.asyncProperty(wrongs, async (all) => {
      using folder = temporaryFolder();
      cpSync(made.path, folder.path, { recursive: true });
      for (const each of all) {
        try {
          inflict(folder.path, each);
        } catch (error) {
          // A cell may be bound to be what it is.
          if (each.kind !== 'cell') throw error;
        }
      }
      await using daemon = await start(folder.path);
      // Lines have nowhere to go while something else stands there, and go there when it is gone.
      // A link to nothing leads where they can go.
      const last = all.findLast(({ kind, name }) => kind === 'stands' && name === 'logs/worker.log');
      if (last?.kind === 'stands' && last.what !== 'a link to nothing')
        rmSync(join(folder.path, last.name), { recursive: true, force: true });
      await atLast(expectWork(daemon, folder.path), () => JSON.stringify(daemon.messages.slice(-5)));
      // A spool that could not be written goes on in memory for seconds, before it has a new file.
      const isOnDisk = () => readdirSync(join(folder.path, 'state')).includes('spool.sqlite');
      await atLast(until(isOnDisk), () => JSON.stringify(daemon.messages.slice(-5)));
    }),
    casesOf(5, 500),
  );
});

test('seeds of the emulator', { timeout: PATIENCE }, async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'seed.json');
  const texts = fc.oneof(damagedJsonText(DEFAULT_SEED), damagedText(JSON.stringify(DEFAULT_SEED)));
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      writeFileSync(file, text);
      try {
        await withoutHang(async () => {
          await using seeded = await startEmulator({ seed: await readSeedFile(file) });
          expect((await fetch(`${seeded.url}/_emulator/journal`)).status).toBe(200);
        });
      } catch (error) {
        expect(error).toBeInstanceOf(PilotlightError);
      }
    }),
    casesOf(20),
  );
});

const GROUPS = [
  { endpoint_name: 'chat', target_util: 0.9, cold_mult: 2, cold_workers: 2, max_workers: 8, min_load: 5 },
];
const TRACE = `time_s,work,name\n${Array.from({ length: 40 }, (_, index) => `${index * 3.5},${10 + index},"a, b"`).join('\n')}\n`;
const QUICKLY = ['--performance', '10', '--no-sensitivity', '--json'];

test('plans: parameters and traces of requests', { timeout: PATIENCE }, async () => {
  using folder = temporaryFolder();
  const [params, trace] = [join(folder.path, 'params.json'), join(folder.path, 'trace.csv')];
  const text = JSON.stringify(GROUPS);
  const inputs = fc.record({
    groups: fc.oneof(fc.constant(text), damagedJsonText(GROUPS), damagedText(text)),
    requests: fc.oneof(fc.constant(TRACE), damagedText(TRACE)),
    command: fc.constantFrom('plan', 'check'),
  });
  await fc.assert(
    fc.asyncProperty(inputs, async ({ groups, requests, command }) => {
      writeFileSync(params, groups);
      writeFileSync(trace, requests);
      const plan = ['plan', '--params', params, '--trace', trace, ...QUICKLY];
      const words = command === 'check' ? ['check', params] : plan;
      const read = (path: string): string => readFileSync(path, 'utf8');
      const { code, stderr, stdout } = await withoutHang(() => pilotlight(words, { read }));
      expect([0, 2]).toContain(code);
      expect(stderr).not.toMatch(/^\s+at .*:\d+/m);
      if (code === 0 && command === 'plan') expect(() => void JSON.parse(stdout)).not.toThrow();
    }),
    casesOf(20),
  );
});

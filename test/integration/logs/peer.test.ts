/** The same stretches of a log's life, followed by Pilotlight and by the loops that people write today. */
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/contract/limits.ts';
import { createTailFetcher, startLogPipeline } from '../../../src/logs/follow/pipeline.ts';
import { lastState } from '../../../src/logs/answer.ts';
import { gapsOf, linesOf } from '../../support/log-polls.ts';
import type { LogService, LogServiceOptions } from '../../support/log-service.ts';
import { CollectingSink } from '../../support/log-sinks.ts';
import { memorySpool } from '../../support/memory-spool.ts';
import { startRawLogServer } from '../../support/raw-log-server.ts';
import { describeWithRealData } from '../../support/real-data.ts';
import { readRealLog, type RealLog } from '../../support/real-logs.ts';
import { ServiceTime } from '../../support/service-time.ts';

const GROUP = 7;
const HEALTH = 'INFO: 127.0.0.1:51842 - "GET /health HTTP/1.1" 200 OK';
const PROGRESS = Array.from({ length: 6 }, (_, step) => `Loading weights: ${20 * step}%`);

/**
 * Asks for a tail every second and prints what stands after the lines that it printed last. It is dealt with kindly:
 * the widest tail there is, a poll that fails or has no line is left out, and what is drawn again and again counts by
 * its last state.
 */
class AnchorPoller {
  readonly printed: string[] = [];
  readonly #client: Client;
  readonly #anchorLines: number;

  constructor(client: Client, anchorLines: number) {
    this.#client = client;
    this.#anchorLines = anchorLines;
  }

  async poll(): Promise<void> {
    const answer = await this.#client.workergroups
      .logs({ id: GROUP, tail: LIMITS.logTailMax }, { retry: false })
      .catch(() => undefined);
    if (typeof answer !== 'object' || typeof answer.logs !== 'string' || answer.logs === '') return;
    const lines = answer.logs.replace(/\n$/, '').split('\n');
    const anchor = this.printed.slice(-this.#anchorLines);
    this.printed.push(...lines.slice(endOfLast(lines, anchor)));
  }
}

/** The place after the last occurrence of some lines in a row; 0 where there is none. */
function endOfLast(lines: readonly string[], anchor: readonly string[]): number {
  for (let end = anchor.length === 0 ? 0 : lines.length; end >= anchor.length && end > 0; end--) {
    if (anchor.every((line, index) => lines[end - anchor.length + index] === line)) return end;
  }
  return 0;
}

interface Tally {
  /** Lines twice, or in part. */
  readonly extra: number;
  readonly lost: number;
}

/** By content: of lines that are the same, any may stand for any other. */
function tally(printed: readonly string[], truth: readonly string[]): Tally {
  const surplus = new Map<string, number>();
  const count = (line: string, by: number) => {
    const state = lastState(line);
    surplus.set(state, (surplus.get(state) ?? 0) + by);
  };
  for (const line of printed) count(line, 1);
  for (const line of truth) count(line, -1);
  let [extra, lost] = [0, 0];
  for (const by of surplus.values()) {
    extra += Math.max(0, by);
    lost += Math.max(0, -by);
  }
  return { extra, lost };
}

type Step = string | ((log: LogService) => void);

interface Scene {
  readonly name: string;
  readonly options?: () => LogServiceOptions;
  /** Written first, and then each tenth of a second. */
  readonly writes: () => Iterable<Step>;
  /** The kinds of gaps that Pilotlight must tell of. */
  readonly gaps?: readonly string[];
  /** Lines are missing, where a gap says so. */
  readonly isLossy?: boolean;
  /** Some lines are seen late. */
  readonly isMixed?: boolean;
}

function stale(among: number, ms: number): () => number {
  let answers = 0;
  return () => (++answers % among === 0 ? ms : 0);
}

function* steady(count: number, tenths: number, width = 0): Generator<string> {
  for (const line of numbered('Added request', 0, count)) {
    yield `${line.padEnd(width, '.')}\n`;
    for (let step = 1; step < tenths; step++) yield '';
  }
}

function* real(name: RealLog, from: number, to: number, eachStep: number): Generator<string> {
  const lines = readRealLog(name).slice(from, to);
  for (let at = 0; at < lines.length; at += eachStep) yield ended(lines.slice(at, at + eachStep));
}

function* nothing(seconds: number): Generator<string> {
  for (let step = 0; step < 10 * seconds; step++) yield '';
}

const ended = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
const numbered = (what: string, from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `${what} ${from + index}`);
const BLOCK = numbered('GET /health', 0, 20).map((line) => `${line}\n`);

/** The block again and again, longer than a tail is soon, and then so many lines a second. */
function* blocks(eachSecond: number): Generator<string> {
  let line = 0;
  const next = (count: number) => Array.from({ length: count }, () => BLOCK[line++ % 20]).join('');
  yield next(9_900);
  for (let second = 0; second < 60; second++) {
    yield next(eachSecond);
    for (let step = 1; step < 10; step++) yield '';
  }
}

const SCENES: readonly Scene[] = [
  { name: 'steady, 50 lines/s', writes: () => real('OpenSSH', 0, 1_900, 5) },
  { name: 'lines that repeat, 50 lines/s', writes: () => real('OpenSSH without times', 0, 1_900, 5) },
  {
    name: 'a burst of 25,000 lines; a tail holds 10,000',
    options: () => ({ gives: LIMITS.logTailMax }),
    *writes() {
      yield* real('Spark', 0, 900, 5);
      yield ended(numbered('step', 0, 25_000));
      yield* real('Spark', 900, 1_800, 5);
    },
    gaps: ['overrun'],
    isLossy: true,
  },
  {
    name: 'a worker is replaced, 40 lines unread, and the new one draws a progress bar',
    *writes() {
      yield ended(['Started server process', ...numbered('Added request', 0, 300), HEALTH]);
      yield* nothing(5);
      yield (log) => {
        log.writeLines(numbered('Added request', 300, 40));
        log.reset();
      };
      for (const [step, state] of PROGRESS.entries()) {
        yield step === 0 ? state : `\r${state}`;
        yield* nothing(2);
      }
      yield ended(['', 'Started server process', HEALTH, ...numbered('Added request', 900, 9), HEALTH]);
      yield* nothing(5);
    },
    gaps: ['reset'],
    isLossy: true,
  },
  {
    name: 'every third poll fails, and all do for 20 s, 40 lines/s',
    options: () => {
      let polls = 0;
      return { fails: (now) => ++polls % 3 === 0 || (now >= 15_000 && now < 35_000) };
    },
    writes: () => real('OpenSSH without times', 0, 1_800, 4),
  },
  {
    name: 'every fifth answer is three lines old, 2 lines/s',
    options: () => ({ stale: stale(5, 1_500) }),
    writes: () => steady(150, 5),
  },
  {
    name: 'two backends in turn, one of them eight lines behind, 5 lines/s',
    options: () => ({ stale: stale(2, 1_600) }),
    writes: () => steady(300, 2),
  },
  {
    name: 'the lines of several workers, one in twenty seen 3 s late, where it belongs, 10 lines/s',
    options: () => {
      let lines = 0;
      return { merged: () => (++lines % 20 === 0 ? 3_000 : 0) };
    },
    writes: () => steady(600, 1),
    isMixed: true,
  },
  {
    name: 'a progress bar of 1,000 steps, one a second, which rests for 100 s after every 250',
    *writes() {
      yield `${numbered('Started process', 0, 50).join('\n')}\n`;
      for (let step = 0; step <= 1_000; step++) {
        yield `${step === 0 ? '' : '\r'}Loading weights: ${'#'.repeat(step / 20)} ${step / 10}%`;
        const seconds = step % 250 === 249 ? 100 : 1;
        for (let rest = 1; rest < 10 * seconds; rest++) yield '';
      }
      yield '\nready\n';
    },
  },
  {
    name: 'lines of 8 KB, 5 lines/s, and no answer above 1 MiB comes through',
    options: () => ({ byteLimit: 2 ** 20 }),
    writes: () => steady(300, 2, 8_191),
  },
  {
    name: 'a service that joins its lines, and shows one in ten half-written, 10 lines/s',
    options: () => ({ endsLines: false }),
    *writes() {
      let rest = '';
      for (const [index, line] of Array.from(steady(600, 1)).entries()) {
        // At each whole second, when everyone asks, the beginning of a line.
        const isHalf = index % 10 === 0;
        yield isHalf ? line.slice(0, 5) : rest + line;
        rest = isHalf ? line.slice(5) : '';
      }
    },
  },
  {
    name: 'a block of 20 lines that repeats, 14 lines/s, in a log longer than a tail',
    writes: () => blocks(14),
  },
  {
    name: 'the same with 23 lines/s: more than a block between two polls',
    writes: () => blocks(23),
  },
  {
    name: '`tail` counts bytes, 10 lines/s',
    options: () => ({ unit: 'bytes' }),
    writes: () => steady(600, 1),
  },
  {
    name: 'files of 8 KB, wiped when they are full, 10 lines/s',
    options: () => ({ fileBytes: 8_192 }),
    writes: () => steady(1_200, 1),
    gaps: ['reset'],
    isLossy: true,
  },
  {
    name: 'a crash loop of 40 s: the log begins again in the same words',
    options: () => ({ fileBytes: 40 * 'Added request 00\n'.length }),
    *writes() {
      for (let second = 0; second < 400; second++) {
        yield `Added request ${String(second % 40).padStart(2, '0')}\n`;
        for (let step = 1; step < 10; step++) yield '';
      }
    },
    gaps: ['reset'],
    isLossy: true,
  },
];

/** Milliseconds from one writing to the next, from one question of the pollers to the next, and of rest at the end. */
const [STEP_MS, POLL_MS, REST_MS] = [100, 1_000, 40_000];

/**
 * One log at a service that does something wrong, over real sockets and in one virtual time: followed by Pilotlight, and
 * by two pollers as people write them. Each has the service to itself, so that its fault comes at the same answers.
 */
async function followService(options: () => LogServiceOptions, writes: Iterable<Step>) {
  await using all = new AsyncDisposableStack();
  const starting = Array.from({ length: 3 }, async () => all.use(await startRawLogServer(options())));
  const servers = await Promise.all(starting);
  const clients = servers.map(({ url }) =>
    all.use(createClient({ baseUrl: url, serverlessUrl: url, apiKey: 'a-key-of-nobody' })),
  );
  const [ours, first, second] = clients;
  if (ours === undefined || first === undefined || second === undefined)
    throw new Error('a follower has no service');

  const pieces = [...writes];
  let written = 0;
  function write(): void {
    const step = pieces[written++] ?? '';
    for (const { log } of servers) {
      if (typeof step === 'string') log.write(step);
      else step(log);
    }
  }
  const time = new ServiceTime((ms) => {
    for (const { log } of servers) log.now += ms;
    write();
    return Promise.resolve();
  });
  const sink = new CollectingSink();
  write();
  const pipeline = startLogPipeline({
    sources: [{ kind: 'workergroup', id: GROUP }],
    fetchTail: time.waitingFor(createTailFetcher(ours)),
    // So large that the sink, which takes all at once, never misses anything.
    spool: memorySpool([sink.name], 2 ** 30),
    sinks: [sink],
    start: 'all',
    clock: time.clock,
    random: () => 0.5,
    observe: () => {},
  });
  all.defer(() => pipeline.stop(AbortSignal.abort()));
  const pollers = [new AnchorPoller(first, 1), new AnchorPoller(second, 5)] as const;
  await time.idle();
  for (let poll = 0; poll < (pieces.length * STEP_MS + REST_MS) / POLL_MS; poll++) {
    await time.advance(POLL_MS, STEP_MS);
    await Promise.all(pollers.map((poller) => poller.poll()));
  }
  const lines = servers[0]?.log.written.map(({ text }) => text) ?? [];
  return { records: sink.records, lines, printed: pollers.map(({ printed }) => printed) };
}

const DOCUMENT = new URL('../../README.md', import.meta.url);

interface Row {
  readonly name: string;
  readonly written: number;
  readonly peers: readonly Tally[];
  readonly ours: Tally;
  readonly gaps: number;
}

describeWithRealData('beside pollers that look for the lines that they printed last', () => {
  const rows: Row[] = [];

  test.each(SCENES)('$name: no line twice, and none missing that is not told of', async (scene) => {
    const { name, options = () => ({}), writes, gaps = [], isLossy = false, isMixed = false } = scene;
    const followed = await followService(options, writes());
    const [lines, told] = [linesOf(followed.records), gapsOf(followed.records)];
    const row = {
      name,
      written: followed.lines.length,
      peers: followed.printed.map((printed) => tally(printed, followed.lines)),
      ours: tally(lines, followed.lines),
      gaps: told.length,
    };
    rows.push(row);
    expect(row.ours.extra).toBe(0);
    if (!isLossy) expect(row.ours.lost).toBe(0);
    if (!isLossy && !isMixed) expect(lines.map(lastState)).toEqual(followed.lines.map(lastState));
    expect([...new Set(told.map(({ reason }) => reason))]).toEqual(gaps);
  });

  test('the table of the document is this one', () => {
    expect(rows).toHaveLength(SCENES.length);
    expect(readFileSync(DOCUMENT, 'utf8')).toContain(table(rows));
  });

  afterAll(() => {
    process.stdout.write(`${table(rows)}\n`);
  });
});

function table(rows: readonly Row[]): string {
  const head = ['', 'lines'];
  for (const peer of ['last-line poller', 'five-line poller', 'Pilotlight'])
    head.push(`${peer}: extra`, 'missing');
  head.push('gaps told');
  const body = rows.map(({ name, written, peers, ours, gaps }) => [
    name,
    ...[written, ...[...peers, ours].flatMap(({ extra, lost }) => [extra, lost]), gaps].map(String),
  ]);
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

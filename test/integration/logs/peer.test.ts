/** The same stretches of a log's life, followed by Pilotlight and by the loops that people write today. */
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { followEmulator, GROUP, type FollowedEmulator } from '../../support/followed-emulator.ts';
import { FAULTY_SCENES } from '../../support/faulty-log-scenes.ts';
import { followService } from '../../support/followed-service.ts';
import { AnchorPoller, tally, type Tally } from '../../support/log-peers.ts';
import { gapsOf, linesOf } from '../../support/log-polls.ts';
import { describeWithRealData } from '../../support/real-data.ts';
import { readRealLog } from '../../support/real-logs.ts';

interface Scene {
  readonly name: string;
  /** Lines that the log grows by when a rate is set. */
  readonly replay: () => readonly string[];
  /** @returns Lines that came between those of the replay, and after how many of them. */
  readonly play: (
    followed: FollowedEmulator,
    seconds: (count: number) => Promise<void>,
  ) => Promise<{ readonly lines: readonly string[]; readonly after: number } | undefined>;
  /** Gaps that Pilotlight must tell of. */
  readonly gaps: readonly string[];
}

const DOCUMENT = new URL('../../../src/logs/README.md', import.meta.url);
const HEALTH = 'INFO: 127.0.0.1:51842 - "GET /health HTTP/1.1" 200 OK';
const PROGRESS = Array.from({ length: 6 }, (_, step) => `Loading weights: ${20 * step}%`);
const numbered = (what: string, from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `${what} ${from + index}`);

const SCENES: readonly Scene[] = [
  {
    name: 'steady, 50 lines/s',
    replay: () => readRealLog('OpenSSH'),
    play: async ({ emulator }, seconds) => {
      emulator.workergroups.setRate(GROUP, 50);
      await seconds(38);
      return undefined;
    },
    gaps: [],
  },
  {
    name: 'lines that repeat, 50 lines/s',
    replay: () => readRealLog('OpenSSH without times'),
    play: async ({ emulator }, seconds) => {
      emulator.workergroups.setRate(GROUP, 50);
      await seconds(38);
      return undefined;
    },
    gaps: [],
  },
  {
    name: 'a burst of 25,000 lines; a tail holds 10,000',
    replay: () => readRealLog('Spark'),
    play: async ({ emulator }, seconds) => {
      emulator.workergroups.setRate(GROUP, 50);
      await seconds(18);
      const burst = numbered('step', 0, 25_000);
      emulator.workergroups.append(GROUP, burst);
      await seconds(18);
      return { lines: burst, after: 900 };
    },
    gaps: ['overrun'],
  },
  {
    name: 'a worker is replaced, 40 lines unread, and the new one draws a progress bar',
    replay: () => [],
    play: async ({ emulator }, seconds) => {
      const { workergroups } = emulator;
      const old = ['Started server process', ...numbered('Added request', 0, 300), HEALTH];
      const unread = numbered('Added request', 300, 40);
      const serving = ['Started server process', HEALTH, ...numbered('Added request', 900, 9), HEALTH];
      workergroups.append(GROUP, old);
      await seconds(5);
      workergroups.append(GROUP, unread);
      workergroups.clear(GROUP);
      for (const [step, state] of PROGRESS.entries()) {
        workergroups.write(GROUP, step === 0 ? state : `\r${state}`);
        await seconds(2);
      }
      workergroups.write(GROUP, '\n');
      workergroups.append(GROUP, serving);
      await seconds(5);
      return { lines: [...old, ...unread, ...PROGRESS.slice(-1), ...serving], after: 0 };
    },
    gaps: ['reset'],
  },
  {
    name: 'every third poll fails, and all do for 20 s, 40 lines/s',
    replay: () => readRealLog('OpenSSH without times'),
    play: async ({ emulator }, seconds) => {
      emulator.workergroups.setRate(GROUP, 40);
      const failing = { kind: 'status', status: 503, operation: 'workergroups.logs' } as const;
      await using _third = await emulator.faults.add({ ...failing, every: 3 });
      await seconds(15);
      const all = await emulator.faults.add(failing);
      await seconds(20);
      await all.clear();
      await seconds(10);
      return undefined;
    },
    gaps: [],
  },
];

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
    const replay = scene.replay();
    await using followed = await followEmulator(replay);
    const { emulator, client, sink, advance } = followed;
    const peers = [new AnchorPoller(client, GROUP, 1), new AnchorPoller(client, GROUP, 5)];
    async function seconds(count: number): Promise<void> {
      for (let second = 0; second < count; second++) {
        await advance(1_000);
        for (const peer of peers) await peer.poll();
      }
    }
    const between = await scene.play(followed, seconds);
    emulator.workergroups.setRate(GROUP, 0);
    await seconds(40);

    const { lineCount } = emulator.workergroups.get(GROUP);
    const { lines: others, after } = between ?? { lines: [], after: 0 };
    const truth = [...replay.slice(0, after), ...others, ...replay.slice(after, lineCount - others.length)];
    const [lines, gaps] = [linesOf(sink.records), gapsOf(sink.records)];
    const row = {
      name: scene.name,
      written: truth.length,
      peers: peers.map(({ printed }) => tally(printed, truth)),
      ours: tally(lines, truth),
      gaps: gaps.length,
    };
    rows.push(row);

    expect(gaps.map(({ reason }) => reason)).toEqual(scene.gaps);
    const before = sink.records.findIndex((record) => 'gap' in record);
    const whole = before < 0 ? lines.length : before;
    expect(lines.slice(0, whole)).toEqual(truth.slice(0, whole));
    expect(lines.slice(whole)).toEqual(truth.slice(truth.length - (lines.length - whole)));
    expect(row.ours.extra).toBe(0);
    if (scene.gaps.length === 0) expect(row.ours.lost).toBe(0);
  });

  test.each(FAULTY_SCENES)('$name: no line twice, and none missing that is not told of', async (scene) => {
    const { name, options, writes, gaps = [], isLossy = false } = scene;
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
    expect([...new Set(told.map(({ reason }) => reason))]).toEqual(gaps);
  });

  test('the table of the document is this one', () => {
    expect(rows).toHaveLength(SCENES.length + FAULTY_SCENES.length);
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

/** A STATE_DIR that is full, read-only, in use, damaged or gone for a while: real file systems. */
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { EpochOver } from '../../../../src/logs/spool/spool.ts';
import * as fc from '../../../support/fast-check.ts';
import { test } from '../../../support/log-folder.ts';
import { LogPolls } from '../../../support/log-polls.ts';
import { numbers, progressAt, record, recordsFrom } from '../../../support/log-records.ts';
import { alter, NOW, openSpool, SOURCE, TakingSinks } from '../../../support/log-spool.ts';
import { describeOnSmallDisk, smallDisk } from '../../../support/small-disk.ts';

const large = (seq: number) => record(seq, `line ${seq} ${'x'.repeat(2_000)}`);
const fileIn = (folder: string): string => join(folder, 'spool.sqlite');
const inEpoch = (epoch: number, seq: number) => ({ ...progressAt(seq, ['line'], seq), epoch });

function damage(directory: string): void {
  for (const name of [fileIn(directory), `${fileIn(directory)}-wal`])
    writeFileSync(name, Buffer.alloc(statSync(name).size, 0xa5), { flag: 'r+' });
}

describeOnSmallDisk('a disk', () => {
  const SINKS = ['slow', 'fast'];
  const ofDisk = fc.constantFrom('fill', 'free', 'readOnly', 'writable', 'wait', 'wait');
  const turn = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 300 }) },
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom('take', 'give'), fc.constantFrom(...SINKS)) },
    { weight: 4, arbitrary: fc.tuple(ofDisk, fc.constant('')) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('restart'), fc.constant('')) },
  );

  test('that is full, read-only and usable by turns costs no record, and no sink gets one twice', () =>
    fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 10, maxLength: 40 }), async (turns) => {
        using disk = smallDisk(16_384);
        let opened = await openSpool(disk.path, { sinks: SINKS });
        const taking = new TakingSinks(SINKS);
        let seq = 0;
        const actions = {
          ...disk,
          take: (sink: string) => taking.take(opened.spool, sink),
          give: (sink: string) => taking.give(opened.spool, sink),
          wait: () => opened.wait(),
          async restart() {
            if (opened.spool.durable !== true) return;
            opened.spool.close();
            taking.restart();
            opened = await openSpool(disk.path, { sinks: SINKS });
          },
        };
        for (const one of turns) {
          if (typeof one !== 'number') {
            const [verb, sink] = one;
            try {
              await actions[verb](sink);
            } catch (error) {
              // A file that is open for writing keeps a disk from being made read-only.
              expect(String(error)).toMatch(/busy/);
            }
            continue;
          }
          opened.append(numbers(seq + 1, seq + one).map(large), progressAt(seq + one, ['line'], seq));
          seq += one;
          expect(opened.spool.progress(SOURCE)?.seq).toBe(seq);
        }
        disk.writable();
        disk.free();
        for (const sink of SINKS) taking.give(opened.spool, sink);
        opened.wait();
        for (const sink of SINKS) taking.got.get(sink)?.push(...opened.drain(sink));
        opened.wait();
        opened.append([record(seq + 1)], progressAt(seq + 1, ['line'], seq));
        expect(opened.spool.durable).toBe(true);
        for (const sink of SINKS) {
          const got = [...(taking.got.get(sink) ?? []), ...opened.drain(sink)];
          expect([opened.spool.lag(sink), opened.dropped(sink)]).toEqual([0, 0]);
          expect(got.toSorted((one, other) => one - other)).toEqual(numbers(1, seq + 1));
        }
        opened.spool.close();
        const { spool } = await openSpool(disk.path, { sinks: SINKS });
        expect([spool.progress(SOURCE)?.seq, spool.take('slow')]).toEqual([seq + 1, undefined]);
        spool.close();
      }),
      { numRuns: 10 },
    ));

  test('that is full and freed later: what comes meanwhile waits in memory, in an epoch of its own', async () => {
    using disk = smallDisk(32_768);
    const { spool, append, drain, wait, kinds } = await openSpool(disk.path);
    let last = 0;
    const appendMore = (): void => {
      append(numbers(last + 1, last + 100).map(large), progressAt(last + 100, ['line'], last + 100));
      last += 100;
    };
    appendMore();
    disk.fill();
    // What SQLite has in its files already has room for some more.
    while (spool.durable === true) appendMore();
    appendMore();
    expect([kinds(), spool.lag('stdout')]).toEqual([['spool in memory'], last]);
    expect(spool.progress(SOURCE)).toEqual(inEpoch(NOW, last));
    expect(() => spool.append(SOURCE, [], inEpoch(NOW - 1, last))).toThrow(EpochOver);
    const early = drain('stdout', 2);
    wait();
    appendMore();
    expect(spool.durable).toBe(false);
    disk.free();
    wait();
    expect([...early, ...drain()]).toEqual(numbers(1, last));
    expect([spool.durable, kinds()]).toEqual([true, ['spool in memory', 'spool on disk again']]);
    spool.close();
    const again = await openSpool(disk.path);
    expect([again.spool.progress(SOURCE), again.drain()]).toEqual([inEpoch(NOW, last), []]);
  });

  test.for([
    ['full', 'fill', 'free'],
    ['read-only', 'readOnly', 'writable'],
  ] as const)('that is %s at the start: then the spool that is there goes on', async ([what, begin, end]) => {
    using disk = smallDisk(8_192);
    const earlier = await openSpool(disk.path, { sinks: SINKS });
    const window = numbers(1, 500).map((seq) => `line ${seq}`);
    earlier.spool.append(SOURCE, recordsFrom(1, 3), progressAt(500, window, 90_000));
    earlier.spool.close();
    const path = fileIn(disk.path);
    const before = readFileSync(path);
    disk[begin]();
    const { spool, append, drain, kinds, wait } = await openSpool(disk.path, { sinks: SINKS });
    if (what === 'read-only')
      expect([spool.durable, kinds(), spool.epochAfterLoss]).toEqual([false, ['spool in memory'], NOW]);
    const more = numbers(4, 1_500).map(large);
    append(more, progressAt(1_500, ['one', 'two']));
    expect(spool.durable).toBe(false);
    if (what === 'read-only') expect(readFileSync(path)).toEqual(before);
    const got = drain('fast', 1);
    disk[end]();
    wait();
    got.push(...drain('fast'));
    wait();
    got.push(...drain('fast'));
    expect([spool.durable, got.toSorted((one, other) => one - other)]).toEqual([true, numbers(1, 1_500)]);
    expect(drain('slow')).toEqual(numbers(1, 1_500));
    // Its window has other places than the one that was there.
    expect(spool.progress(SOURCE)).toEqual({ ...progressAt(1_500, ['one', 'two']), epoch: NOW });
  });

  test('that is full when the spool on it turns out unreadable: set aside once, and memory goes on', async () => {
    using disk = smallDisk(32_768);
    const { spool, events, kinds, dropped, drain, append, wait } = await openSpool(disk.path);
    append(numbers(1, 1_500).map(large), progressAt(1_500));
    disk.fill();
    damage(disk.path);
    const early = drain();
    expect(spool.durable).toBe(false);
    expect(events).toContainEqual({
      kind: 'dropped',
      sink: 'stdout',
      records: 1_500 - early.length,
      reason: 'corruption',
    });
    for (const from of [1_501, 3_001]) {
      wait();
      append(numbers(from, from + 1_499).map(large), progressAt(from + 1_499));
    }
    expect([spool.durable, drain()]).toEqual([false, numbers(1_501, 4_500)]);
    disk.free();
    wait();
    append([record(4_501)], progressAt(4_501));
    expect([spool.durable, drain(), dropped('stdout')]).toEqual([true, [4_501], 1_500 - early.length]);
    expect(kinds().filter((kind) => kind === 'spool set aside')).toHaveLength(1);
    expect(readdirSync(disk.path).filter((name) => /corrupt-[^-]+-[^-]+-[^-]+$/.test(name))).toHaveLength(1);
  });
});

describe('a file', () => {
  test('that another process has open is left alone until it is free', async ({ folder }) => {
    const other = await openSpool(folder);
    const { spool, events, append, drain, wait } = await openSpool(folder);
    expect(events).toMatchObject([{ kind: 'spool in memory', error: { code: 'file_in_use' } }]);
    append(recordsFrom(1, 2), progressAt(2, ['one', 'two']));
    expect(drain()).toEqual([1, 2]);
    wait();
    expect([spool.take('stdout'), spool.durable]).toEqual([undefined, false]);
    other.spool.close();
    // It looks every few seconds.
    expect([spool.take('stdout'), spool.durable]).toEqual([undefined, false]);
    wait();
    expect([spool.take('stdout'), spool.durable]).toEqual([undefined, true]);
    expect(spool.progress(SOURCE)).toMatchObject({ seq: 2 });
  });

  test('of a newer Pilotlight is set aside whole, under a name that says so', async ({ folder }) => {
    const newer = await openSpool(folder);
    newer.spool.append(SOURCE, recordsFrom(1, 2), progressAt(2, ['one', 'two']));
    newer.spool.close();
    const path = fileIn(folder);
    alter(path, 'PRAGMA user_version = 6');
    const whole = readFileSync(path);
    const { spool, events } = await openSpool(folder);
    const aside = `${path}.version-6-2025-01-01T000000.000Z`;
    expect(events).toMatchObject([{ kind: 'spool set aside', path: aside, error: { code: 'newer_file' } }]);
    expect([spool.durable, spool.epochAfterLoss, spool.progress(SOURCE)]).toEqual([true, NOW, undefined]);
    expect(readFileSync(aside)).toEqual(whole);
  });

  test.for<[string, (path: string) => void]>([
    [
      'is garbage',
      (path) => writeFileSync(path, 'this is no database, and long enough to be sure'.repeat(100)),
    ],
    ['is of an older version', (path) => alter(path, 'PRAGMA user_version = 4')],
    ['is cut off', (path) => truncateSync(path, 20_000)],
    [
      'is overwritten in the middle',
      (path) => writeFileSync(path, readFileSync(path).fill(0xa5, 8_192, 200_000)),
    ],
    [
      'has other progress than was written',
      (path) => alter(path, "UPDATE progress SET body = json_set(body, '$.seq', 5)"),
    ],
    [
      'has a number that cannot be read',
      (path) => alter(path, 'UPDATE chunk SET position = 9007199254740998 WHERE position = 2'),
    ],
    [
      'has a sink that stands where no count reaches',
      (path) => alter(path, "INSERT INTO sink VALUES ('stdout', 9007199254740991)"),
    ],
    [
      'has other hashes than can be',
      (path) => alter(path, 'UPDATE window SET hashes = substr(hashes, 1, 7)'),
    ],
  ])('that %s is set aside, and a new epoch begins', async ([, spoil], { folder }) => {
    const before = await openSpool(folder);
    before.append(recordsFrom(1, 2_000), progressAt(2_000, ['line 2000']));
    before.spool.close();
    spoil(fileIn(folder));
    const { spool, kinds, wait, append } = await openSpool(folder);
    expect(spool.progress(SOURCE)).toBeUndefined();
    expect(spool.epochAfterLoss).toBe(NOW);
    const polls = new LogPolls(spool.beginning(SOURCE));
    const records = polls.poll(() => ({ kind: 'text', text: 'line 2000\n' }));
    expect(records).toMatchObject([
      { epoch: NOW, seq: 1, gap: { reason: 'reset' } },
      { epoch: NOW, seq: 2, line: 'line 2000' },
    ]);
    wait();
    append(records, polls.state.progress);
    expect([spool.durable, kinds().filter((kind) => kind === 'spool set aside')]).toEqual([
      true,
      ['spool set aside'],
    ]);
    spool.close();
    const aside = 'spool.sqlite.corrupt-2025-01-01T000000.000Z';
    expect(readdirSync(folder).some((name) => name.startsWith(aside.slice(0, 30)))).toBe(true);
    const again = await openSpool(folder);
    expect(again.spool.progress(SOURCE)).toMatchObject({ epoch: NOW, seq: 2 });
    expect(again.spool.epochAfterLoss).toBeGreaterThanOrEqual(NOW);
  });

  test('with records that are not as they were written gives none of them to a sink', async ({ folder }) => {
    const before = await openSpool(folder);
    before.append(recordsFrom(1, 20), progressAt(20));
    before.spool.close();
    alter(fileIn(folder), "UPDATE chunk SET body = replace(body, 'line 7', 'line 8')");
    const { events, drain } = await openSpool(folder);
    expect(drain()).toEqual([]);
    expect(events).toContainEqual({ kind: 'dropped', sink: 'stdout', records: 20, reason: 'corruption' });
  });

  test.for<[string, (folder: string) => void]>([
    ['removed with its folder', (folder) => rmSync(folder, { recursive: true })],
    ['cut to nothing', (folder) => truncateSync(fileIn(folder))],
    ['another file now', (folder) => (rmSync(fileIn(folder)), writeFileSync(fileIn(folder), 'hi'))],
    ['damaged', damage],
  ])('that is %s while it runs is said, counted, and begun anew', async ([what, spoil], { folder }) => {
    const directory = join(folder, 'state');
    const { spool, events, kinds, dropped, append, drain, wait } = await openSpool(directory);
    // More than SQLite keeps in memory, where it would not notice.
    append(numbers(1, 3_000).map(large), progressAt(3_000));
    const underway = spool.take('stdout')?.count ?? 0;
    wait();
    append([], progressAt(3_000));
    expect([underway > 0, kinds()]).toEqual([true, []]);
    spoil(directory);
    wait();
    append(recordsFrom(3_001, 2), progressAt(3_002));
    wait();
    const lost = 3_000 - underway;
    expect([spool.lag('stdout'), dropped('stdout')]).toEqual([2, lost]);
    spool.acknowledge('stdout');
    expect([drain(), spool.durable]).toEqual([[3_001, 3_002], true]);
    const reasons = ['spool in memory', 'spool on disk again'];
    expect(kinds().filter((kind) => reasons.includes(kind))).toEqual(reasons);
    expect(events).toContainEqual({ kind: 'dropped', sink: 'stdout', records: lost, reason: 'corruption' });
    expect(kinds().includes('spool set aside')).toBe(what === 'damaged' || what === 'another file now');
    append([], progressAt(3_003));
    spool.close();
    const again = await openSpool(directory);
    expect(again.spool.progress(SOURCE)?.seq).toBe(3_003);
    // Of a log that is not in the new one, what was known is lost.
    expect([again.spool.progress('workergroup/8'), again.spool.epochAfterLoss]).toEqual([
      undefined,
      expect.any(Number),
    ]);
  });

  test('whose folder is a file for a while waits in memory; no epoch comes again', async ({ folder }) => {
    const directory = join(folder, 'state');
    const before = await openSpool(directory);
    before.append(recordsFrom(1, 5), inEpoch(NOW + 10_000, 5));
    expect(before.drain()).toHaveLength(5);
    before.spool.close();
    const { spool, append, drain, wait, kinds } = await openSpool(directory);
    expect(spool.progress(SOURCE)?.epoch).toBe(NOW + 10_000);
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'hi');
    wait();
    append(recordsFrom(6, 2), inEpoch(NOW + 10_000, 7));
    expect([spool.durable, spool.progress(SOURCE)?.epoch]).toEqual([false, NOW + 10_001]);
    expect((await openSpool(directory)).spool.epochAfterLoss).toBeUndefined();
    rmSync(directory);
    wait();
    expect([drain(), spool.durable]).toEqual([[6, 7], true]);
    // Nothing waited there.
    expect(kinds()).toEqual(['spool in memory', 'spool on disk again']);
  });
});

/** The sinks, the spool and the following of logs, as the settings have them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  openSinks,
  SinkCounts,
  startLogFollowing,
  type LogFollowing,
} from '../../../../src/daemon/services/logs.ts';
import type { LineOutput } from '../../../../src/logs/sinks/stdout.ts';
import { batchOf, NEVER, record } from '../../../support/log-records.ts';
import { settingsOf } from '../../../support/settings.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';
import { collectedLog } from '../../../support/collected-log.ts';

let folder: ReturnType<typeof memoryFolder>;
let written: string[];
const stdout = {
  write: async (more: Buffer) => void written.push(...more.toString().split('\n').slice(0, -1)),
  close: async () => {},
} as unknown as LineOutput;
const { logger, lines } = collectedLog('debug');
beforeEach(() => {
  folder = memoryFolder();
  [written, lines.length] = [[], 0];
});
afterEach(() => folder[Symbol.dispose]());

test('sinks keep colours, or strip them for the file: stdout has them', async () => {
  const path = join(folder.path, 'worker.log');
  const line = '\u001B[31mred\u001B[0m \u009B1mbold';
  for (const ansi of ['keep', 'strip']) {
    const sinks = await openSinks(
      settingsOf({
        PILOTLIGHT_LOG_SINKS: 'stdout,file',
        PILOTLIGHT_LOG_FILE: path,
        PILOTLIGHT_LOG_ANSI: ansi,
      }),
      stdout,
      logger,
    );
    for (const sink of sinks) {
      await sink.write(batchOf([record(1, line)]), NEVER);
      await sink.close();
    }
  }
  const linesIn = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((json) => (JSON.parse(json) as { line?: string }).line);
  expect(linesIn(readFileSync(path, 'utf8'))).toEqual([line, 'red bold']);
  expect(linesIn(written.join('\n'))).toEqual([line, line]);
});

describe('following', () => {
  let logs: LogFollowing | undefined;
  afterEach(async () => {
    logs?.beginStop(AbortSignal.abort());
    await logs?.stopped();
    logs = undefined;
  });

  async function follow(
    more: Readonly<Record<string, string>> = {},
    isRestart = false,
  ): Promise<LogFollowing> {
    const results = [7, 8].map((id) => ({ id, endpoint_name: `e${id}` }));
    const workergroups = { list: async () => ({ results }), logs: async () => ({ logs: 'one\ntwo\n' }) };
    const options = { client: { workergroups } as never, logger, stdout, onReset: () => {}, isRestart };
    logs = await startLogFollowing({ ...options, settings: settingsOf(more) });
    return logs;
  }

  test('takes to what is wanted now, and leaves the others', async () => {
    const own = await follow();
    const ids = (): number[] => own.status().worker_groups.map(({ workergroup_id }) => workergroup_id);
    await own.apply(settingsOf({ PILOTLIGHT_WORKER_GROUPS: '8,9' }));
    expect(ids()).toEqual([8, 9]);
    await own.apply(settingsOf({ PILOTLIGHT_WORKER_GROUPS: 'all' }));
    await expect.poll(ids, { interval: 2 }).toEqual([7, 8]);
    await own.apply(settingsOf({ PILOTLIGHT_WORKER_GROUPS: 'endpoint:e8' }));
    await expect.poll(ids, { interval: 2 }).toEqual([8]);
  });

  test.each([
    ['from 1 at the first start', false, 0, 10],
    ['anew at a restart', true, Date.UTC(2026, 0), Infinity],
  ])('counts epochs %s', async (_when, isRestart, above, below) => {
    await follow({}, isRestart);
    await expect.poll(() => written.length, { interval: 2 }).toBeGreaterThan(0);
    const { epoch } = JSON.parse(written[0] ?? '') as { epoch: number };
    expect([epoch > above, epoch < below]).toEqual([true, true]);
  });

  test.each([
    ['at the first start', false, 'info'],
    ['at a restart', true, 'warn'],
  ] as const)('says %s that a restart delivers again', async (_when, isRestart, level) => {
    await follow({}, isRestart);
    const said = lines.filter(({ msg }) => String(msg).startsWith('no PILOTLIGHT_STATE_DIR'));
    expect(said.map((line) => line['level'])).toEqual([pino.levels.values[level]]);
  });

  test('says nothing of that where there is a folder', async () => {
    const own = await follow({ PILOTLIGHT_STATE_DIR: folder.path });
    expect(own.status().spool_durable).toBe(true);
    expect(lines.filter(({ msg }) => String(msg).includes('STATE_DIR'))).toEqual([]);
  });
});

const failed = (error: unknown) =>
  ({ kind: 'sink failed', sink: 'otlp', error, failures: 1, retryInMs: 5 }) as const;

test('what each sink got and what it did not is counted by sink and reason', () => {
  const counts = new SinkCounts(['otlp', 'file']);
  counts.observe({ kind: 'delivered', sink: 'otlp', records: 3 });
  counts.observe({ kind: 'delivered', sink: 'otlp', records: 4 });
  counts.observe({ kind: 'delivered', sink: 'file', records: 1 });
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 2, reason: 'overflow' });
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 5, reason: 'rejected' });
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 6, reason: 'corruption' });
  counts.observe({ kind: 'delivered', sink: 'of before a reload', records: 9 });
  counts.observe({ kind: 'spool on disk again' });
  expect(counts.status('otlp', 7)).toEqual({
    sink: 'otlp',
    delivered_lines: 7,
    dropped_lines: { overflow: 2, corruption: 6, rejected: 5 },
    lag_lines: 7,
    last_error: null,
  });
  const none = { overflow: 0, corruption: 0, rejected: 0 };
  expect(counts.status('file', 0)).toMatchObject({ delivered_lines: 1, dropped_lines: none });
  expect(counts.status('of before a reload', 0)).toMatchObject({ delivered_lines: 0, dropped_lines: none });
});

test('what keeps a sink from taking more is known until it takes or refuses something', () => {
  const counts = new SinkCounts(['otlp']);
  const last = () => counts.status('otlp', 0).last_error;
  counts.observe(failed(new Error('it is away')));
  expect(last()).toBe('it is away');
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 1, reason: 'overflow' });
  expect(last()).toBe('it is away');
  counts.observe({ kind: 'delivered', sink: 'otlp', records: 1 });
  expect(last()).toBeNull();
  counts.observe(failed('a word'));
  expect(last()).toBe('a word');
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 1, reason: 'rejected' });
  expect(last()).toBeNull();
});

test('what is shown does not change afterwards', () => {
  const counts = new SinkCounts(['otlp']);
  const before = counts.status('otlp', 0);
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 1, reason: 'overflow' });
  expect(before.dropped_lines['overflow']).toBe(0);
});

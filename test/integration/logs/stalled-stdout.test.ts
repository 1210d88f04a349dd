import { fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import type { StallReport } from '../../support/log-stall-child.ts';

const CHILD = new URL('../../support/log-stall-child.ts', import.meta.url);
/** Virtual. The spool is full after one of them; `npm run test:long -- test/integration/logs` has five. */
const SECONDS = 60 * Number(process.env['STALL_MINUTES'] ?? 1.2);
const LINES_PER_SECOND = 5_000;
const LINES = Array.from({ length: 50_000 }, (_, index) => `line ${index} ${'x'.repeat(index % 150)}`);
const MEBIBYTE = 2 ** 20;
/** The image's own flag, and the heap limit that V8 derives from a container's: it collects as lazily as it may. */
const NODE_FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=256'];
/** Beyond what the process takes anyway: the spool's 64 MiB, and as much again for reading tails of 10,000 lines. */
const GROWTH_BOUND = 128 * MEBIBYTE;
const RSS_BOUND = 288 * MEBIBYTE;

test('minutes of a stdout that nobody reads: memory is bounded, losses are counted', async () => {
  await using logs = await startEmulator({
    clock: 'frozen',
    seed: {
      workergroups: [{ id: 7, lines_per_second: LINES_PER_SECOND, replay: { lines: LINES, loop: true } }],
    },
  });
  const child = fork(CHILD, [logs.url, logs.apiKey, String(SECONDS)], {
    execArgv: NODE_FLAGS,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const { promise, resolve } = Promise.withResolvers<StallReport>();
  child.on('message', (message: { advance: number } | { report: StallReport }) => {
    if ('report' in message) resolve(message.report);
    else void logs.clock.advance(message.advance).then(() => child.send('moved'));
  });
  const report = await Promise.race([promise, once(child, 'exit')]);
  if (Array.isArray(report)) throw new Error(`the child ended with ${String(report)}`);

  if (child.stdout === null) throw new Error('no pipe');
  const output = await text(child.stdout);
  const records = output
    .trimEnd()
    .split('\n')
    .map((line): LogRecord => JSON.parse(line));
  const seqs = records.map(({ seq }) => seq);
  const missing = report.seq - seqs.length;
  const most = Math.max(...report.rss);
  const mebibytes = (bytes: number) => (bytes / MEBIBYTE).toFixed(0);
  process.stdout.write(
    `stdout blocked for ${SECONDS} virtual s at ${LINES_PER_SECOND} lines/s (${report.seconds.toFixed(0)} s real): ` +
      `${report.seq} records, ${report.dropped} dropped, ${missing} numbers missing; ` +
      `RSS ${mebibytes(report.rssBefore)} MiB before, at most ${mebibytes(most)} MiB\n`,
  );
  const isTrue = (record: LogRecord) =>
    'line' in record && record.line === LINES[(record.seq - 1) % LINES.length];
  expect(records.every(isTrue)).toBe(true);
  expect(report.seq).toBeGreaterThanOrEqual((SECONDS - 1) * LINES_PER_SECOND);
  expect(report.gaps).toEqual({ overrun: 0, reset: 0, ambiguous: 0, handover: 0 });
  expect(missing).toBeGreaterThan((SECONDS - 100) * LINES_PER_SECOND);
  expect(report.dropped).toBe(missing);
  expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other));
  expect(seqs.at(-1)).toBe(report.seq);
  expect(most).toBeLessThan(RSS_BOUND);
  expect(most - report.rssBefore).toBeLessThan(GROWTH_BOUND);
  expect(Math.max(...report.rss.slice(-60))).toBeLessThan(1.25 * Math.max(...report.rss.slice(60, 90)));
}, 240_000);

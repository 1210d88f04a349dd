/** Whatever workers print: each line once, whole, in its order, on every way out, and nothing else with it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from '../../support/fast-check.ts';
import { expect, onTestFailed, test } from 'vitest';
import type { Status } from '../../../src/daemon/status/schema.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { casesOf, PATIENCE, withoutHangOf } from '../../support/bad-input/cases.ts';
import { damagedText } from '../../support/bad-input/damage.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { ask } from '../../support/raw-http.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const RECORD = '{"time":"2026-11-23T00:00:00.000Z","workergroup_id":7,"epoch":1,"seq":1,"line":"x"}';
/** What a terminal, a page, a shell, JSON or a log shipper would read for more than text. */
const TELLING = fc.constantFrom(
  RECORD,
  '\u001B[2J\u001B]0;title\u0007',
  '<img src=x onerror=alert(1)>',
  '</script><script>',
  '$(reboot) `id` %s %n ${HOME}',
  '\u0000\u0001\u007F\u0085\u2028\u2029\u202E',
  '__proto__',
  '\r\r\r',
  'a\rb',
  '\uD83D',
  '\uFEFF',
  '👩‍👩‍👧‍👦'.repeat(50),
  'ā́'.repeat(20),
);

const line = fc
  .weighted(
    [3, TELLING],
    [3, damagedText(RECORD)],
    [3, fc.string({ unit: 'binary' })],
    [1, fc.string({ unit: 'grapheme', minLength: 50, maxLength: 200 })],
    [1, fc.integer({ min: 1, max: 100_000 }).map((length) => 'x'.repeat(length))],
  )
  // Of a text with line ends each piece is a line.
  .map((text) => text.replaceAll('\n', ' ').toWellFormed());

function recordsIn(text: string): LogRecord[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((each) => JSON.parse(each) as LogRecord);
}

/** Of a text that grows: each line of it is parsed once. */
function recordsOf(text: () => string): () => readonly LogRecord[] {
  const records: LogRecord[] = [];
  let from = 0;
  return () => {
    const grown = text();
    const end = grown.lastIndexOf('\n') + 1;
    records.push(...recordsIn(grown.slice(from, end)));
    from = end;
    return records;
  };
}

test('arrives as it was', { timeout: PATIENCE }, async () => {
  using folder = temporaryFolder();
  await using emulator = await startEmulator({ seed: { workergroups: [{ id: 7, lines_per_second: 0 }] } });
  const file = join(folder.path, 'worker.log');
  await using daemon = await startDaemonProcess({
    ...serviceOf(emulator),
    WORKER_GROUPS: '7',
    STATE_DIR: join(folder.path, 'state'),
    LOG_SINKS: 'stdout,file',
    LOG_FILE: file,
    PUBLIC_STATUS: 'true',
  });
  onTestFailed(() => console.log(daemon.stderr().slice(-4_000)));
  const pid = daemon.daemonPid();
  const { numRuns, seed } = casesOf(20);
  const written: string[] = [];
  const delivered = recordsOf(() => daemon.stdout());
  const lines = fc.sample(line, { numRuns, seed });
  for (let at = 0; at < lines.length; at += 200) {
    // Each is another: of two that are alike nobody can tell which one came.
    const batch = lines.slice(at, at + 200).map((text, index) => `${text} ${at + index}`);
    emulator.workergroups.append(7, batch);
    // Of a line that draws itself again and again there is what is left to see.
    written.push(...batch.map((text) => text.slice(text.lastIndexOf('\r') + 1)));
    await until(() => delivered().length >= written.length);
    const { status: code, body } = await withoutHangOf(pid, () => ask(daemon.url, 'GET', '/api/status'));
    expect(code).toBe(200);
    const status = JSON.parse(body) as Status;
    expect(status.worker_groups[0]?.last_error).toBeNull();
  }
  const arrived = (records: readonly LogRecord[]): unknown[] =>
    records.map((record) => ('line' in record ? record.line : record));
  expect(arrived(delivered())).toEqual(written);
  // The file is made with its first lines, which stdout may have before.
  const inFile = () => (existsSync(file) ? recordsIn(readFileSync(file, 'utf8')) : []);
  await until(() => inFile().length >= written.length);
  expect(arrived(inFile())).toEqual(written);
  expect(daemon.daemonPid()).toBe(pid);
});

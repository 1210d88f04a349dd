import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { serviceOf, startTestDaemon, until, type TestDaemon } from '../../support/daemon.ts';
import { readLogFiles } from '../../support/log-files.ts';
import { linesOf } from '../../support/log-polls.ts';
import { root } from '../../support/optional.ts';
import { startOtlpReceiver, type OtlpReceiver } from '../../support/otlp-receiver.ts';
import { INVALID, REPLACED, startRawLogServer, type RawLogServer } from '../../support/raw-log-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const LONG = '0123456789'.repeat(100_000);
const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`);

function sinks(folder: string, receiver: OtlpReceiver) {
  return {
    LOG_SINKS: 'stdout,file,otlp',
    LOG_FILE: join(folder, 'worker.log'),
    OTLP_ENDPOINT: receiver.url,
    WORKER_GROUPS: '7',
  };
}

test.concurrent('each sink gets every line once: one that is down keeps no other waiting', async () => {
  using folder = temporaryFolder();
  await using receiver = await startOtlpReceiver();
  await receiver.goDown();
  await using emulator = await startEmulator({
    seed: { workergroups: [{ id: 7, lines_per_second: 0 }] },
  });
  emulator.workergroups.append(7, numbered(3_000));
  const daemon = await startTestDaemon({
    ...serviceOf(emulator),
    STATE_DIR: join(folder.path, 'state'),
    LOG_FILE_MAX_BYTES: '100KB',
    LOG_FILE_MAX_FILES: '100',
    ...sinks(folder.path, receiver),
  });
  const path = join(folder.path, 'worker.log');
  await until(() => daemon.lines(7).length === 3_000);
  await until(() => delivered(daemon, 'file') === 3_000);
  await until(() =>
    daemon.messages.some(({ msg }) => msg === 'log sink failed; its records wait in the spool'),
  );
  expect(await daemon.metrics()).toContain('pilotlight_log_sink_lag_lines{sink="otlp"} 3000');
  const otlp = () => daemon.daemon.status().sinks.find(({ sink }) => sink === 'otlp');
  expect(otlp()).toMatchObject({ lag_lines: 3_000, last_error: expect.stringContaining('ECONNREFUSED') });
  await receiver.comeUp();
  emulator.workergroups.append(7, numbered(500, 3_000));
  for (const sink of ['stdout', 'file', 'otlp']) {
    await until(() => delivered(daemon, sink) === 3_500);
  }
  expect(otlp()).toMatchObject({ lag_lines: 0, last_error: null });
  const metrics = await daemon.metrics();
  await daemon.stop();
  const truth = numbered(3_500);
  expect(daemon.lines(7)).toEqual(truth);
  expect(linesOf(readLogFiles(path))).toEqual(truth);
  expect(receiver.records.map(({ body }) => body)).toEqual(truth);
  for (const sink of ['stdout', 'file', 'otlp']) {
    expect(metrics).toContain(`pilotlight_log_sink_dropped_lines_total{reason="rejected",sink="${sink}"} 0`);
  }
  expect(metrics).toContain('pilotlight_log_sink_delivered_lines_total{sink="otlp"} 3500');
});

test.concurrent('a receiver that asks for a token gets it, and nobody else does', async () => {
  using folder = temporaryFolder();
  await using receiver = await startOtlpReceiver();
  receiver.decide = ({ authorization }) =>
    authorization === 'Bearer sesame+1' ? 'accept' : { status: 401, body: 'who are you' };
  await using emulator = await startEmulator({ seed: { workergroups: [{ id: 7, lines_per_second: 0 }] } });
  emulator.workergroups.append(7, numbered(10));
  // A batch whose answer is late on a busy machine is sent again.
  const bodies = () => new Set(receiver.records.map(({ body }) => body));
  for (const [header, received] of [
    ['authorization=Bearer%20closed', 0],
    ['Authorization=Bearer sesame%2B1', 10],
  ] as const) {
    await using daemon = await startTestDaemon({
      ...serviceOf(emulator),
      STATE_DIR: folder.path,
      OTLP_HEADERS: header,
      ...sinks(folder.path, receiver),
    });
    const before = receiver.requests.length;
    await until(() => receiver.requests.length > before && bodies().size === received);
    const said = [JSON.stringify(daemon.messages), await daemon.metrics(), JSON.stringify(daemon.records())];
    expect(said.join('')).not.toMatch(/closed|sesame/);
  }
  expect([...bodies()]).toEqual(numbered(10));
});

test.concurrent('lines of any bytes come through every sink, and around them none is lost', async () => {
  using folder = temporaryFolder();
  await using receiver = await startOtlpReceiver();
  await using service = await startRawLogServer();
  await using daemon = await startTestDaemon({
    API_KEY: 'key',
    BASE_URL: service.url,
    STATE_DIR: join(folder.path, 'state'),
    ...sinks(folder.path, receiver),
  });
  const { log } = service;
  const seen = () => daemon.lines(7).length;
  log.write(`first\ninvalid ${INVALID} UTF-8\n\u001B[1;31mred\u001B[0m\nNUL \0 NUL\nCRLF\r\n\n`);
  await until(() => seen() === 6);
  log.write('loading 10%');
  await polledAgain(service);
  log.write('\rloading 55%');
  await polledAgain(service);
  log.write('\rloading 100%\r\n');
  await until(() => seen() === 7);
  log.write(`${LONG}\nafter ${INVALID}\n😀 \u2028 "\\" last\n`);
  await until(() => seen() === 10);
  const expected = [
    'first',
    `invalid ${REPLACED} UTF-8`,
    '\u001B[1;31mred\u001B[0m',
    'NUL \0 NUL',
    'CRLF',
    '',
    // What the terminal shows in the end.
    'loading 100%',
    LONG,
    `after ${REPLACED}`,
    '😀 \u2028 "\\" last',
  ];
  // Compared one by one: a difference in the long line would print a megabyte.
  for (const sink of ['file', 'otlp']) await until(() => delivered(daemon, sink) === 10);
  expectSame(daemon.lines(7), expected);
  expectSame(linesOf(readLogFiles(join(folder.path, 'worker.log'))), expected);
  expectSame(
    receiver.records.map(({ body }) => String(body)),
    expected,
  );
  expect(daemon.records().map(({ seq }: LogRecord) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test.concurrent('what only the file and OTLP sinks need is not loaded without them', () => {
  expect(loadedByDaemon('')).toBe('false');
  expect(loadedByDaemon(`await import('${root}src/logs/sinks/otlp.ts');`)).toBe('true');
});

/** Records that the sink has accepted. */
function delivered({ daemon }: TestDaemon, sink: string): number | undefined {
  const { sinks: all } = daemon.status();
  return all.find((one) => one.sink === sink)?.delivered_lines;
}

/** What was written before this is in an answer after it. */
async function polledAgain(service: RawLogServer): Promise<void> {
  const polls = service.polls();
  await until(() => service.polls() > polls);
}

function expectSame(lines: readonly string[], expected: readonly string[]): void {
  expect(lines.map((line) => line.slice(0, 100))).toEqual(expected.map((line) => line.slice(0, 100)));
  expect(lines.every((line, index) => line === expected[index])).toBe(true);
}

/** Whether the daemon's modules, and those that `more` imports, take in what the two sinks need. */
function loadedByDaemon(more: string): string {
  const code = `
    const { registerHooks } = await import('node:module');
    let loaded = false;
    registerHooks({
      resolve(specifier, context, next) {
        const resolved = next(specifier, context);
        loaded ||= /@opentelemetry.(otlp|resources)|sinks.(file|otlp)/.test(resolved.url);
        return resolved;
      },
    });
    await import('${root}src/daemon/daemon.ts');
    ${more}
    process.stdout.write(String(loaded));`;
  const options = ['--no-warnings', '--input-type=module', '-e', code];
  return execFileSync(process.execPath, options, { encoding: 'utf8' });
}

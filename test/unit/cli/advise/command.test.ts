/** What `pilotlight advise` says before it computes anything, and where it cannot ask the daemon. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { pilotlight } from '../../../support/console.ts';
import { listenWithFleet, type FleetListener } from '../../../support/fleet-listener.ts';
import { changeOf } from '../../../support/steering.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { endpointView, fleetView, minuteRow, recordedFleet } from '../../../support/recorded-fleet.ts';

let listener: FleetListener | undefined;
afterEach(async () => {
  await listener?.[Symbol.asyncDispose]();
  listener = undefined;
});

async function advise(...words: readonly string[]) {
  const rows = { chat: [minuteRow(Date.now() - 600_000)] };
  listener = await listenWithFleet(recordedFleet(() => fleetView([endpointView()]), rows));
  return pilotlight(['advise', ...words, '--url', listener.url]);
}

test.each([[[]], [['--journal']], [['--journal', '--json']]])(
  'a daemon that wants a token, or is not there, is one line and its exit code: advise %j',
  async (words) => {
    const server = createServer((_, response) => void response.writeHead(401).end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const closed = await pilotlight(['advise', ...words, '--url', url]);
    expect([closed.code, closed.stdout]).toEqual([4, '']);
    expect(closed.stderr).toMatch(/^[^\n]*wants a token: PILOTLIGHT_METRICS_TOKEN[^\n]*\n$/);
    await new Promise((resolve) => server.close(resolve));
    const away = await pilotlight(['advise', ...words, '--url', url]);
    expect([away.code, away.stdout]).toEqual([3, '']);
    expect(away.stderr).toMatch(/^[^\n]*api\/status: [^\n]+\n$/);
  },
);

test.each([[[]], [['--journal']]])(
  'a history that the daemon cannot read is said: advise %j',
  async (words) => {
    const historyTrouble = '/state/fleet.sqlite: unable to open database file';
    listener = await listenWithFleet(
      recordedFleet(() => fleetView([endpointView()], { historyTrouble }), {}),
    );
    const { code, stdout, stderr } = await pilotlight(['advise', ...words, '--url', listener.url]);
    expect(code).toBe(0);
    expect(stdout).not.toBe('');
    expect(stderr).toBe(`the daemon has no use of its history: ${historyTrouble}\n`);
  },
);

test.each(['foo', 'ftp://127.0.0.1', 'http://', '127.0.0.1:9847'])('%s is no address', async (url) => {
  for (const command of ['advise', 'fleet', 'status', 'healthcheck']) {
    const { code, stderr } = await pilotlight([command, '--url', url]);
    expect([command, code]).toEqual([command, 2]);
    expect(stderr).toContain('It is an address such as http://127.0.0.1:9847');
  }
});

test.each([['0s'], ['0'], ['-1s']])('a queue time of %s is none', async (time) => {
  const { code, stderr } = await pilotlight(['advise', '--p99', time]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--p99')]);
});

test('ten minutes of history are declined, in words', async () => {
  const { code, stdout } = await advise('chat');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^chat: declined: its load is known for \d+ s; an hour is the least/);
});

test('a narrow terminal breaks no line of the journal', async () => {
  const steering = {
    holds: 'the last change is not six hours old',
    pausedUntilMs: undefined,
    wanted: {},
    journal: [changeOf({ why: 'cheaper '.repeat(12).trim() })],
  };
  listener = await listenWithFleet(recordedFleet(() => fleetView([endpointView({ steering })]), {}));
  const { code, stdout } = await pilotlight(['advise', '--journal', '--url', listener.url], { columns: 20 });
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => line.length > 20)).toEqual([]);
});

test('one endpoint without an answer takes none of the others’ away', async () => {
  const fleet = fleetView([
    endpointView({ endpoint: 'new', id: 32, parameters: {} }),
    endpointView(),
    endpointView({ endpoint: 'newer', id: 33, parameters: {} }),
  ]);
  const rows = { chat: [minuteRow(Date.now() - 600_000)] };
  listener = await listenWithFleet(recordedFleet(() => fleet, rows));
  const { code, stdout, stderr } = await pilotlight(['advise', '--url', listener.url]);
  expect(code).toBe(2);
  expect(stdout).toMatch(/^chat: declined: /);
  expect(stderr).toMatch(/^error: new: the daemon does not know its parameters yet.*\n?newer: the daemon/);
});

test.each([
  [['--html', '/no/such/folder/page.html'], /--html .*no such file or directory/],
  [['--html', '/'], /--html \/: it is a folder; name a file in it/],
  [['--weight', 'tokens=1'], /--weight is of a --trace/],
  [['--time-unit', 'ms'], /--time-unit is of a --trace/],
  [['--journal', '--request-work', '5'], /--journal' cannot be used with option '--request-work/],
  [['--journal', '--html', 'page.html'], /--journal' cannot be used with option '--html/],
  [['--since', '401d'], /1h to 400d/],
  [['--since', '59m'], /1h to 400d/],
  [['--since', '7'], /It is a time such as 12h or 7d, from 1h to 400d/],
  [['--request-size', '0'], /It is a number above 0, such as 900/],
  [['nope'], /no endpoint nope; there is: chat/],
])('what cannot be done is said before anything is computed: advise %j', async (words, said) => {
  const { code, stdout, stderr } = await advise(...words);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(said);
});

test('a trace is read as plan reads it: what is asked for there can be said', async () => {
  using folder = temporaryFolder();
  const trace = join(folder.path, 'trace.csv');
  writeFileSync(trace, 'when,who\n1000,me\n2000,you\n');
  const without = await advise('chat', '--trace', trace);
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('Say --time-column NAME')]);
  await listener?.[Symbol.asyncDispose]();
  const words = ['--time-column', 'when', '--time-unit', 'ms', '--request-work', '5'];
  const { code, stdout, stderr } = await advise('chat', '--trace', trace, ...words);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^chat: declined: its load is known for /);
});

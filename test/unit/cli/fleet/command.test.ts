import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { ShownSettings } from '../../../../src/daemon/status/fleet.ts';
import type { EndpointView, FleetView } from '../../../../src/fleet/view.ts';
import { pilotlight, type Around } from '../../../support/console.ts';
import { serve } from '../../../support/local-server.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';
import { listenWithFleet, type FleetListener } from '../../../support/fleet-listener.ts';
import {
  endpointView,
  fleetView,
  recordedFleet,
  sampleAt,
  WATCH_ALL,
} from '../../../support/recorded-fleet.ts';

let listener: FleetListener | undefined;
afterEach(async () => {
  await listener?.[Symbol.asyncDispose]();
});

async function fleetOf(
  words: readonly string[],
  endpoints: readonly Partial<EndpointView>[],
  around?: Around,
  over?: Partial<FleetView>,
  watched: ShownSettings['endpoints'] = [{ by: 'all' }],
) {
  const views = () => endpoints.map((each) => endpointView(each));
  const settings = { ...WATCH_ALL, endpoints: watched, budgetPerHour: 5 };
  const fleet = recordedFleet(() => fleetView(views(), over));
  listener = await listenWithFleet(fleet, settings);
  return pilotlight(['fleet', ...words, '--url', listener.url], around);
}

test('prints a line for each where there is no terminal', async () => {
  const { code, stdout } = await fleetOf(['--once'], [{}, { endpoint: 'a\u001B[2Jb', id: 32 }]);
  expect(code).toBe(0);
  expect(stdout.replaceAll(/^\S+Z /gm, '').replaceAll(/seen 0\.\d s/g, 'seen 0.0 s')).toBe(
    'chat: active, load 42 of 60 ready (70%), 12 requests at work, 6 idle, 2 model_loading, 10 stopped, 3.20 an hour, seen 0.0 s ago\n' +
      'ab: active, load 42 of 60 ready (70%), 12 requests at work, 6 idle, 2 model_loading, 10 stopped, 3.20 an hour, seen 0.0 s ago\n' +
      'The endpoints cost 6.40 an hour, above PILOTLIGHT_BUDGET_PER_HOUR (5)\n',
  );
});

test('what others call an endpoint, or say of it, begins no line', async () => {
  const evil = { endpoint: 'a\nother: active', lastError: 'no\r\nfake: active' };
  for (const around of [{}, { columns: 160 }]) {
    const { stdout } = await fleetOf(['--once'], [evil], around);
    expect(stdout).toContain('no fake: active');
    expect(stdout).not.toMatch(/^(?:other|fake)/m);
  }
  const { stdout } = await pilotlight(['status', '--url', listener?.url ?? '']);
  expect(stdout).toContain('endpoint a other: active');
  expect(stdout).not.toMatch(/^(?:other|fake)/m);
  const json = await fleetOf(['--once', '--json'], [{ endpoint: '\u202E\u009B2J' }]);
  expect(json.stdout).toContain('"\\u202e\\u009b2J"');
});

test.each(['code', '32'])('shows one alone, by name or id: %s', async (wanted) => {
  const { code, stdout } = await fleetOf([wanted, '--once'], [{}, { endpoint: 'code', id: 32 }]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\S+ code: active/);
  expect(stdout.trim().split('\n')).toHaveLength(1);
});

test('prints what the status has of them as JSON', async () => {
  const { stdout } = await fleetOf(['chat', '--once', '--json'], [{}, { endpoint: 'code', id: 32 }]);
  expect(JSON.parse(stdout)).toMatchObject({
    now: expect.any(Number),
    samples: true,
    budget_per_hour: 5,
    endpoints: [{ endpoint_group: 'chat', endpoint_id: 31, load: 42, workers: { idle: 6 } }],
  });
  expect(stdout.trim().split('\n')).toHaveLength(1);
});

test('an endpoint that is not known is an error that names those that are', async () => {
  expect(await fleetOf(['caht', '--once'], [{}, { endpoint: 'code', id: 32 }])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'error: no endpoint caht; there is: chat, code\n',
  });
  expect(await fleetOf(['chat', '--once'], [])).toMatchObject({
    code: 2,
    stderr: 'error: no endpoint chat; None found (PILOTLIGHT_ENDPOINTS).\n',
  });
});

test('a daemon that watches no endpoint, or is just starting, says so', async () => {
  expect(await fleetOf(['--once'], [], {}, { samples: false }, [])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\S+ Endpoints: None configured \(PILOTLIGHT_ENDPOINTS\)\.\n$/),
  });
  expect(await fleetOf(['--once'], [], { columns: 80 }, { samples: false })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Endpoints: The daemon has not looked at them yet\.\n$/),
  });
});

test.each<[what: string, body: unknown]>([
  ['null', null],
  ['an object', {}],
  ['an endpoint without its fields', { ...EMPTY_STATUS, fleet: { ...EMPTY_STATUS.fleet, endpoints: [{}] } }],
  ['no replica', { ...EMPTY_STATUS, replica: undefined }],
  ['a time that no date has', { ...EMPTY_STATUS, now: 1e300 }],
])('what answers %s is no daemon of this version', async (_what, answer) => {
  const body = JSON.stringify(answer);
  await using server = await serve((_, response) => response.end(body));
  for (const words of [['fleet', '--once'], ['status']]) {
    const { code, stderr } = await pilotlight([...words, '--url', server.url]);
    expect([words, code]).toEqual([words, 3]);
    expect(stderr).toMatch(/^[^\n]*has no status[^\n]*of this version\?\n$/);
  }
});

/** Until its twentieth poll, of what `view` is at each. */
async function watchUntilStopped(
  view: (poll: number) => FleetView,
  words: readonly string[],
  columns?: number,
) {
  const stop = new AbortController();
  let polls = 0;
  listener = await listenWithFleet(
    recordedFleet(() => {
      if (++polls === 20) stop.abort();
      return view(polls);
    }),
  );
  const all = ['fleet', ...words, '--every', '10ms', '--url', listener.url];
  const ran = await pilotlight(all, { signal: stop.signal, ...(columns && { columns }) });
  expect(ran.code).toBe(130);
  return ran.stdout;
}

test('goes on until Ctrl-C, and says each sample once', async () => {
  const view = fleetView([endpointView({ sample: sampleAt(0), sampledAtMs: Date.now() })]);
  const stdout = await watchUntilStopped(() => view, []);
  expect(stdout.trim().split('\n')).toHaveLength(1);
});

test('draws again in place at a terminal, and shows the cursor at the end', async () => {
  const stdout = await watchUntilStopped(() => fleetView([endpointView()]), [], 100);
  expect(stdout.startsWith('\u001B[?25lENDPOINT')).toBe(true);
  expect(stdout.endsWith('\u001B[?25h')).toBe(true);
});

test('goes on while the daemon is away, or has only begun, and says so below what it saw last', async () => {
  const view = (poll: number) => fleetView(poll < 3 ? [endpointView()] : []);
  const stdout = await watchUntilStopped(view, ['chat'], 100);
  const last = stdout.split('ENDPOINT  ').at(-1) ?? '';
  expect(last).toMatch(/\nchat +/);
  expect(last).toContain('no endpoint chat; None found (PILOTLIGHT_ENDPOINTS).');
});

test('a daemon that hangs is waited for no longer than five seconds', async () => {
  const limit = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
  onTestFinished(() => timeout.mockRestore());
  await using server = await serve(() => limit.abort(new DOMException('too late', 'TimeoutError')));
  const { code, stderr } = await pilotlight(['fleet', '--once', '--url', server.url]);
  expect([code, stderr]).toEqual([3, `error: ${server.url}/api/status: too late\n`]);
  expect(timeout).toHaveBeenCalledWith(5_000);
});

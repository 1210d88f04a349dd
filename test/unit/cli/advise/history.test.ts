import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { fetchRecorded } from '../../../../src/cli/advise/history.ts';
import { fleetRow } from '../../../../src/daemon/http/fleet/answer.ts';
import { resolveDefaults } from '../../../../src/scaling/rules/check.ts';
import { minuteRow } from '../../../support/recorded-fleet.ts';

const HOUR = 3600;
/** What a daemon has, by the begin of what is asked for. */
let pages: Readonly<Record<string, object>> = {};
let isGone = false;
const asked: string[] = [];
const server = createServer((request, response) => {
  const query = new URL(request.url ?? '', 'http://daemon.test').searchParams;
  asked.push([...query].map(([name, value]) => `${name}=${value}`).join(' '));
  const page = pages[query.get('from') ?? ''] ?? { rows: [], measured: null };
  const endpoints = isGone ? [] : [{ endpoint_group: 'chat', endpoint_id: 31, ...page }];
  response.end(JSON.stringify({ from: 0, to: 1, endpoints }));
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => void (asked.length = 0));

const recorded = (to: number, parametersSince: number | null = null) =>
  fetchRecorded(
    {
      daemon: { url, token: undefined },
      endpoint: 'chat',
      parameters: resolveDefaults({}),
      parametersSince,
      from: 0,
      to,
    },
    new AbortController().signal,
  );

test('six hours at a time are asked for, and what lies in two of them is taken once', async () => {
  const row = (minute: number) => fleetRow(minuteRow(minute * 60_000, { load: minute }));
  const measured = { performance: [9, 11], start_seconds: { new: [300], cold: [30, 40] } };
  pages = {
    0: { rows: [row(1), row(359)], measured: { performance: [1], start_seconds: { new: [], cold: [] } } },
    21600: { rows: [row(359), row(361)], measured },
    43200: { rows: [], measured: null },
  };
  const { stretches, starts, performances, endpoint } = await recorded(13 * HOUR);
  expect(asked).toEqual([
    'endpoint=chat from=0 to=21600 rows=5000',
    'endpoint=chat from=21600 to=43200 rows=5000',
    'endpoint=chat from=43200 to=46800 rows=5000',
  ]);
  expect(stretches.map(({ fromMs, load }) => [fromMs / 60_000, load])).toEqual([
    [1, 1],
    [359, 359],
    [361, 361],
  ]);
  expect(stretches[0]).toMatchObject({
    isSample: false,
    toMs: 120_000,
    loadAverage: 40,
    readyCapacity: 60,
    costPerHour: 3.2,
  });
  expect([endpoint, performances]).toEqual(['chat', [9, 11]]);
  expect(starts).toEqual([
    { from: 'new', seconds: 300 },
    { from: 'cold', seconds: 30 },
    { from: 'cold', seconds: 40 },
  ]);
});

test('what was not known is no zero, and nothing is no recording', async () => {
  pages = { 0: { rows: [fleetRow(minuteRow(0, { load: null }))], measured: null } };
  const { stretches, starts, performances } = await recorded(HOUR);
  expect([stretches[0]?.load, starts, performances]).toEqual([null, [], []]);
});

test('an endpoint that is gone meanwhile is said', async () => {
  isGone = true;
  await expect(recorded(HOUR)).rejects.toThrow(`${url}: it no longer knows the endpoint chat`);
  isGone = false;
});

test('since when the parameters are these goes with it, where others were seen', async () => {
  pages = {};
  expect((await recorded(HOUR)).parametersSinceMs).toBeUndefined();
  expect((await recorded(HOUR, 1_800.5)).parametersSinceMs).toBe(1_800_500);
});

test('rows of another shape are no daemon of this version', async () => {
  pages = { 0: { rows: [{ from: 1 }] } };
  await expect(recorded(HOUR)).rejects.toThrow(/^[^\n]*is it a daemon of this version\?$/);
});

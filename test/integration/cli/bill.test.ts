/** `pilotlight bill` against what the emulator charged. */
import { expect, test } from 'vitest';
import { DAY_MS } from '../../../src/contract/times.ts';
import type { BillAnswer } from '../../../src/daemon/http/bill.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { serve } from '../../support/local-server.ts';
import { jsonIn, pilotlight } from '../../support/console.ts';

const DAYS = 3;

/** Some days of it have passed. */
async function charged(): Promise<Emulator> {
  const emulator = await startEmulator({ dialect: 'public', clock: { offsetMs: -DAYS * DAY_MS } });
  await emulator.clock.advance(DAYS * DAY_MS);
  return emulator;
}

/** What lists have, by the address that is asked for. */
function startService(rowsOf: (url: URL) => readonly object[]) {
  return serve((request, response) => {
    const results = rowsOf(new URL(request.url ?? '/', 'http://service'));
    response.end(JSON.stringify({ success: true, results, next_token: null }));
  });
}

function environmentOf({ url, apiKey }: Pick<Emulator, 'url' | 'apiKey'>) {
  // No daemon is there.
  return { BASE_URL: url, API_KEY: apiKey, LISTEN: '127.0.0.1:1' };
}

test('the days add up to what was charged, to a cent', async () => {
  await using emulator = await charged();
  const env = environmentOf(emulator);
  const { code, stdout } = await pilotlight(['bill', '--since', '5d', '--json'], { env });
  expect(code).toBe(0);
  const { days, month, uses, waste } = JSON.parse(stdout) as BillAnswer;
  const now = Date.now() / 1000;
  const range = { day: { gte: now - 40 * 86_400, lte: now + 86_400 }, type: { in: ['serverless'] } };
  const all = await pilotlight(['call', 'charges.list', JSON.stringify({ select_filters: range })], { env });
  const { results } = jsonIn(all) as { results: { amount: number }[] };
  const sum = (amounts: readonly number[]): number => amounts.reduce((total, each) => total + each, 0);
  expect(sum(days.map((day) => day.amount))).toBeCloseTo(sum(results.map(({ amount }) => amount)), 2);
  expect(days.length).toBeGreaterThanOrEqual(DAYS);
  expect(new Set(days.map((day) => `${day.endpoint_group} ${day.source}`))).toEqual(new Set(['chat billed']));
  expect([month?.forecast_low, uses, waste]).toEqual([null, null, null]);

  const table = await pilotlight(['bill', 'chat', '--since', '5d'], { env });
  expect(table.stdout).toMatch(
    /^DAY +chat +TOTAL +SOURCE\n(?:\d{4}-\d\d-\d\d(?: +\d+\.\d\d){2} +billed\n){3,4}in all /,
  );
  expect(table.stderr).toContain('Billed figures alone: no daemon tells more');
  const csv = (await pilotlight(['bill', '31', '--since', '1d', '--csv'], { env })).stdout.split('\r\n');
  expect(csv[1]).toMatch(/^\d{4}-\d\d-\d\d,chat,31,[\d.]+,billed,0,[\d.]+,[\d.]+,0,0,,,,$/);
});

test('an endpoint that is deleted stays in the bill; one that never was is named wrongly', async () => {
  await using emulator = await charged();
  const env = environmentOf(emulator);
  await pilotlight(['endpoint-group', 'delete', '31'], { env });
  expect((await pilotlight(['bill', '--since', '3d'], { env })).stdout).toMatch(/^DAY +#31 +TOTAL +SOURCE\n/);
  const unknown = await pilotlight(['bill', 'nope'], { env });
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no endpoint nope; there are: #31'),
  });
});

test('a charge of nobody knows whom makes no endpoint free; a day of which a charge is lost is left out', async () => {
  const ofNobody = { type: 'serverless', source: 'instance-7', amount: 1.5 };
  const today = new Date().toISOString().slice(0, 10);
  await using service = await startService((url) => {
    if (!url.pathname.startsWith('/api/v0/charges')) return [{ id: 31, endpoint_name: 'chat' }];
    const { day } = JSON.parse(url.searchParams.get('select_filters') ?? '') as { day: { gte: number } };
    return [ofNobody, ...(day.gte * 1000 === Date.parse(today) ? [{ ...ofNobody, amount: 'much' }] : [])];
  });
  const env = environmentOf({ url: service.url, apiKey: 'key' });
  const all = await pilotlight(['bill', '--since', '2d'], { env });
  expect(all.stdout).toMatch(/^DAY +not told +TOTAL +SOURCE\n(?:[\d-]+ +1\.50 +1\.50 +billed\n){2}in all /);
  expect(all.stderr).toContain('1 charge could not be read');
  const { stdout } = await pilotlight(['bill', 'chat', '--since', '2d'], { env });
  expect(stdout).toMatch(/^DAY +TOTAL +SOURCE\nin all +-\n\nNo forecast: nothing of this month is known\./);
  const wrong = await pilotlight(['bill', '--since', '2026-02-30'], { env });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('2026-02-30')]);
});

test('a key that may not read the bill is told which permission it lacks', async () => {
  const limited = { name: 'some', key: 'some-key', permissions: { api: { user_read: {} } } };
  const seed = { users: [{ id: 1, api_keys: [limited] }] };
  await using emulator = await startEmulator({ dialect: 'public', seed });
  const { code, stderr } = await pilotlight(['bill'], { env: environmentOf(emulator) });
  expect([code, stderr]).toEqual([4, expect.stringContaining('it needs the permission billing_read')]);
});

/** `pilotlight bill` against what the emulator charged. */
import { expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { pilotlight } from '../../support/console.ts';

const DAYS = 3;
const DAY_MS = 86_400_000;

/** Some days of it have passed. */
async function charged(permissions?: Record<string, unknown>): Promise<Emulator> {
  const emulator = await startEmulator({
    dialect: 'public',
    clock: { offsetMs: -DAYS * DAY_MS },
    ...(permissions && {
      seed: { users: [{ id: 1, api_keys: [{ name: 'some', key: 'some-key', permissions }] }] },
    }),
  });
  await emulator.clock.advance(DAYS * DAY_MS);
  return emulator;
}

function environmentOf({ url, apiKey }: Emulator) {
  return { BASE_URL: url, API_KEY: apiKey };
}

interface Row {
  readonly day: string;
  readonly endpoint: string | null;
  readonly total: number;
}

test('the days add up to what was charged, to a cent', async () => {
  await using emulator = await charged();
  const env = environmentOf(emulator);
  const { code, stdout } = await pilotlight(['bill', '--since', '5d', '--json'], { env });
  expect(code).toBe(0);
  const { rows, month } = JSON.parse(stdout) as { rows: Row[]; month: { days: number; forecast_low: null } };
  const now = Date.now() / 1000;
  const range = { day: { gte: now - 40 * 86_400, lte: now + 86_400 }, type: { in: ['serverless'] } };
  const all = await pilotlight(['call', 'charges.list', JSON.stringify({ select_filters: range })], { env });
  const { results } = JSON.parse(all.stdout) as { results: { amount: number }[] };
  const sum = (amounts: readonly number[]): number => amounts.reduce((total, each) => total + each, 0);
  expect(sum(rows.map(({ total }) => total))).toBeCloseTo(sum(results.map(({ amount }) => amount)), 2);
  expect(rows.length).toBeGreaterThanOrEqual(DAYS);
  expect(new Set(rows.map(({ endpoint }) => endpoint))).toEqual(new Set(['chat']));
  expect(month).toMatchObject({ forecast_low: null });

  const table = (await pilotlight(['bill', 'chat', '--since', '5d'], { env })).stdout;
  expect(table).toMatch(/^DAY +chat +TOTAL\n(?:\d{4}-\d\d-\d\d +\d+\.\d\d +\d+\.\d\d\n){6}in all /);
  expect(table).toContain('as fewer than two weeks are known');
  const csv = (await pilotlight(['bill', '31', '--since', '1d', '--csv'], { env })).stdout.split('\n');
  expect(csv[0]).toBe('day,endpoint_id,endpoint,gpu,disk,bandwidth,other,total');
  expect(csv[1]).toMatch(/^\d{4}-\d\d-\d\d,31,chat,[\d.]+,[\d.]+,0,0,[\d.]+$/);
});

test('an endpoint that is deleted stays in the bill; one that never was is named wrongly', async () => {
  await using emulator = await charged();
  const env = environmentOf(emulator);
  await pilotlight(['endpoint-group', 'delete', '31'], { env });
  expect((await pilotlight(['bill', '--since', '3d'], { env })).stdout).toMatch(/^DAY +#31 +TOTAL\n/);
  const unknown = await pilotlight(['bill', 'nope'], { env });
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no endpoint nope; there are: #31'),
  });
});

test('a key that may not read the bill is told which permission it lacks', async () => {
  await using emulator = await charged({ api: { user_read: {} } });
  const { code, stderr } = await pilotlight(['bill'], { env: environmentOf(emulator) });
  expect([code, stderr]).toEqual([4, expect.stringContaining('it needs the permission billing_read')]);
});

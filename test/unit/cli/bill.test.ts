/** What `pilotlight bill` prints of a daemon's bill, to the letter. */
import { expect, test } from 'vitest';
import { billAnswer, type BillDay } from '../../../src/daemon/http/bill.ts';
import { pilotlight } from '../../support/console.ts';
import { EMPTY_STATUS } from '../../support/empty-status.ts';
import { serve } from '../../support/local-server.ts';

const EMPTY = billAnswer({ spends: [], now: new Date(7_000), since: 1, view: undefined });
const BILLED = { gpu: 1.5, disk: 0.25, bandwidth: 0.125, other: 0 };
const ROW = { day: '2026-11-01', endpoint_id: 1, seen_hours: 24, uses: null, billed: null } as const;
const dayOf = (endpoint: string, amount: number, more: Partial<BillDay> = {}): BillDay =>
  Object.assign({ endpoint_group: endpoint, amount, source: 'billed' as const }, ROW, more);
const USES = { working: 1, idle: 2, starting: 3, stopped: 4 };
const SO_FAR = { month: '2026-11', so_far: { amount: 1234.5, source: 'told' }, unknown_days: 0 };

/** Runs `bill` against a daemon with this answer. `asked`: what the daemon was asked for. */
async function billOf(bill: unknown, words = '', fleet = {}) {
  let asked = '';
  const status = { ...EMPTY_STATUS, fleet: { ...EMPTY_STATUS.fleet, configured: true, ...fleet } };
  await using server = await serve(({ url = '' }, response) => {
    if (url.startsWith('/api/bill')) asked = url;
    response.end(JSON.stringify(asked === '' ? status : bill));
  });
  const ran = await pilotlight(['bill', ...words.split(' ').filter(Boolean), '--url', server.url]);
  return { ...ran, stderr: ran.stderr.replace(server.url, 'URL'), asked };
}

test('all that a daemon knows: the dearest endpoint first, and what the month comes to', async () => {
  const hour = { from: 1_793_534_400, amount: 9, source: 'estimated', usual: 3, endpoint_group: 'a' };
  const moved = { load: -0.001, price: 2, parameters: 0, starts: -3, other: 0 };
  const { asked, stdout, stderr, code } = await billOf(
    {
      ...EMPTY,
      days: [
        ...'abcdefg'.split('').map((name, index) => dayOf(name, index)),
        dayOf('a', 1, { day: '2026-11-02', source: 'told', billed: BILLED }),
      ],
      today: { amount: 2, source: 'estimated' },
      month: { ...SO_FAR, unknown_days: 1, forecast: 40, forecast_low: 30, forecast_high: 50, days: 28 },
      uses: USES,
      per_1000_units: 0.05,
      dearest_hours: [{ ...hour, ready_workers: 2.5, starting_workers: 1, uses: USES }],
      yesterday: { day: '2026-11-02', before: '2026-10-26', amount: -1, source: 'billed', ...moved },
      waste: { idle: 1, starting: null, orphans: 0.5, orphan_instances: null },
      unanswered: [
        { permission: 'billing_read', is_missing: true, error: '' },
        { permission: 'user_read', is_missing: false, error: 'status 503' },
      ],
    },
    'a --since 3d',
  );
  const uses = 'at work 1.00, ready without requests 2.00, starting 3.00, stopped 4.00';
  expect([code, stderr, asked]).toEqual([0, '', '/api/bill?since=3d&endpoint=a']);
  expect(stdout.split('\n')).toEqual([
    'DAY            g     f     e     d     c     a  OTHERS  TOTAL        SOURCE',
    '2026-11-01  6.00  5.00  4.00  3.00  2.00  0.00    1.00  21.00        billed',
    '2026-11-02     -     -     -     -     -  1.00       -   1.00          told',
    'in all      6.00  5.00  4.00  3.00  2.00  1.00    1.00  22.00  billed, told',
    '',
    'Billed: GPU 1.50, disk 0.25, bandwidth 0.13.',
    'Today so far: 2.00 (estimated).',
    '2026-11: 1,234.50 (told) so far, without 1 day that were not recorded, 40.00 (30.00 to 50.00), by weekday from the last 28 days, at its end.',
    `Workers (estimated): ${uses}.`,
    'For 1,000 units of work: 0.0500.',
    'Dearest hours:',
    `  2026-11-01 12:00  9.00 (estimated), usual 3.00: 2.5 workers ready, 1 starting, most of a; ${uses}`,
    '2026-11-02 cost -1.00 (billed) against 2026-10-26: load +0.00, price +2.00, parameters +0.00, starts -3.00, other +0.00 (estimated).',
    'Wasted now, an hour (estimated): ready without requests 1.00, starting not known, instances without a worker 0.50 (not known).',
    'The key lacks the permission billing_read.',
    'Not told (user_read): status 503.',
    'In dollars, by UTC days. Estimated: by the prices of instances, without bandwidth.',
    '',
  ]);
  expect((await billOf(EMPTY, '--json')).stdout).toMatch(/^\{"now":7,"days":\[\],.*\}\n$/);
  expect((await pilotlight(['bill'], { signal: AbortSignal.abort() })).code).toBe(130);
});

test('a daemon that has just started says what it does not know yet', async () => {
  const month = { ...SO_FAR, forecast: 40, forecast_low: null, forecast_high: null, days: 2 };
  const days = [dayOf('a', 2, { billed: { ...BILLED, other: 2 } })];
  const { asked, stdout } = await billOf({ ...EMPTY, days, month });
  expect(asked).toBe('/api/bill?since=30d');
  expect(stdout.split('\n').slice(4, -2)).toEqual([
    'Billed: GPU 1.50, disk 0.25, bandwidth 0.13, other 2.00.',
    '2026-11: 1,234.50 (told) so far, 40.00; without a range, as fewer than two weeks are known (2 days), at its end.',
    'By kind of use: not known, as no instance has a known price.',
    'For 1,000 units of work: not known, as only workers that report a rate tell how much they did.',
    'Yesterday and the same weekday before: not compared, as both must have been seen.',
  ]);
  const none = await billOf({ ...EMPTY, month: { ...month, forecast: null } });
  expect(none.stdout).toContain(' so far, no forecast yet, as no whole day is known.\n');
});

test.each([
  ['', { configured: false }, 'the daemon at URL watches no endpoint (PILOTLIGHT_ENDPOINTS)'],
  ['', { samples: false }, 'another replica than  watches the endpoints'],
  ['', {}, 'the daemon at URL is of another version'],
  ['--since 40d', {}, 'a daemon remembers 39 days'],
])('a daemon that is named and cannot say is exit code 3: %s %j', async (words, fleet, said) => {
  expect(await billOf({}, words, fleet)).toMatchObject({ code: 3, stdout: '', stderr: `error: ${said}\n` });
});

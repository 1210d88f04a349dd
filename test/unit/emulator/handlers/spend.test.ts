/** What instances and workers cost, as the service says it now and charges it by the day. */
import { expect, test } from 'vitest';
import { publicDialect } from '../../../../src/emulator/dialect.ts';
import type { Seed } from '../../../../src/emulator/index.ts';
import { createLab, MINUTE } from '../../../support/two-factor.ts';

const HOUR = 60 * MINUTE;
const MIDNIGHT = Date.UTC(2026, 5, 1) / 1000;
const DAY = 86_400;

/** The clock shows noon. 501 runs at 1 $/h for an endpoint since 9:00; 502 has no endpoint, and runs at 2 $/h since noon. */
const SEED: Seed = {
  settings: { diskPriceShare: 0.1 },
  users: [{ id: 1, api_keys: [{ name: 'a', key: 'a' }] }],
  deployments: [],
  machines: [{ id: 11 }],
  instances: [
    {
      id: 501,
      machine_id: 11,
      dph_total: 1,
      age_seconds: 3 * 3600,
      statuses: [{ actual_status: 'running' }],
    },
    { id: 502, machine_id: 11, dph_total: 2, statuses: [{ actual_status: 'running' }] },
  ],
  workergroups: [{ id: 7, endpoint_id: 31, workers: [501] }],
  endpoint_groups: [
    { id: 31, endpoint_name: 'chat', min_load: 900, cold_workers: 0, cold_mult: 1, max_workers: 1 },
  ],
  offers: [
    { id: 1, machine_id: 11, dph_total: 0.5 },
    { id: 2, machine_id: 11, dph_total: 0.3, num_gpus: 2 },
    { id: 3, machine_id: 11, dph_total: 0.2, gpu_name: 'H100' },
  ],
};

function world() {
  const lab = createLab({}, publicDialect, SEED);
  const ask = (method: string, path: string, body?: object) =>
    lab.send(method, path, body ? JSON.stringify(body) : '', 'a');
  const charges = (filters: object, more = '') =>
    ask('GET', `/api/v0/charges/?select_filters=${encodeURIComponent(JSON.stringify(filters))}${more}`);
  return { ask, charges, advance: (ms: number) => lab.advance(ms) };
}

const TODAY = { day: { gte: MIDNIGHT, lte: MIDNIGHT + DAY - 1 } };

test('spend is that of the workers now, and of a stopped one its disk', () => {
  const { ask } = world();
  const rate = () => ask('GET', '/api/v0/users/spend-rate/').body as unknown;
  const spend = (of: string) => ask('GET', `/api/v0/serverless/${of}/spend`).body as unknown;
  expect(spend('endpoints')).toMatchObject({ endpoints: [{ id: 31, hourly_spend: 1 }], success: true });
  expect(spend('workergroups')).toMatchObject({ workergroups: [{ id: 7, hourly_spend: 1 }] });
  expect(rate()).toMatchObject({ gpu_cost_per_hour: 2.7, has_active_resources: true });
  ask('PUT', '/api/v0/endptjobs/31/', { endpoint_state: 'stopped' });
  ask('DELETE', '/api/v0/instances/502/');
  expect(spend('endpoints')).toMatchObject({ endpoints: [{ id: 31, hourly_spend: 0.1 }] });
  expect(rate()).toMatchObject({ gpu_cost_per_hour: 0, container_storage_cost_per_hour: 0.1 });
});

test('charges are what was used, by status and day, also of what is gone', () => {
  const { ask, advance, charges } = world();
  advance(2 * HOUR);
  ask('PUT', '/api/v0/instances/502/', { state: 'stopped' });
  advance(HOUR);
  ask('DELETE', '/api/v0/instances/502/');
  advance(10 * HOUR);
  const day = charges(TODAY).body as { results: object[] };
  // Until midnight 501 ran for fifteen hours; 502 ran for two, and kept its disk for three.
  expect(day.results).toMatchObject([
    {
      source: 'instance-502',
      amount: 4.2,
      items: [
        { type: 'gpu', source: null, amount: 3.6, description: '1x RTX 4090', items: [] },
        { type: 'disk', source: null, amount: 0.6, description: '1x RTX 4090', items: [] },
      ],
    },
    { source: 'instance-501', amount: 15, metadata: { endpoint_id: 31, workergroup_id: 7 } },
  ]);
  const both = charges({ day: { gte: MIDNIGHT, lte: MIDNIGHT + 2 * DAY }, type: { in: ['serverless'] } });
  expect(both.body).toMatchObject({ total: 1, results: [{ source: 'instance-501', amount: 16 }] });
});

test('the tree has what works for an endpoint below it and its worker group', () => {
  const { charges } = world();
  const { body } = charges({ ...TODAY, type: { in: ['serverless'] } }, '&format=tree');
  const below = [{ source: 'workergroup-7', amount: 3, items: [{ source: 'instance-501' }] }];
  const endpoint = { type: 'serverless', source: 'endpoint-31', amount: 3, items: below };
  expect(body).toMatchObject({ results: [endpoint] });
});

test('charges come by page; a page has at most 500 rows, and both ends of the days are needed', () => {
  const { advance, charges } = world();
  advance(HOUR);
  const first = charges(TODAY, '&limit=1').body as Record<string, unknown>;
  expect(first).toMatchObject({ count: 1, total: 2, results: [{ source: 'instance-502' }] });
  const second = charges(TODAY, `&limit=1&after_token=${String(first['next_token'])}`).body as object;
  expect(second).toMatchObject({ results: [{ source: 'instance-501' }], next_token: null });
  expect(charges(TODAY, '&limit=501')).toMatchObject({ status: 400, body: { error: 'bad_request' } });
  const msg = "Must provide both 'day' gte and lte filters for instance charges";
  for (const incomplete of [{ day: { gte: MIDNIGHT } }, { type: { in: ['serverless'] } }])
    expect(charges(incomplete)).toMatchObject({ status: 400, body: { msg } });
});

test('offers are found by what they are, in order, and none that is rented', () => {
  const { ask } = world();
  const found = (body: object) => {
    const { offers } = ask('POST', '/api/v0/bundles/', body).body as { offers: { id: number }[] };
    return offers.map(({ id }) => id);
  };
  expect(found({ order: [['dph_total', 'asc']], limit: 2, type: 'on-demand' })).toEqual([3, 2]);
  expect(found({ gpu_name: { in: ['RTX 4090'] }, num_gpus: { lt: '2' } })).toEqual([1]);
  ask('PUT', '/api/v0/asks/3/', { image: 'a' });
  expect(found({ order: [['dph_total', 'desc']] })).toEqual([1, 2]);
  expect(found({ rentable: { eq: false } })).toEqual([3]);
});

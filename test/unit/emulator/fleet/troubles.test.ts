/** What goes wrong at endpoints, as it was seen at the service (evidence 3.3, 5.1, 5.2, 5.4), on a clock that is moved. */
import { expect, test } from 'vitest';
import type { Worker } from '../../../../src/contract/operations/serverless/workers.ts';
import { publicDialect } from '../../../../src/emulator/dialect.ts';
import type { Seed, SettingsInput } from '../../../../src/emulator/index.ts';
import { createLab } from '../../../support/two-factor.ts';

const LOAD = { shape: 'constant', rate: 50, request_work: 50 } as const;

function started(parameters: object, settings: SettingsInput = {}) {
  const usual = { id: 31, endpoint_name: 'chat', cold_mult: 1, cold_workers: 0, max_workers: 1 };
  const endpoint_groups = [{ ...usual, ...parameters }];
  const seed: Seed = { instances: [], workergroups: [{ id: 7, endpoint_id: 31 }], endpoint_groups };
  const lab = createLab({ randomSeed: 3, ...settings }, publicDialect, seed);
  const send = (method: string, path: string, body: object) =>
    lab.send(method, path, JSON.stringify(body), 'emulator-key').body;
  const workers = () => JSON.parse(String(send('POST', '/get_endpoint_workers/', { id: 31 }))) as Worker[];
  const statuses = () => workers().map(({ status }) => status);
  const instances = () => (send('GET', '/api/v0/instances/', {}) as { instances: object[] }).instances;
  /** When something was said, seconds since the start. */
  const times = (text: string) =>
    lab.endpointGroups
      .lines('chat', 'info1')
      .filter((line) => line.includes(text))
      .map((line) => Math.round(Number(line.split('[')[0]) - begins / 1000));
  const begins = lab.now();
  return { lab, workers, statuses, instances, times };
}

test.each([
  ['of an endpoint whose starts hang', {}, true],
  ['that takes longer than the service waits', { workerModelLoadingSeconds: 900 }, false],
])('a start %s is given up after 791 to 795 s, and its worker after the third time', (_, settings, hangs) => {
  const { lab, statuses, times } = started({ load: LOAD }, settings);
  lab.endpointGroups.hang('chat', hangs);
  lab.advance(2_500_000);
  const [first = 0, second = 0, third = 0] = times('gives up the start');
  // It is recruited after 5 s, and begins to load its model 30 s later.
  for (const given of [first - 5, second - first, third - second]) {
    expect(given).toBeGreaterThanOrEqual(30 + 790);
    expect(given).toBeLessThanOrEqual(30 + 796);
  }
  expect(times('destroys')).toEqual([third]);
  expect(statuses()).toEqual(['loading']);
});

test('a worker whose instance fails on its way has died too', () => {
  const { lab, workers } = started({ load: LOAD });
  lab.advance(20_000);
  lab.instances.setStatus(workers()[0]?.id ?? 0, 'offline');
  expect(lab.endpointGroups.get('chat')).toMatchObject({ deaths: 1, workers: { error: 1 } });
});

test('a start from cold is given up after 300 s', () => {
  const { lab, times } = started({ min_cold_load: 50 });
  lab.advance(120_000);
  lab.endpointGroups.hang('chat', true);
  lab.load.set('chat', LOAD);
  lab.advance(400_000);
  const [from = 0] = times('from cold');
  expect(times('gives up the start')).toEqual([from + 300]);
});

test('a worker that is stranded never starts again, holds its place, and shows no error', () => {
  const { lab, workers, statuses, instances, times } = started({ min_cold_load: 50 });
  lab.advance(120_000);
  expect(statuses()).toEqual(['stopped']);
  lab.workers.set(workers()[0]?.id ?? 0, { stranded: true });
  lab.load.set('chat', LOAD);
  lab.advance(3_600_000);
  expect(statuses()).toEqual(['stopped']);
  expect(instances()).toMatchObject([{ actual_status: 'exited', intended_status: 'running' }]);
  expect(times('recruits')).toEqual([]);
  expect(lab.endpointGroups.get('chat').waiting).toBeGreaterThan(0);
});

test('with as many cold workers as there may be at all it flaps, if the trait has it so', () => {
  const { lab, times, statuses } = started({ cold_workers: 1, load: LOAD });
  lab.advance(200_000);
  expect(times('creating 1 workers')).toEqual([]);
  lab.traits.set({ cold_at_max: 'flaps' });
  lab.advance(60_000);
  expect(times('creating 1 workers').map((at, index, all) => at - (all[index - 1] ?? at - 5))).toEqual(
    Array.from({ length: 12 }, () => 5),
  );
  expect(new Set(statuses())).toEqual(new Set(['created', 'destroying', 'idle']));
});

test('a counter stays until it is set, and a machine is as slow as it is made', () => {
  const { lab, workers } = started({ min_load: 50 });
  lab.advance(120_000);
  const { id = 0 } = workers()[0] ?? {};
  lab.workers.set(id, { stuck_requests: 1, perf: 40 });
  lab.advance(60_000);
  expect(workers()[0]).toMatchObject({ reqs_working: 1, cur_load: 100, cur_perf: 0, measured_perf: 40 });
  expect(lab.endpointGroups.get('chat').readyCapacity).toBe(40);
  lab.workers.set(id, { stuck_requests: 0 });
  expect(workers()[0]).toMatchObject({ reqs_working: 0, cur_load: 0 });
});

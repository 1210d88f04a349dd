/** What an engine does in minutes, to the second: the same seed gives the same story. */
import { expect, test } from 'vitest';
import { publicDialect } from '../../../../src/emulator/dialect.ts';
import type { Seed, SettingsInput } from '../../../../src/emulator/index.ts';
import type { LoadInput } from '../../../../src/emulator/state/serverless.ts';
import { engineLine } from '../../../support/emulated-log.ts';
import { createLab } from '../../../support/two-factor.ts';

const PERFORMANCE: SettingsInput = { workerPerformanceLeast: 100, workerPerformanceMost: 100, randomSeed: 3 };

function endpoint(load: LoadInput, instances: NonNullable<Seed['instances']>, most: number) {
  const parameters = { max_workers: most, cold_workers: 1, cold_mult: 1, target_util: 0.8 };
  return {
    instances,
    workergroups: [{ id: 7, endpoint_id: 31, workers: instances.map(({ id }) => id) }],
    endpoint_groups: [{ id: 31, endpoint_name: 'chat', ...parameters, load }],
  };
}

function started(seed: Seed, settings: SettingsInput = {}) {
  const lab = createLab({ ...PERFORMANCE, ...settings }, publicDialect, seed);
  const send = (method: string, path: string, body: object) =>
    lab.send(method, path, JSON.stringify(body), 'emulator-key').body as Record<string, unknown>;
  const lines = (level: 'info0' | 'info1' | 'trace') =>
    String(send('POST', '/get_endpoint_logs/', { id: 31, tail: -1 })[level])
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => {
        const [seconds, text] = engineLine(line) ?? [];
        if (seconds === undefined) return line;
        const time = new Date(seconds * 1_000).toISOString().slice(11, 23);
        return `${time.replace(/\.000$/, '')} ${text}`;
      });
  const activity = () => lab.endpointGroups.get('chat');
  return { lab, send, lines, activity };
}

test('a load that rises and ends; fewer workers allowed; stopped, and active again with a least load', () => {
  const load: LoadInput = { shape: 'constant', rate: 50, request_work: 50 };
  const running = [{ id: 501, machine_id: 11, statuses: [{ actual_status: 'running' as const }] }];
  const { lab, send, lines } = started(endpoint(load, running, 3));
  lab.advance(200_000);
  lab.load.set('chat', { shape: 'constant', rate: 180, request_work: 180 });
  lab.advance(400_000);
  lab.load.stop('chat');
  lab.advance(100_000);
  send('PUT', '/api/v0/endptjobs/31/', { max_workers: 2 });
  lab.advance(60_000);
  send('PUT', '/api/v0/endptjobs/31/', { endpoint_state: 'stopped' });
  lab.advance(60_000);
  send('PUT', '/api/v0/endptjobs/31/', { endpoint_state: 'active', min_load: 80 });
  lab.advance(400_000);
  expect(lines('info1')).toEqual([
    '12:03:20 another load: constant',
    '12:03:35 recruits 502 for worker group 7, recruits 503 for worker group 7: wants 208 units/s ready, 208 with stopped ones, at least 1 workers; estimated load 83.3 units/s, 0 requests wait, a wait of 12.5 s',
    '12:04:35 502 is ready after 60 s (creating)',
    '12:04:35 503 is ready after 60 s (creating)',
    '12:10:00 the load is stopped',
    '12:11:10 stops 501: wants 0 units/s ready, 0 with stopped ones, at least 1 workers; estimated load 0 units/s, 0 requests wait, a wait of 0 s',
    '12:11:35 stops 502: wants 0 units/s ready, 0 with stopped ones, at least 1 workers; estimated load 0 units/s, 0 requests wait, a wait of 0 s',
    '12:11:40 set {"max_workers":2}',
    '12:11:45 destroys 502: wants 0 units/s ready, 0 with stopped ones, at least 1 workers; estimated load 0 units/s, 0 requests wait, a wait of 0 s',
    '12:12:05 stops 503: wants 0 units/s ready, 0 with stopped ones, at least 1 workers; estimated load 0 units/s, 0 requests wait, a wait of 0 s',
    '12:12:40 the endpoint is stopped, with 3 workers',
    '12:13:40 set {"min_load":80}',
    '12:13:40 the endpoint is active, with 2 workers',
    '12:13:40 starts 501 from cold: wants 100 units/s ready, 100 with stopped ones, at least 1 workers; estimated load 0 units/s, 0 requests wait, no worker is ready',
    '12:14:00 501 is ready after 20 s (starting)',
  ]);
  // Each look that saw something, and its load.
  const looks = lines('info0').filter((line) => line.includes(' estimated load ') && !line.includes('wants'));
  expect([looks.length, looks[0], looks.at(-1)]).toEqual([
    132,
    '[manage_workers][update_strategy] estimated load 50 units/s, 0 requests wait, a wait of 0 s',
    '[manage_workers][update_strategy] estimated load 3 units/s, 0 requests wait, a wait of 0 s',
  ]);
  const capacities = lines('trace').filter((line) => line.startsWith('types.h[1363] run_value '));
  expect(new Set(capacities.map((line) => line.split(' ')[2]))).toEqual(
    new Set(['100.00', '300.00', '200.00', '0.00']),
  );
});

test('workers die, are stopped by their owner, or never run', () => {
  const instances: NonNullable<Seed['instances']> = [
    {
      id: 501,
      machine_id: 11,
      statuses: [{ actual_status: 'running', seconds: 200 }, { actual_status: 'exited' }],
    },
    { id: 502, machine_id: 11 },
    { id: 503, machine_id: 11, statuses: [{ actual_status: 'offline' }] },
  ];
  const load: LoadInput = { shape: 'poisson', rate: 150, request_work: 50 };
  const { lab, send, lines, activity } = started(endpoint(load, instances, 4));
  lab.advance(300_000);
  send('PUT', '/api/v0/instances/502/', { state: 'stopped' });
  lab.advance(120_000);
  send('PUT', '/api/v0/instances/502/', { state: 'running' });
  lab.advance(90_000);
  expect(lines('info1').map((line) => line.replace(/: wants .*/, ''))).toEqual([
    '12:00:15 recruits 504 for worker group 7',
    '12:00:20 recruits 505 for worker group 7',
    '12:01:00 502 is ready after 60 s (creating)',
    '12:01:15 504 is ready after 60 s (creating)',
    '12:01:20 505 is there after 60 s and not wanted now: it stops',
    '12:03:20 501 has died, and 1 requests with it',
    '12:03:25 starts 505 from cold',
    '12:03:45 505 is ready after 20 s (starting)',
    '12:05:00 stops 502',
    '12:05:25 starts 502 from cold',
    '12:05:45 502 is ready after 20 s (starting)',
    '12:07:05 stops 505',
    '12:07:10 starts 505 from cold',
    '12:07:30 505 is ready after 20 s (starting)',
  ]);
  expect(activity()).toMatchObject({
    requests: 1_557,
    taken: 1_557,
    lost: 1,
    deaths: 1,
    starts: { fromCold: 3, fromNothing: 2 },
    workers: { error: 1, idle: 3 },
  });
  expect(activity().estimatedLoad).toBeCloseTo(178.48, 2);
  expect(activity().queueTime.p99).toBeCloseTo(29.42, 2);
});

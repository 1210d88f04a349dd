/** What is asked of workers, what they report of it, and how their logs grow with it. */
import { describe, expect, test } from 'vitest';
import { publicDialect } from '../../../../src/emulator/dialect.ts';
import { Requests, shareOf } from '../../../../src/emulator/fleet/requests.ts';
import { NO_LOAD } from '../../../../src/emulator/fleet/workers.ts';
import { STATE, type State } from '../../../../src/scaling/planner/model/workers.ts';
import { createLab } from '../../../support/two-factor.ts';

describe('the load that is asked', () => {
  test('is that between two looks, and each worker has its share of it', () => {
    const asked = new Requests(60);
    asked.arrived(30);
    asked.arrived(20);
    const rateOf = (share: number, now = 1) => asked.rateOf(0, { share, speed: 100 }, now);
    expect(rateOf(1)).toEqual(NO_LOAD);
    asked.looked(40, 5);
    for (const to of [2, 3]) asked.taken(0, 501, { request: 0, work: 50, from: 1, to });
    const half = { cur_load: 5, cur_load_rolling_avg: 20, new_load: 25, cur_perf: 100, reqs_working: 2 };
    expect(rateOf(0.5)).toEqual(half);
    asked.arrived(10);
    asked.looked(8, 4);
    expect(rateOf(1)).toMatchObject({ cur_load: 2.5, cur_load_rolling_avg: 8 });
    asked.looked(0, 4);
    expect(rateOf(1, 9)).toEqual({ ...NO_LOAD, cur_perf: 100 });
  });

  const { none, hot, cold, starting, creating, draining } = STATE;
  test.each<[string, State[], number[]]>([
    ['of those that are ready', [hot, cold, hot, starting], [1 / 4, 0, 3 / 4, 0]],
    ['of those that will be, or were', [cold, starting, creating, draining], [0, 2 / 9, 3 / 9, 4 / 9]],
    ['of cold ones where there are no others', [cold, none, cold], [1 / 4, 0, 3 / 4]],
    ['of nobody', [none, none], [0, 0]],
  ])('is asked %s, by what each can do', (_, states, shares) => {
    const places = states.map((_state, place) => place);
    const model = {
      stateOf: (place: number) => states[place] ?? none,
      speedOf: (place: number) => place + 1,
    };
    expect(places.map((place) => shareOf(place, places, model))).toEqual(
      shares.map((share) => expect.closeTo(share, 12) as number),
    );
  });
});

test('a newer worker reports what it had in flight, received and served, as of its last report', () => {
  const reports = new Requests(60);
  // The worker 501 reports every 8 s.
  const seen = (now: number, share = 0) => reports.inFlight(0, { share, worker: 501 }, now);
  for (const work of [30, 20, 50]) reports.arrived(work);
  reports.taken(0, 501, { request: 0, work: 30, from: 1, to: 4 });
  reports.taken(0, 501, { request: 0, work: 20, from: 2, to: 20 });
  expect(seen(7)).toMatchObject({ cur_load: 0, new_load: 0, cur_perf: 0 });
  expect(seen(8)).toMatchObject({ cur_load: 20, new_load: 50, cur_perf: 30, reqs_working: 1 });
  const average = (30 * 3 + 20 * 14) / 60;
  const before = { cur_load: 20, new_load: 0, cur_perf: 0, cur_load_rolling_avg: average };
  expect(seen(23.9)).toMatchObject(before);
  expect(seen(24)).toMatchObject({ cur_load: 0, new_load: 0, cur_perf: 20 });
  expect(seen(24, 0.5)).toMatchObject({ cur_load: 25 });
  reports.abandon(0, 50);
  expect(seen(24, 0.5)).toMatchObject({ cur_load: 0 });
  reports.lose(0, 3);
  expect(seen(8)).toMatchObject({ cur_load: 0, new_load: 0, cur_perf: 0 });
});

test('a log grows with the workers that serve, and by a tenth of that while nothing is asked of them', () => {
  const statuses = [{ actual_status: 'running' as const }];
  const parameters = { min_load: 300, target_util: 1, cold_mult: 1, cold_workers: 0, max_workers: 3 };
  const seed = {
    instances: [501, 502, 503].map((id) => ({ id, machine_id: 11, statuses })),
    workergroups: [{ id: 7, endpoint_id: 31, workers: [501, 502, 503], lines_per_second: 2 }],
    endpoint_groups: [{ id: 31, endpoint_name: 'chat', ...parameters }],
  };
  const lab = createLab({ workerPerformanceLeast: 100, workerPerformanceMost: 100 }, publicDialect, seed);
  const linesIn = (seconds: number) => {
    const before = lab.workergroups.get(7).lineCount;
    lab.advance(seconds * 1_000);
    return lab.workergroups.get(7).lineCount - before;
  };
  lab.load.set('chat', { shape: 'constant', rate: 50, request_work: 50 });
  lab.advance(60_000);
  expect(linesIn(100)).toBe(600);
  lab.load.stop('chat');
  lab.advance(120_000);
  expect(linesIn(100)).toBe(60);
});

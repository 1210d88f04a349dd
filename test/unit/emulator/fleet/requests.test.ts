/** What is asked of workers, what they have and lose, and what their logs and their endpoint tell of it. */
import { describe, expect, test } from 'vitest';
import { publicDialect } from '../../../../src/emulator/dialect.ts';
import { Requests, shareOf } from '../../../../src/emulator/fleet/requests.ts';
import {
  createGroupLog,
  growthRate,
  lineCount,
  setGrowth,
} from '../../../../src/emulator/state/worker-log.ts';
import { STATE, type State } from '../../../../src/scaling/planner/model/workers.ts';
import { createLab } from '../../../support/two-factor.ts';

describe('the load that is asked', () => {
  test('is that between two looks, and each worker has its share of it', () => {
    const asked = new Requests(60);
    asked.arrived(30);
    asked.arrived(20);
    const rateOf = (share: number, now = 1) => asked.rateOf(0, { share, speed: 100 }, now);
    expect(rateOf(1)).toEqual({
      cur_load: 0,
      cur_load_rolling_avg: 0,
      new_load: 0,
      cur_perf: 0,
      reqs_working: 0,
    });
    asked.looked(40, 5);
    for (const to of [2, 3]) asked.taken(0, 501, { request: 0, work: 50, from: 1, to });
    expect(rateOf(0.5)).toEqual({
      cur_load: 5,
      cur_load_rolling_avg: 20,
      new_load: 25,
      cur_perf: 100,
      reqs_working: 2,
    });
    asked.arrived(10);
    asked.looked(8, 4);
    expect(rateOf(1)).toMatchObject({ cur_load: 2.5, cur_load_rolling_avg: 8 });
    asked.looked(0, 4);
    expect(rateOf(1, 9)).toMatchObject({
      cur_load: 0,
      cur_load_rolling_avg: 0,
      cur_perf: 100,
      reqs_working: 0,
    });
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
  expect(seen(23.9)).toMatchObject({
    cur_load: 20,
    new_load: 0,
    cur_perf: 0,
    cur_load_rolling_avg: (30 * 3 + 20 * 14) / 60,
  });
  expect(seen(24)).toMatchObject({ cur_load: 0, new_load: 0, cur_perf: 20 });
  expect(seen(24, 0.5)).toMatchObject({ cur_load: 25 });
  reports.abandon(0, 50);
  expect(seen(24, 0.5)).toMatchObject({ cur_load: 0 });
  reports.lose(0, 3);
  expect(seen(8)).toMatchObject({ cur_load: 0, new_load: 0, cur_perf: 0 });
});

describe('the requests of an endpoint', () => {
  const when = { now: 0, patience: 60 };

  test('are waited for until a worker takes them or their client goes', () => {
    const requests = new Requests(60);
    for (const request of [1, 2, 3]) requests.open(request, 50, when);
    const waits = (now: number) =>
      [1, 2, 3, 4].map((request) => requests.ticket(request, now)?.worker === null);
    expect(waits(60)).toEqual([true, true, true, false]);
    expect(waits(60.1)).toEqual([false, false, false, false]);
    requests.taken(0, 501, { request: 1, work: 50, from: 4, to: 12 });
    requests.abandon(2, 50);
    expect([1, 2].map((request) => requests.ticket(request, 1))).toEqual([
      expect.objectContaining({ request: 1, worker: 501 }),
      undefined,
    ]);
    expect(waits(1)).toEqual([false, false, true, false]);
    expect(requests.lost).toBe(0);
  });

  test('that a worker has are lost with it, those of a load without a name too, and no others', () => {
    const requests = new Requests(60);
    for (const request of [1, 2, 3]) requests.open(request, 50, when);
    const take = (request: number, place: number, to: number) =>
      requests.taken(place, 501 + place, { request, work: 50, from: 0, to });
    const unfinished = (place: number, now: number) => requests.unfinished(place, now).length;
    take(1, 0, 5);
    take(2, 0, 10);
    take(0, 0, 15);
    take(3, 1, 10);
    expect([unfinished(0, 4), unfinished(0, 5), unfinished(2, 0)]).toEqual([3, 2, 0]);
    expect(requests.lose(0, 6)).toBe(2);
    expect([requests.lost, unfinished(0, 6), unfinished(1, 6)]).toEqual([2, 0, 1]);
    expect([1, 2, 3].map((request) => requests.ticket(request, 6)?.worker)).toEqual([501, undefined, 502]);
    expect([requests.use(3, 501, 6), requests.use(3, 502, 61), requests.use(3, 502, 6)]).toEqual([
      false,
      false,
      true,
    ]);
    expect(requests.use(3, 502, 6)).toBe(false);
  });
});

test('a log grows with the workers that serve, and by a tenth of that while nothing is asked of them', () => {
  const log = createGroupLog({
    source: { kind: 'generated', seed: 1 },
    linesPerSecond: 2,
    retainedLines: 1_000,
    sinceMs: 0,
  });
  const rates = [6, 0.6, 0].map((rate, step) => {
    setGrowth(log, rate, step * 10_000);
    return growthRate(log);
  });
  expect(rates).toEqual([6, 0.6, 0]);
  expect(lineCount(log, 60_000)).toBe(60 + 6);
});

test('a worker whose instance goes offline has died, with what it had, and one that is still on its way too', () => {
  const running = { machine_id: 11, statuses: [{ actual_status: 'running' as const }] };
  const seed = {
    instances: [
      { id: 501, ...running },
      { id: 502, machine_id: 11 },
    ],
    workergroups: [{ id: 7, endpoint_id: 31, workers: [501, 502] }],
    endpoint_groups: [{ id: 31, endpoint_name: 'chat', max_workers: 2, cold_workers: 1 }],
  };
  const settings = { workerPerformanceLeast: 100, workerPerformanceMost: 100 };
  const lab = createLab(settings, publicDialect, seed);
  const activity = () => lab.endpointGroups.get('chat');
  lab.load.set('chat', { shape: 'constant', rate: 50, request_work: 50 });
  lab.advance(12_300);
  expect(activity()).toMatchObject({ deaths: 0, lost: 0, taken: 13 });
  lab.instances.setStatus(501, 'offline');
  expect(activity()).toMatchObject({ deaths: 1, lost: 1, waiting: 0, workers: { error: 1 } });
  lab.instances.setStatus(502, 'offline');
  lab.advance(1_000);
  expect(activity()).toMatchObject({ deaths: 2 });
});

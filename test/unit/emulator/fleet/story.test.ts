/** What the log of an endpoint says of its engine. */
import { describe, expect, test } from 'vitest';
import { decisionText, moveText, noteLook } from '../../../../src/emulator/fleet/story.ts';
import { buildState } from '../../../../src/emulator/seed/build.ts';
import type { WorkerPhase } from '../../../../src/emulator/state/serverless.ts';
import type { Observation } from '../../../../src/scaling/planner/model/control-loop.ts';
import { engineEvents, tailText } from '../../../support/emulated-log.ts';

const SEEN: Observation = {
  load: 1234.5,
  expectedWaitSeconds: 2.346,
  unfinishedWork: undefined,
  waitingRequests: 3,
  idleSeconds: 0,
  committedCapacity: 100,
};

describe('the log', () => {
  const BEGIN = Date.UTC(2026, 0, 1);

  test('has each look with what it saw of a load, in all levels but that of what was done', () => {
    const endpoint = buildState({}, {}, BEGIN).endpointGroups.get(31)!;
    const workers = { phases: ['ready', 'ready', 'cold'], capacity: 1_000 };
    const idle = { ...SEEN, load: 0, waitingRequests: 0 };
    noteLook(endpoint, { observed: idle, ...workers }, BEGIN + 5_000);
    noteLook(endpoint, { observed: { ...SEEN, load: 0 }, ...workers }, BEGIN + 15_000);
    const heads = ['05', '15'].map(
      (at) =>
        `17672256${at}.000[000] [autoscaler.cpp:1182 manage_instances] managing instances of endpoint 31: 2 ready, 1 cold`,
    );
    const seen =
      '[manage_workers][update_strategy] estimated load 0 units/s, 3 requests wait, a wait of 2.35 s';
    const level = (name: keyof typeof endpoint.logs) =>
      tailText(endpoint.logs[name], 100, BEGIN + 19_000)
        .trimEnd()
        .split('\n')
        .slice(1);
    expect(engineEvents(endpoint)).toEqual([]);
    expect(level('info0')).toEqual([...heads, seen]);
    expect(level('trace')).toEqual(heads.flatMap((head) => [head, 'types.h[1363] run_value 1000.00']));
    expect(level('debug')).toEqual(
      heads.flatMap((head) => [
        head,
        '      Status     Workers',
        '       ready           2',
        '        cold           1',
      ]),
    );
  });

  test('has the moves of a decision in one line with its reasons', () => {
    const wanted = { hotCapacity: 100, hotWorkers: 0, totalCapacity: 1234.5, totalWorkers: 2 };
    expect(decisionText(['one', 'other'], { observed: { ...SEEN, load: 90 }, wanted })).toBe(
      'one, other: wants 100 units/s ready, 1230 with stopped ones, at least 2 workers; ' +
        'estimated load 90 units/s, 3 requests wait, a wait of 2.35 s',
    );
  });

  test.each<[WorkerPhase, WorkerPhase, string]>([
    ['draining', 'ready', 'calls 9 back'],
    ['starting', 'ready', '9 is ready after 30 s (starting)'],
    ['creating', 'ready', '9 is ready after 30 s (creating)'],
    ['cold', 'starting', 'starts 9 from cold'],
    ['ready', 'draining', 'stops 9 when its requests are done'],
    ['creating', 'cold', 'stops 9'],
    ['draining', 'cold', 'stops 9'],
  ])('of a worker from %s to %s', (before, after, words) => {
    expect(moveText(9, before, after, 30)).toBe(words);
  });
});

/** What the log of an endpoint says of its engine. */
import { describe, expect, test } from 'vitest';
import { Site } from '../../../../src/emulator/fleet/site.ts';
import { Story, observationText, wishText } from '../../../../src/emulator/fleet/story.ts';
import { newWorker } from '../../../../src/emulator/fleet/workers.ts';
import { buildState } from '../../../../src/emulator/seed/build.ts';
import type { WorkerLife, WorkerPhase } from '../../../../src/emulator/state/endpoints.ts';
import { tailText } from '../../../../src/emulator/worker-log/group-log.ts';
import { createInferenceLog } from '../../../../src/emulator/worker-log/inference-log.ts';
import type { Observation } from '../../../../src/scaling/planner/model/demand.ts';
import type { Decision } from '../../../../src/scaling/planner/model/observer.ts';
import { planSettings } from '../../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../../src/scaling/rules/check.ts';

const SEEN: Observation = {
  load: 1234.5,
  expectedWaitSeconds: 2.346,
  unfinishedWork: undefined,
  waitingRequests: 3,
  idleSeconds: 0,
  committedCapacity: 100,
};
const SETTINGS = { ...planSettings(), performance: { least: 80, most: 100 }, scaleDownSeconds: 300 };
const WANTED = { hotCapacity: 400, hotWorkers: 0, totalCapacity: 1234.5, totalWorkers: 2 };

function decision(observed: Partial<Observation> = {}, wanted: Partial<typeof WANTED> = {}): Decision {
  const all = { ...WANTED, ...wanted };
  return { observed: { ...SEEN, ...observed }, wanted: all, kept: all };
}

test.each([
  [{}, 'estimated load 1230 units/s, 3 requests wait, a wait of 2.35 s'],
  [
    { expectedWaitSeconds: Infinity, load: 0 },
    'estimated load 0 units/s, 3 requests wait, no worker is ready',
  ],
])('what it saw: %j', (over, words) => {
  expect(observationText({ ...SEEN, ...over })).toBe(words);
});

describe('what it wants, and why', () => {
  const parameters = (given: object) => resolveDefaults({ max_workers: 20, target_util: 0.9, ...given });
  const idle = { load: 0, waitingRequests: 0, idleSeconds: 50 };

  test.each<[string, Partial<Observation>, Partial<typeof WANTED>, object]>([
    ['all that max_workers 20 can do', {}, { hotCapacity: 2_000 }, {}],
    [
      'to clear the queue within target_queue_time 30 s',
      { load: 90 },
      { hotCapacity: 101 },
      { target_queue_time: 30 },
    ],
    ['for the load at target_util 0.9', { load: 90 }, { hotCapacity: 100 }, {}],
    ['for the load at target_util 0.9', { load: 90 }, { hotCapacity: 100 }, { min_load: 90 }],
    ['for min_load 180 at target_util 0.9', { load: 90 }, { hotCapacity: 200 }, { min_load: 180 }],
    ['for what waits', { ...idle, waitingRequests: 1 }, { hotCapacity: 0 }, {}],
    ['within inactivity_timeout 60 s', idle, { hotCapacity: 0 }, { inactivity_timeout: 60 }],
    ['within inactivity_timeout -1 s', idle, { hotCapacity: 0 }, { inactivity_timeout: -1 }],
    ['for there is no load', idle, { hotCapacity: 0 }, { inactivity_timeout: 50 }],
    ['for there is no load', idle, { hotCapacity: 0 }, {}],
  ])('%s', (why, observed, wanted, given) => {
    const hot = Number((wanted.hotCapacity ?? 0).toPrecision(3));
    expect(wishText(decision(observed, wanted), parameters(given), SETTINGS)).toBe(
      `wants ${hot} units/s ready, ${why}, 1230 with stopped ones, at least 2 workers`,
    );
  });

  test('one worker at least, and what was wanted before and is kept for a while', () => {
    const now = decision({ load: 90 }, { hotCapacity: 100, hotWorkers: 1 });
    const told = (hotCapacity: number) =>
      wishText({ ...now, kept: { ...now.kept, hotCapacity } }, parameters({}), SETTINGS);
    expect(told(100)).toMatch(/target_util 0\.9, at least one worker, 1230 with .* 2 workers$/);
    expect(told(101)).toMatch(/ 2 workers; keeps 101 ready, wanted within the last 300 s$/);
    expect(told(Infinity)).toMatch(/ 2 workers$/);
  });
});

describe('the log', () => {
  const BEGIN = Date.UTC(2026, 0, 1);
  const PARAMETERS = resolveDefaults({ max_workers: 20, target_util: 0.9 });

  function told() {
    const state = buildState({ workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 0 }] }, {}, BEGIN);
    const endpoint = state.endpointGroups.get(31)!;
    const groups = [...state.workerGroups.values()];
    const site = new Site({ state, endpoint, groups, workers: [] }, BEGIN);
    const said = () => endpoint.events.map(({ atMs, text }) => `${(atMs - BEGIN) / 1000} ${text}`);
    const log = () => tailText(groups[0]!.log, 50, BEGIN + 60_000, createInferenceLog());
    return { story: new Story(site), endpoint, said, log };
  }

  test('has a look that saw something among its details, and no other', () => {
    const { story, endpoint, said } = told();
    story.looked({ ...SEEN, load: 0, waitingRequests: 0 }, BEGIN);
    story.looked({ ...SEEN, load: 0 }, BEGIN);
    story.looked({ ...SEEN, waitingRequests: 0 }, BEGIN);
    expect([endpoint.details.length, said()]).toEqual([2, []]);
  });

  test('has the moves of a decision in one line with its reasons, and nothing of one that moved nothing', () => {
    const { story, said } = told();
    story.decided(decision({ load: 90 }, { hotCapacity: 100 }));
    story.carriedOut(PARAMETERS, SETTINGS, BEGIN);
    story.decided(decision({ load: 90 }, { hotCapacity: 100 }));
    story.say('one', BEGIN);
    story.say('other', BEGIN);
    story.carriedOut(PARAMETERS, SETTINGS, BEGIN + 1_000);
    story.carriedOut(PARAMETERS, SETTINGS, BEGIN + 2_000);
    story.say('by itself', BEGIN + 3_000);
    expect(said()).toEqual([
      '1 one, other: wants 100 units/s ready, for the load at target_util 0.9, 1230 with stopped ones, at least 2 workers; ' +
        'estimated load 90 units/s, 3 requests wait, a wait of 2.35 s',
      '3 by itself',
    ]);
  });

  const life = (phase: WorkerPhase): WorkerLife => ({
    phase,
    sinceMs: BEGIN,
    readyMs: null,
    startedMs: BEGIN,
  });

  test.each<[WorkerPhase, WorkerPhase | undefined, boolean, string | undefined, boolean]>([
    ['draining', 'ready', false, 'calls 9 back', false],
    ['starting', 'ready', false, '9 is ready after 30 s (starting)', true],
    ['creating', 'ready', false, '9 is ready after 30 s (creating)', true],
    ['rebooting', 'ready', false, '9 is ready after 30 s (rebooting)', true],
    ['cold', 'starting', false, 'starts 9 from cold', false],
    ['ready', 'draining', false, 'stops 9 once it has done what it has', false],
    ['creating', 'cold', false, '9 is there after 30 s and not wanted now: it stops', true],
    ['creating', 'cold', true, 'stops 9', false],
    ['draining', 'cold', false, 'stops 9', false],
    ['ready', 'error', false, undefined, false],
    ['ready', undefined, false, undefined, false],
  ])('of a worker from %s to %s (halted %j)', (before, after, halted, words, isStart) => {
    const { story, said, log } = told();
    const worker = { ...newWorker(9, 7), life: after === undefined ? null : life(after) };
    story.moved(worker, life(before), halted, BEGIN + 30_000);
    expect(said()).toEqual(words === undefined ? [] : [`30 ${words}`]);
    const lines = log().split('\n');
    expect(log() !== '').toBe(isStart);
    if (isStart) expect(lines.at(-2)).toMatch(/Uvicorn running/);
    if (isStart) expect(lines[0]).toMatch(/^INFO 01-01 00:00:01 /);
  });

  test('of one that died or erred has what was lost with it', () => {
    const { story, said, log } = told();
    story.died(9, 2, BEGIN);
    expect(log()).toBe('');
    story.erred(newWorker(9, 7), 1, BEGIN + 5_000);
    story.erred(newWorker(9, 99), 0, BEGIN + 6_000);
    expect(said()).toEqual([
      '0 9 has died, and 2 requests with it',
      '5 9 has erred, lost 1 requests and reboots',
      '6 9 has erred, lost 0 requests and reboots',
    ]);
    expect(log()).toMatch(/^ERROR 01-01 00:00:05 [^]*OutOfMemoryError[^]*\n$/);
    expect(log().match(/Traceback/g)).toHaveLength(1);
  });
});

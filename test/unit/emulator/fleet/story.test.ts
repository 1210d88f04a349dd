/** What the log of an endpoint says of its engine. */
import { describe, expect, test } from 'vitest';
import { siteOf } from '../../../../src/emulator/fleet/site.ts';
import { Story } from '../../../../src/emulator/fleet/story.ts';
import { newWorker } from '../../../../src/emulator/fleet/workers.ts';
import { buildState } from '../../../../src/emulator/seed/build.ts';
import type { WorkerLife, WorkerPhase, WorkerRecord } from '../../../../src/emulator/state/serverless.ts';
import type { Observation } from '../../../../src/scaling/planner/model/control-loop.ts';
import type { Decision } from '../../../../src/scaling/planner/model/group.ts';
import { engineEvents, tailText } from '../../../support/emulated-log.ts';

const SEEN: Observation = {
  load: 1234.5,
  expectedWaitSeconds: 2.346,
  unfinishedWork: undefined,
  waitingRequests: 3,
  idleSeconds: 0,
  committedCapacity: 100,
};
const RUN_VALUE = 'types.h[1363] run_value 1000.00 of 9';
const WANTED = { hotCapacity: 400, hotWorkers: 0, totalCapacity: 1234.5, totalWorkers: 2 };

function decision(observed: Partial<Observation> = {}, wanted: Partial<typeof WANTED> = {}): Decision {
  return { observed: { ...SEEN, ...observed }, wanted: { ...WANTED, ...wanted } };
}

describe('the log', () => {
  const BEGIN = Date.UTC(2026, 0, 1);

  function told(workers: readonly WorkerRecord[] = []) {
    const state = buildState({ workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 0 }] }, {}, BEGIN);
    const endpoint = state.endpointGroups.get(31)!;
    const groups = [...state.workerGroups.values()];
    const site = siteOf({ state, endpoint, groups, workers: [] }, BEGIN);
    const said = () => engineEvents(endpoint).map(([at, text]) => `${at - BEGIN / 1000} ${text}`);
    const log = () => tailText(groups[0]!.log, 50, BEGIN + 60_000);
    return { story: new Story(site, () => workers), endpoint, said, log };
  }

  test('has each look with what it saw of a load, in all levels but that of what was done', () => {
    const { story, endpoint, said } = told([{ ...newWorker(9, 7), perf: 1_000, life: life('ready') }]);
    story.looked({ ...SEEN, load: 0, waitingRequests: 0 }, BEGIN + 5_000);
    story.looked({ ...SEEN, load: 0 }, BEGIN + 15_000);
    const head = (at: string) =>
      `17672256${at}.000[000] [autoscaler.cpp:1182 manage_instances] managing instances of endpoint 31: 1 ready`;
    const seen =
      '[manage_workers][update_strategy] estimated load 0 units/s, 3 requests wait, a wait of 2.35 s';
    const level = (name: keyof typeof endpoint.logs) =>
      tailText(endpoint.logs[name], 100, BEGIN + 19_000)
        .trimEnd()
        .split('\n');
    expect(said()).toEqual([]);
    // The model passes over one that nothing depends on.
    const heads = [head('05'), head('10'), head('15')];
    expect(level('info0').slice(1)).toEqual([...heads, seen]);
    expect(level('trace').slice(1)).toEqual(heads.flatMap((each) => [each, RUN_VALUE]));
    expect(
      level('debug')
        .slice(1)
        .map((line) => line.trim().split(/ +/)[0]),
    ).toEqual(heads.flatMap((each) => [each.split(' ')[0], 'ID', '9']));
  });

  test('has the moves of a decision in one line with its reasons, and nothing of one that moved nothing', () => {
    const { story, said } = told();
    story.decided(decision({ load: 90 }, { hotCapacity: 100 }));
    story.carriedOut(BEGIN);
    story.decided(decision({ load: 90 }, { hotCapacity: 100 }));
    story.say('one', BEGIN);
    story.say('other', BEGIN);
    story.carriedOut(BEGIN + 1_000);
    story.carriedOut(BEGIN + 2_000);
    story.say('by itself', BEGIN + 3_000);
    expect(said()).toEqual([
      '1 one, other: wants 100 units/s ready, 1230 with stopped ones, at least 2 workers; ' +
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
    story.say('9 has died, and 2 requests with it', BEGIN);
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

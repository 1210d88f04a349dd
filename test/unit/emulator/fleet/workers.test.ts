/** Workers without an engine and with one, as statuses, times and prices. */
import { describe, expect, test } from 'vitest';
import {
  cancelRoll,
  deleteInstance,
  recruitWorker,
  rollWorkers,
  runSpan,
  workersOf,
  workerStatus,
  workerView,
} from '../../../../src/emulator/fleet/workers.ts';
import type { InstanceStatus } from '../../../../src/contract/operations/instances/instance-list.ts';
import {
  setInstanceStatus,
  startInstance,
  statusAt,
  stopInstance,
} from '../../../../src/emulator/state/instances.ts';
import { buildState } from '../../../../src/emulator/seed/build.ts';
import type { State } from '../../../../src/emulator/state/state.ts';
import type { WorkerRecord } from '../../../../src/emulator/state/serverless.ts';

const NOW = Date.UTC(2026, 0, 1);
const SETTINGS = {
  instanceCreatedSeconds: 10,
  instanceLoadingSeconds: 20,
  workerUpdateSeconds: 60,
  workerPerformanceLeast: 100,
  workerPerformanceMost: 200,
};
const SEED = {
  instances: [{ id: 501, machine_id: 11 }],
  workergroups: [{ id: 7, endpoint_id: 31, workers: [501] }],
};

function world(): { state: State; worker: WorkerRecord } {
  const state = buildState(SEED, SETTINGS, NOW);
  return { state, worker: state.workers.get(501)! };
}
const instanceOf = (state: State) => state.instances.get(501)!;
const at = (seconds: number) => NOW + seconds * 1000;

test('the status of a worker without an engine is that of its instance', () => {
  const { state, worker } = world();
  const seen = [0, 9.999, 10, 29.999, 30, 9_999].map((seconds) => workerStatus(worker, state, at(seconds)));
  expect(seen).toEqual(['created', 'created', 'loading', 'loading', 'idle', 'idle']);
  setInstanceStatus(instanceOf(state), 'offline', at(40));
  expect(workerStatus(worker, state, at(40))).toBe('error');
  stopInstance(instanceOf(state), at(50));
  expect(workerStatus(worker, state, at(50))).toBe('stopped');
  expect(statusAt(instanceOf(state), at(50))).toBe('exited');
  state.instances.delete(501);
  expect(workerStatus(worker, state, at(50))).toBe('error');
});

test('a worker that stops when its requests are done is stopping until then', () => {
  const { state, worker } = world();
  worker.life = { phase: 'draining', sinceMs: NOW, readyMs: null, startedMs: NOW };
  expect(workerStatus(worker, state, NOW)).toBe('stopping');
});

test('an instance that is stopped loads and runs when it is started; a second time changes nothing', () => {
  const { state } = world();
  const instance = instanceOf(state);
  startInstance(instance, state.settings, at(5));
  expect(instance.stepsFromMs).toBe(NOW);
  stopInstance(instance, at(40));
  stopInstance(instance, at(50));
  expect([instance.stepsFromMs, instance.intendedStatus]).toEqual([at(40), 'stopped']);
  startInstance(instance, state.settings, at(60));
  const statuses = [60, 79.999, 80].map((seconds) => statusAt(instance, at(seconds)));
  expect(statuses).toEqual(['loading', 'loading', 'running']);
});

test('when an instance runs, and until when', () => {
  const instance = instanceOf(world().state);
  const times = (...steps: readonly [InstanceStatus, seconds?: number][]) => {
    instance.steps = steps.map(([actual_status, seconds]) => ({ actual_status, seconds }));
    const { fromMs, toMs } = runSpan(instance);
    return [fromMs, toMs].map((ms) => ms && ms - NOW);
  };
  expect(times(['created', 5], ['running'])).toEqual([5_000, null]);
  expect(times(['created', 5], ['running', 7], ['exited'])).toEqual([5_000, 12_000]);
  expect(times(['created'], ['running', 7])).toEqual([null, null]);
  expect(times(['created', 5])).toEqual([null, null]);
});

test('an update takes ready workers one after the other; one whose turn has not come can be left out', () => {
  const { state } = world();
  const group = state.workerGroups.get(7)!;
  const [second, third] = [recruitWorker(state, group, NOW), recruitWorker(state, group, NOW)];
  setInstanceStatus(state.instances.get(third.id)!, 'loading', NOW);
  const all = workersOf(state, 7);
  expect(rollWorkers(state, all, at(30)).map(({ id }) => id)).toEqual([501, second.id]);
  const seen = (seconds: number) => all.map((worker) => workerStatus(worker, state, at(30 + seconds)));
  expect(seen(0)).toEqual(['update_rebooting', 'update_ready', 'loading']);
  expect(seen(30)).toEqual(['update_starting', 'update_ready', 'loading']);
  expect(seen(60)).toEqual(['idle', 'update_rebooting', 'loading']);
  expect(cancelRoll(all, at(30 + 59)).map(({ id }) => id)).toEqual([second.id]);
  expect(seen(60)).toEqual(['idle', 'idle', 'loading']);
  expect(cancelRoll(all, at(30 + 60))).toEqual([]);
});

describe('a worker that is recruited', () => {
  test('runs on an instance of its own, of a machine that there is, at a price within bounds', () => {
    const state = buildState(SEED, { workerPriceLeast: 0.3, workerPriceMost: 0.5 }, NOW);
    const group = state.workerGroups.get(7)!;
    const prices = Array.from({ length: 8 }, () => {
      const worker = recruitWorker(state, group, NOW);
      expect(state.workers.get(worker.id)).toBe(worker);
      const instance = state.instances.get(worker.id)!;
      expect(instance).toMatchObject({
        userId: 1,
        hardware: { machine_id: worker.id % 2 === 0 ? 11 : 12, gpu_name: 'RTX 4090', num_gpus: 1 },
        image: 'vllm/vllm-openai:latest',
        createdMs: NOW,
      });
      return instance.hardware.dph_total!;
    });
    expect(new Set(prices).size).toBe(8);
    for (const price of prices) {
      expect(price).toBeGreaterThanOrEqual(0.3);
      expect(price).toBeLessThanOrEqual(0.5);
      expect(price).toBe(Number(price.toFixed(4)));
    }
  });

  test('costs the least where the most is less, and has no machine where there is none', () => {
    const settings = { workerPriceLeast: 0.5, workerPriceMost: 0.3 };
    const state = buildState({ ...SEED, machines: [] }, settings, NOW);
    const { id } = recruitWorker(state, state.workerGroups.get(7)!, NOW);
    expect(state.instances.get(id)).toMatchObject({ hardware: { dph_total: 0.5, machine_id: 0 } });
    deleteInstance(state, id, NOW);
    expect([state.instances.has(id), state.workers.has(id)]).toEqual([false, false]);
  });
});

test('a worker without an engine shows what it measured, its load, and since when its instance runs', () => {
  const { state, worker } = world();
  worker.perf = 180;
  const load = { cur_load: 40, cur_load_rolling_avg: 30, new_load: 60, cur_perf: 20, reqs_working: 3 };
  const shown = { ...load, perf: 180, measured_perf: 180, ready_ever: true };
  expect(workerView(worker, state, at(30), { origin: 'http://a.test', load })).toMatchObject({
    ...shown,
    loaded_at: NOW / 1000 + 30,
    started_at: NOW / 1000,
  });
});

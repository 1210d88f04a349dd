/** Endpoints and what hangs on them: deployments, worker groups, workers, files. */
import { describe, expect, test } from 'vitest';
import { publicDialect } from '../../../../src/emulator/dialect.ts';
import { workersOf } from '../../../../src/emulator/fleet/workers.ts';
import type { HandlerContext } from '../../../../src/emulator/handlers/define.ts';
import { deploymentHandlers } from '../../../../src/emulator/handlers/deployments.ts';
import { moveEndpoint } from '../../../../src/emulator/handlers/endpoint-groups.ts';
import { createWorkerGroup } from '../../../../src/emulator/handlers/workergroups.ts';
import { buildState } from '../../../../src/emulator/seed/build.ts';
import type { State } from '../../../../src/emulator/state/state.ts';
import { createLab } from '../../../support/two-factor.ts';
import { engineEvents } from '../../../support/emulated-log.ts';

const NOW = Date.UTC(2026, 0, 1);

function world(): State {
  const seed = {
    deployments: [
      { id: 42, ttl: 100 },
      { id: 43, ttl: null },
      { id: 44, ttl: 50 },
    ],
    instances: [
      { id: 501, machine_id: 11 },
      { id: 502, machine_id: 11 },
    ],
    endpoint_groups: [
      { id: 31, endpoint_name: 'chat', deployment_id: 42, max_workers: 4 },
      { id: 32, endpoint_name: 'alone' },
      { id: 33, endpoint_name: 'other', deployment_id: 44 },
    ],
    workergroups: [
      { id: 7, endpoint_id: 31, workers: [501] },
      { id: 8, endpoint_id: 32, workers: [502] },
    ],
  };
  return buildState(seed, { workersRecruited: 2 }, NOW);
}
const endpoint = (state: State, id: number) => state.endpointGroups.get(id)!;
const said = (state: State, id: number) => engineEvents(endpoint(state, id)).map(([, text]) => text);

test('an endpoint that moves takes its deployment along, and says so once', () => {
  const state = world();
  moveEndpoint(state, endpoint(state, 31), 'stopped', NOW + 1);
  moveEndpoint(state, endpoint(state, 31), 'stopped', NOW + 2);
  expect(state.deployments.get(42)).toMatchObject({ endpointState: 'stopped', updatedMs: NOW + 2 });
  expect(endpoint(state, 31).state).toBe('stopped');
  expect(said(state, 31)).toEqual(['the endpoint is stopped, with 1 workers']);
  moveEndpoint(state, endpoint(state, 32), 'suspended', NOW + 3);
  expect(said(state, 32)).toEqual(['the endpoint is suspended, with 1 workers']);
  const states = [...state.deployments.values()].map(({ endpointState }) => endpointState);
  expect(states).toEqual(['stopped', 'active', 'active']);
});

test('a deployment moves its endpoint, or itself alone where it has none', () => {
  const state = world();
  const context = { state, user: state.users.values().next().value, nowMs: NOW + 1 } as HandlerContext;
  for (const id of [44, 43]) deploymentHandlers['deployments.stop']({ id }, context);
  expect([31, 32, 33].map((id) => endpoint(state, id).state)).toEqual(['active', 'active', 'stopped']);
  expect(state.deployments.get(43)).toMatchObject({ endpointState: 'stopped', updatedMs: NOW + 1 });
});

describe('a worker group that is made', () => {
  test('gets its first workers, as far as the endpoint has room for them, and says so', () => {
    const state = world();
    const made = createWorkerGroup(state, endpoint(state, 31), { image: 'a', test_workers: 3 }, NOW);
    const traits = { test_workers: 3, gpu_ram: null };
    expect(made).toMatchObject({ id: 9, endpointId: 31, image: 'a', traits });
    expect(workersOf(state, 9).map(({ id }) => id)).toEqual([503, 504, 505]);
    expect(said(state, 31)).toEqual([
      'worker group 9 is there',
      'recruited 3 for worker group 9, to measure them: 503, 504, 505',
    ]);
    createWorkerGroup(state, endpoint(state, 31), { image: 'a' }, NOW);
    expect([workersOf(state, 10), said(state, 31).at(-1)]).toEqual([[], 'worker group 10 is there']);
  });

  test('gets as many as the setting says, and none where the endpoint is not active', () => {
    const state = world();
    createWorkerGroup(state, endpoint(state, 33), { image: 'a' }, NOW);
    expect(workersOf(state, 9)).toHaveLength(2);
    moveEndpoint(state, endpoint(state, 32), 'stopped', NOW);
    createWorkerGroup(state, endpoint(state, 32), { image: 'a' }, NOW);
    expect(workersOf(state, 10)).toHaveLength(0);
  });

  test('runs what its template says, with its tag or the default one', () => {
    const { send, world: made } = createLab({}, publicDialect, {});
    const images = [{ launch_args: '--image other' }, { template_id: 9 }, { template_id: 10 }].map((runs) => {
      const body = JSON.stringify({ endpoint_id: 31, test_workers: 1, ...runs });
      const { id } = send('POST', '/api/v0/workergroups/', body, 'emulator-key').body as { id: number };
      const [worker] = workersOf(made.state, id);
      return made.state.instances.get(worker?.id ?? 0)?.image;
    });
    expect(images).toEqual([
      'vllm/vllm-openai:latest',
      `vllm/vllm-openai:${made.state.templates.get(9)?.default_tag}`,
      'jupyter/scipy-notebook:2024-10-07',
    ]);
  });
});

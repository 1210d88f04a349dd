import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import type { Handlers } from '../../../../src/emulator/handlers/define.ts';
import { buildState } from '../../../../src/emulator/seed/build.ts';
import { checkSeed, DEFAULT_SEED, readSeedFile, seedSchema } from '../../../../src/emulator/seed/seed.ts';
import { nextId } from '../../../../src/emulator/state/state.ts';

const NOON = Date.UTC(2026, 0, 1, 12);

describe('a seed', () => {
  test('that is left out in part is the default one in that part', () => {
    const state = buildState({ deployments: [{ id: 1, ttl: 6 }] }, {}, NOON);
    expect([...state.deployments.keys()]).toEqual([1]);
    expect(state.deployments.get(1)).toMatchObject({ ttlMs: 6_000, countsFromMs: NOON });
    expect([...state.workerGroups.keys()]).toEqual([7, 8]);
  });

  test('tells its settings, and options win over them', () => {
    const seed = { settings: { deploymentTtlSeconds: 60, logTailMax: 5 }, deployments: [{ id: 1 }] };
    const state = buildState(seed, { logTailMax: 9 }, NOON);
    expect(state.deployments.get(1)?.ttlMs).toBe(60_000);
    expect(state.settings.logTailMax).toBe(9);
  });

  test('counts relative times from the start', () => {
    const { machines } = buildState(DEFAULT_SEED, {}, NOON);
    expect(machines.get(11)?.maintenances[0]?.start_time).toBe(NOON / 1000 + 7_200);
  });

  test.each([
    [{ deployments: [{ id: 1, ttl: -5 }] }, 'deployments.0.ttl'],
    [{ deployments: [{ id: 1, tll: 5 }] }, 'deployments.0'],
    [{ settings: { logTailMax: 0 } }, 'settings.logTailMax'],
    [
      {
        machines: [{ id: 1, maintenances: [{ id: 1, duration_hours: 1, maintenance_category: 'power' }] }],
      },
      'machines.0.maintenances.0.start_time: give either',
    ],
    [{ hosts: [] }, 'hosts'],
  ])('%j names the field that is wrong', (seed, field) => {
    expect(() => checkSeed(seed)).toThrow(field);
  });

  test('of a file that is missing says which', async () => {
    await expect(readSeedFile('/nowhere/seed.json')).rejects.toThrow('/nowhere/seed.json');
  });

  test('has a JSON schema that describes every setting', () => {
    const schema = z.toJSONSchema(seedSchema, { io: 'input' }) as unknown as {
      properties: { settings: { properties: Record<string, { description?: string }> } };
    };
    for (const setting of Object.values(schema.properties.settings.properties)) {
      expect(setting.description).toBeTruthy();
    }
  });
});

test('a table without one of the handlers does not compile', () => {
  expectTypeOf<Omit<Handlers, 'deployments.heartbeat'>>().not.toExtend<Handlers>();
});

test('what is seeded and deleted does not give its id to what is made next', () => {
  const state = buildState({}, {}, 0);
  const kinds = [
    ['deployment', state.deployments],
    ['worker group', state.workerGroups],
    ['template', state.templates],
    ['instance', state.instances],
    ['endpoint group', state.endpointGroups],
  ] as const;
  for (const [kind, things] of kinds) {
    const last = Math.max(...things.keys());
    things.delete(last);
    expect([kind, nextId(state, kind, things.keys())]).toEqual([kind, last + 1]);
  }
  expect(nextId(state, 'api key', [])).toBe(state.keys.size + 1);
  expect(nextId(state, 'deployment version', [])).toBe(44);
});

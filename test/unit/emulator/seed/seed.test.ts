import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import type { Handlers } from '../../../../src/emulator/handlers/define.ts';
import { startEmulator, type Emulator } from '../../../../src/emulator/index.ts';
import { buildState } from '../../../../src/emulator/seed/build.ts';
import { checkSeed, readSeedFile, seedSchema, type Seed } from '../../../../src/emulator/seed/seed.ts';
import { nextId } from '../../../../src/emulator/state/state.ts';
import { ask } from '../../../support/public-client.ts';

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

  test.each([
    [{ deployments: [{ id: 1, ttl: -5 }] }, 'deployments.0.ttl'],
    [{ deployments: [{ id: 1, tll: 5 }] }, 'deployments.0'],
    [{ settings: { logTailMax: 0 } }, 'settings.logTailMax'],
    [
      { machines: [{ id: 1, maintenances: [{ id: 1, duration_hours: 1, maintenance_category: 'power' }] }] },
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

const EVERYTHING: Seed = {
  settings: { deploymentTtlSeconds: 77, randomSeed: 8, logLinesPerSecond: 3, logRetainedLines: 10 },
  users: [
    {
      id: 5,
      username: 'someone',
      email: 'someone@example.com',
      team_id: 70,
      is_admin: true,
      api_keys: [
        { name: 'one', key: 'k1' },
        { name: 'two', key: 'k2', permissions: { user_read: true }, team: true },
      ],
      legacy_2fa: true,
      backup_codes_remaining: 3,
      tfa_methods: [
        { id: 3, method: 'sms', label: 'phone', phone_number: '+15550000002', locked_for: 60, fail_count: 6 },
        { id: 9, method: 'totp', is_primary: true },
      ],
    },
    {
      id: 6,
      email: 'x@example.com',
      email_verified: false,
      api_keys: [{ name: 'three', key: 'k3' }],
      legacy_2fa: true,
      backup_codes: ['AAAA-BBBB-CCCC'],
    },
    { id: 7, api_keys: [{ name: 'four', key: 'k4' }] },
  ],
  deployments: [
    { id: 42, name: 'square', tag: 'blue', ttl: 9, last_heartbeat_ago: 3, endpoint_state: 'stopped' },
    { id: 43, ttl: null },
    { id: 44 },
  ],
  machines: [
    {
      id: 11,
      maintenances: [
        { id: 1, starts_in: -0.4, duration_hours: 3, maintenance_category: 'power' },
        { id: 2, start_time: 5, duration_hours: 1, maintenance_category: 'gpu' },
      ],
    },
  ],
  instances: [
    {
      id: 501,
      machine_id: 11,
      label: 'mine',
      image: 'a:b',
      gpu_name: 'H100',
      num_gpus: 2,
      gpu_ram: 80,
      dph_total: 1.5,
      age_seconds: 60,
      statuses: [{ actual_status: 'running', seconds: 30 }, { actual_status: 'exited' }],
    },
    { id: 502, machine_id: 12 },
  ],
  templates: [
    {
      id: 9,
      name: 'vllm',
      image: 'vllm/vllm-openai',
      creator_id: 3,
      recommended: true,
      default_tag: 'v1',
      age_seconds: 60,
      count_created: 4,
      recent_create_ago: 30,
    },
    { id: 10, name: 'plain', image: 'a' },
  ],
  offers: [{ id: 3002, machine_id: 12 }],
  tfa: { sms_provider: 'failing', blocked_numbers: ['+15550000002'] },
  endpoint_groups: [
    { id: 31, endpoint_name: 'chat', max_workers: 3, endpoint_state: 'suspended' },
    { id: 32, load: { shape: 'constant', rate: 5 } },
  ],
  workergroups: [
    { id: 7, history_seconds: 20, endpoint_id: 31, workers: [501] },
    { id: 8, lines_per_second: 0.5, retained_lines: 4, history_seconds: 20, seed: 1 },
    { id: 9, history_seconds: 2, replay: { lines: ['a', 'b'] } },
    { id: 10, history_seconds: 2, replay: { loop: true } },
  ],
};

describe('a seed that says everything', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator({ seed: EVERYTHING, clock: { frozenAtMs: NOON } });
  });
  afterAll(() => emulator.close());

  const NOON_S = NOON / 1000;
  const method = { user_id: 5, created_at: NOON_S, last_used: null };
  const sms = { ...method, id: 3, method: 'sms', label: 'phone', phone_number: '+*******0002' };
  const totp = { ...method, id: 9, method: 'totp', is_primary: true, fail_count: 0, locked_until: null };

  test.each([
    [
      'k1: GET /api/v0/users/current/',
      { id: 5, username: 'someone', email_verified_at: NOON_S, is_admin: true },
    ],
    [
      'k3: GET /api/v0/users/current/',
      { id: 6, username: 'dev', email_verified_at: null, tfa_status: 'legacy' },
    ],
    ['k4: GET /api/v0/users/current/', { id: 7, email: null, is_admin: false, tfa_status: 'disabled' }],
    [
      'k1: GET /api/v0/tfa/status/',
      {
        methods: [{ ...sms, is_primary: false, fail_count: 6, locked_until: NOON_S + 60 }, totp],
        backup_codes_remaining: 3,
      },
    ],
    ['k3: GET /api/v0/tfa/status/', { tfa_enabled: true, methods: [], backup_codes_remaining: 1 }],
    ['k1: GET /_emulator/totp/9', { code: expect.stringMatching(/^\d{6}$/) as string }],
    [
      'k1: GET /api/v0/instances/',
      {
        instances: [
          {
            id: 501,
            machine_id: 11,
            gpu_name: 'H100',
            num_gpus: 2,
            gpu_ram: 80,
            dph_total: 1.5,
            label: 'mine',
            image_uuid: 'a:b',
            start_date: NOON_S - 60,
            actual_status: 'exited',
          },
          { id: 502, gpu_name: 'RTX 4090', image_uuid: 'vllm/vllm-openai:latest', actual_status: 'created' },
        ],
      },
    ],
    [
      'k1: GET /api/v0/template/?select_filters={}',
      {
        templates: [
          {
            id: 9,
            creator_id: 3,
            recommended: true,
            default_tag: 'v1',
            created_at: NOON_S - 60,
            count_created: 4,
            recent_create_date: NOON_S - 30,
          },
          { id: 10, creator_id: 5, recommended: false, created_at: NOON_S, recent_create_date: null },
        ],
      },
    ],
    [
      'k1: GET /_emulator/state',
      {
        apiKeys: [{ id: 1, name: 'one', userId: 5 }, { name: 'two' }, { name: 'three' }, { userId: 7 }],
        deployments: [
          {
            id: 42,
            name: 'square',
            tag: 'blue',
            endpointState: 'stopped',
            ttlMs: 9_000,
            lastHeartbeatMs: NOON - 3_000,
          },
          { id: 43, name: 'deployment-43', tag: 'default', ttlMs: null, lastHeartbeatMs: null },
          { id: 44, endpointState: 'active', ttlMs: 77_000, expiresAtMs: NOON + 77_000 },
        ],
        workergroups: [
          { id: 7, linesPerSecond: 3, lineCount: 60, firstRetained: 50 },
          { id: 8, linesPerSecond: 0.5, lineCount: 10, firstRetained: 6 },
          { id: 9, linesPerSecond: 3, lineCount: 2, firstRetained: 0 },
          { id: 10, linesPerSecond: 3, lineCount: 0, firstRetained: 0 },
        ],
        machines: [
          {
            maintenances: [
              { id: 1, machine_id: 11, start_time: NOON_S, duration_hours: 3, maintenance_category: 'power' },
              { id: 2, machine_id: 11, start_time: 5, duration_hours: 1, maintenance_category: 'gpu' },
            ],
          },
        ],
        offers: [{ id: 3002, machine_id: 12, gpu_name: 'RTX 4090', num_gpus: 1, gpu_ram: 24_564 }],
        endpointGroups: [
          { id: 31, user_id: 5, endpoint_name: 'chat', max_workers: 3, endpoint_state: 'suspended' },
          { id: 32, endpoint_state: 'active', created_at: NOON_S },
        ],
      },
    ],
    [
      'k1: GET /_emulator/load',
      {
        loads: [
          { id: 31, load: null },
          { id: 32, load: { shape: 'constant', rate: 5, seed: 8 }, sinceMs: NOON },
        ],
      },
    ],
    ['k1: POST /get_workergroup_logs/ {"id":9,"tail":3,"api_key":"k1"}', { logs: 'a\nb\n' }],
  ])('%s', async (request, body) => {
    expect(await answerTo(request)).toMatchObject({ status: 200, body });
  });

  test.each([
    ['k2: GET /api/v0/template/', 200, undefined],
    ['k2: POST /api/v0/deployment/42/heartbeat/', 403, 'forbidden'],
    ['k1: POST /api/v0/tfa/sms/ {}', 400, 'sms_blocked_number'],
    ['k1: POST /api/v0/tfa/sms/ {"phone_number":"+15550000005"}', 400, 'twilio_error'],
  ])('%s: %i %s', async (request, status, error) => {
    const answer = await answerTo(request);
    expect([answer.status, answer.body['error']]).toEqual([status, error]);
  });

  function answerTo(request: string) {
    const [, key, verb = '', path = '', sent] = /^(\S+): (\S+) (\S+) ?(.*)$/.exec(request) ?? [];
    return ask(emulator, [verb, path], sent ? JSON.parse(sent) : undefined, key);
  }
});

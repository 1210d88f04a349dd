/** A seed that says everything, as the state that it becomes. */
import { expect, test } from 'vitest';
import { buildState } from '../../../../src/emulator/seed/build.ts';
import type { Seed } from '../../../../src/emulator/seed/seed.ts';
import { firstRetained, lineCount } from '../../../../src/emulator/state/worker-log.ts';

const NOON = Date.UTC(2026, 0, 1, 12);

const FULL: Seed = {
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
    },
    { id: 6, email: 'x@example.com', email_verified: false },
    { id: 7 },
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
  offers: [
    { id: 3001, machine_id: 11, statuses: [{ actual_status: 'offline' }] },
    { id: 3002, machine_id: 12 },
  ],
  endpoint_groups: [
    { id: 31, endpoint_name: 'chat', max_workers: 3, endpoint_state: 'suspended', deployment_id: 42 },
    { id: 32, load: { shape: 'constant', rate: 5 } },
  ],
};
const SETTINGS = {
  deploymentTtlSeconds: 77,
  randomSeed: 8,
  instanceCreatedSeconds: 1,
  instanceLoadingSeconds: 2,
  logLinesPerSecond: 3,
  logRetainedLines: 10,
};

const state = () => buildState(FULL, SETTINGS, NOON);

test('users and their keys', () => {
  const { users, keys } = state();
  expect([...users.values()].map(({ tfa: _tfa, ...user }) => user)).toEqual([
    {
      id: 5,
      username: 'someone',
      email: 'someone@example.com',
      emailVerifiedAt: NOON / 1000,
      isAdmin: true,
      teamId: 70,
    },
    { id: 6, username: 'dev', email: 'x@example.com', emailVerifiedAt: null, isAdmin: false, teamId: 6 },
    { id: 7, username: 'dev', email: null, emailVerifiedAt: null, isAdmin: false, teamId: 7 },
  ]);
  expect(Object.fromEntries(keys)).toEqual({
    k1: { id: 1, name: 'one', userId: 5, permissions: null, team: false },
    k2: { id: 2, name: 'two', userId: 5, permissions: { user_read: true }, team: true },
  });
});

test('deployments and machines', () => {
  const { deployments, machines } = state();
  expect([...deployments.values()]).toMatchObject([
    {
      id: 42,
      userId: 5,
      name: 'square',
      tag: 'blue',
      endpointState: 'stopped',
      ttlMs: 9_000,
      createdMs: NOON,
      lastHeartbeatMs: NOON - 3_000,
    },
    { id: 43, name: 'deployment-43', tag: 'default', ttlMs: null, lastHeartbeatMs: null },
    { id: 44, endpointState: 'active', ttlMs: 77_000, countsFromMs: NOON },
  ]);
  const later = buildState(FULL, { deploymentTtlStarts: 'first heartbeat' }, NOON);
  expect(later.deployments.get(44)?.countsFromMs).toBeNull();
  const window = { machine_id: 11 };
  expect(machines.get(11)).toEqual({
    id: 11,
    maintenances: [
      { ...window, id: 1, start_time: NOON / 1000, duration_hours: 3, maintenance_category: 'power' },
      { ...window, id: 2, start_time: 5, duration_hours: 1, maintenance_category: 'gpu' },
    ],
  });
});

test('instances and offers', () => {
  const { instances, offers } = state();
  const made = (createdMs: number) => ({
    userId: 5,
    createdMs,
    stepsFromMs: createdMs,
    usage: { untilMs: createdMs, days: [] },
    intendedStatus: 'running',
    launch: null,
  });
  expect([...instances.values()]).toEqual([
    {
      ...made(NOON - 60_000),
      id: 501,
      hardware: { machine_id: 11, gpu_name: 'H100', num_gpus: 2, gpu_ram: 80, dph_total: 1.5 },
      label: 'mine',
      image: 'a:b',
      steps: [
        { status: 'running', durationMs: 30_000 },
        { status: 'exited', durationMs: null },
      ],
    },
    {
      ...made(NOON),
      id: 502,
      hardware: { machine_id: 12, gpu_name: 'RTX 4090', num_gpus: 1, gpu_ram: null, dph_total: null },
      label: null,
      image: 'vllm/vllm-openai:latest',
      steps: [
        { status: 'created', durationMs: 1_000 },
        { status: 'loading', durationMs: 2_000 },
        { status: 'running', durationMs: null },
      ],
    },
  ]);
  const usual = { gpu_name: 'RTX 4090', num_gpus: 1, gpu_ram: 24_564, dph_total: 0.4, disk_space: 500 };
  expect([...offers.values()]).toEqual([
    { ...usual, id: 3001, machine_id: 11, steps: [{ status: 'offline', durationMs: null }], rented_by: null },
    { ...usual, id: 3002, machine_id: 12, steps: null, rented_by: null },
  ]);
});

test('templates and endpoint groups', () => {
  const { templates, endpointGroups } = state();
  const { content: _content, hash_id: hashId, ...first } = templates.get(9)!;
  expect(first).toEqual({
    id: 9,
    creator_id: 3,
    recommended: true,
    default_tag: 'v1',
    created_at: NOON / 1000 - 60,
    count_created: 4,
    recent_create_date: NOON / 1000 - 30,
  });
  expect(templates.get(10)).toMatchObject({
    creator_id: 5,
    recommended: false,
    created_at: NOON / 1000,
    count_created: 0,
    recent_create_date: null,
  });
  expect(templates.get(10)?.hash_id).not.toBe(hashId);
  expect([...endpointGroups.values()]).toMatchObject([
    {
      id: 31,
      userId: 5,
      createdMs: NOON,
      parameters: { endpoint_name: 'chat', max_workers: 3 },
      state: 'suspended',
      deploymentId: 42,
      load: null,
      established: true,
      requests: 0,
    },
    { id: 32, state: 'active', deploymentId: null, load: { sinceMs: NOON, revision: 1, spec: { seed: 8 } } },
  ]);
});

test('logs of worker groups: what grew before the start, what is kept, and what is replayed', () => {
  const workergroups = [
    { id: 7, history_seconds: 20, endpoint_id: 31, workers: [501] },
    { id: 8, lines_per_second: 0.5, retained_lines: 4, history_seconds: 20, seed: 1 },
    { id: 9, history_seconds: 2, replay: { lines: ['a', 'b'] } },
    { id: 10, history_seconds: 2, replay: { loop: true } },
  ];
  const { workerGroups, workers } = buildState({ ...FULL, workergroups }, SETTINGS, NOON);
  const logs = [...workerGroups.values()].map(({ linesPerSecond, log }) => [
    linesPerSecond,
    lineCount(log, NOON),
    firstRetained(log, NOON),
  ]);
  expect(logs).toEqual([
    [3, 60, 50],
    [0.5, 10, 6],
    [3, 2, 0],
    [3, 0, 0],
  ]);
  const [own, given, replayed] = [...workerGroups.values()].map(({ log }) => log.segments[0]);
  expect(own).toMatchObject({ source: { kind: 'generated', seed: 15 } });
  expect(given).toMatchObject({ source: { kind: 'generated', seed: 1 } });
  expect(replayed).toMatchObject({ source: { kind: 'replay', lines: ['a', 'b'], loop: false } });
  expect([...workers.values()].map(({ id, groupId }) => [id, groupId])).toEqual([[501, 7]]);
  expect(workerGroups.get(7)).toMatchObject({ userId: 5, endpointId: 31, createdMs: NOON });
  expect(workerGroups.get(8)?.endpointId).toBeNull();
});

test('the second factors of an account', () => {
  const user: NonNullable<Seed['users']>[number] = {
    id: 5,
    phone_number: '+15550000001',
    legacy_2fa: true,
    backup_codes_remaining: 3,
    tfa_methods: [
      { id: 3, method: 'sms', label: 'phone', phone_number: '+15550000002', locked_for: 60, fail_count: 6 },
      { id: 9, method: 'totp', is_primary: true },
      { id: 4, method: 'totp', totp_secret: null },
    ],
  };
  const accountOf = (changes: Partial<typeof user> = {}) =>
    buildState({ users: [{ ...user, ...changes }] }, {}, NOON).users.get(5)!.tfa;
  const account = accountOf();
  const { methods, backupCodes, ...others } = account;
  expect(others).toEqual({
    legacy: false,
    phoneNumber: '+15550000001',
    smsFraud: false,
    authorizedUntilMs: null,
    smsSentAtMs: [],
  });
  const usual = {
    label: null,
    phoneNumber: null,
    totpSecret: null,
    isPrimary: false,
    failCount: 0,
    lockedUntilMs: null,
    lastTotpPeriod: null,
    createdAtMs: NOON,
    lastUsedMs: null,
  };
  const locked = { failCount: 6, lockedUntilMs: NOON + 60_000 };
  expect(methods).toEqual([
    { ...usual, ...locked, id: 3, method: 'sms', label: 'phone', phoneNumber: '+15550000002' },
    { ...usual, id: 9, method: 'totp', totpSecret: expect.stringMatching(/^[A-Z2-7]{32}$/), isPrimary: true },
    { ...usual, id: 4, method: 'totp' },
  ]);
  expect(new Set(backupCodes).size).toBe(3);
  expect(accountOf({ tfa_methods: [], backup_codes: ['AAAA-BBBB-CCCC'] })).toMatchObject({
    legacy: true,
    methods: [],
    backupCodes: ['AAAA-BBBB-CCCC'],
  });
  const tfa: Seed['tfa'] = { sms_provider: 'failing', blocked_numbers: ['+15550000003'], store: 'down' };
  expect(buildState({ users: [user], tfa }, {}, NOON).tfa).toMatchObject({
    blockedNumbers: new Set(['+15550000003']),
    smsProvider: 'failing',
    store: 'down',
    nextMethodId: 10,
    outbox: [],
  });
  expect(buildState({ users: [{ id: 5 }] }, {}, NOON).tfa.nextMethodId).toBe(1);
});

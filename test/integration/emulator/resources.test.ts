import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/contract/limits.ts';
import { startEmulator, type Emulator, type Seed } from '../../../src/emulator/index.ts';
import { ask } from '../../support/public-client.ts';

const NOON = Date.UTC(2026, 5, 1, 12);

const SEED: Seed = {
  users: [
    {
      id: 1,
      team_id: 70,
      api_keys: [
        { name: 'own', key: 'own-key' },
        { name: 'team', key: 'team-key', team: true },
      ],
    },
    {
      id: 2,
      team_id: 70,
      api_keys: [
        { name: 'other', key: 'other-key' },
        { name: 'mate', key: 'mate-key', team: true },
      ],
    },
    { id: 3, api_keys: [{ name: 'rival', key: 'rival-key', team: true }] },
  ],
};

let emulator: Emulator;
let client: Client;

beforeEach(async () => {
  emulator = await startEmulator({ seed: SEED, clock: { frozenAtMs: NOON } });
  client = createClient({ baseUrl: emulator.url, apiKey: 'own-key' });
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await emulator.close();
});

const BASE = {
  name: 'mine',
  image: 'team/app',
  docker_login_repo: '',
  docker_login_user: '',
  docker_login_pass: '',
};
const other = { apiKey: 'other-key' };

async function found(filters: Parameters<Client['templates']['search']>[0] = {}, options = {}) {
  const { templates } = await client.templates.search(filters, options);
  return templates.map(({ id }) => id);
}

describe('templates', () => {
  test('are stored with their defaults, and found by what they are', async () => {
    const login = { docker_login_pass: 'secret' };
    const { template } = await client.templates.create({ ...BASE, ...login, env: '-e A=1' });
    const { docker_login_pass: _, ...shown } = BASE;
    expect(template).toMatchObject({ ...shown, tag: 'latest', creator_id: 1 });
    expect(template).toMatchObject({ recommended_disk_space: 8, count_created: 0, created_at: NOON / 1000 });
    expect(JSON.stringify(template)).not.toContain('secret');
    const mine = { name: { eq: 'mine' }, creator_id: { in: [1, 5] } };
    expect(await found({ select_filters: mine })).toEqual([template.id]);
    expect(await found({ select_filters: { recommended: { eq: true } } })).toEqual([10]);
    const same = { hash_id: { eq: template.hash_id } };
    expect(await found({ select_filters: same }, other)).toEqual([template.id]);
  });

  test('that are private are there for their creator alone', async () => {
    const { template } = await client.templates.create({ ...BASE, private: true });
    expect(await found()).toEqual([9, 10, template.id]);
    expect(await found({}, other)).toEqual([9, 10, 11]);
    const rent = { offer_id: 3001, template_hash_id: template.hash_id };
    await expect(client.instances.create(rent, other)).rejects.toMatchObject({ errorCode: 'not_found' });
    await expect(client.instances.create(rent)).resolves.toBeDefined();
  });

  test('get another hash with an edit, and the old one is gone', async () => {
    const { template } = await client.templates.create(BASE);
    const edited = await client.templates.edit({ hash_id: template.hash_id, desc: 'new', jupyter_dir: null });
    expect(edited.template).toMatchObject({ ...template, hash_id: edited.template.hash_id, desc: 'new' });
    expect(edited.template.hash_id).not.toBe(template.hash_id);
    const again = { hash_id: template.hash_id, desc: 'x' };
    await expect(client.templates.edit(again)).rejects.toMatchObject({ status: 404 });
    const rent = { offer_id: 3001, template_hash_id: template.hash_id };
    await expect(client.instances.create(rent)).rejects.toMatchObject({ errorCode: 'not_found' });
    const same = await client.templates.edit({ hash_id: edited.template.hash_id, desc: 'new' });
    expect(same.template.hash_id).toBe(edited.template.hash_id);
  });

  test('can be edited and deleted by their creator alone', async () => {
    const { template } = await client.templates.create(BASE);
    const templateId = template.id ?? Number.NaN;
    const edit = { hash_id: template.hash_id, desc: 'taken over' };
    await expect(client.templates.edit(edit, other)).rejects.toMatchObject({ status: 404 });
    const deletion = { template_id: templateId };
    await expect(client.templates.delete(deletion, other)).rejects.toMatchObject({ status: 404 });
    await expect(client.templates.delete(deletion)).resolves.toEqual({ success: true });
    await expect(client.templates.delete(deletion)).rejects.toMatchObject({ status: 404 });
    const next = await client.templates.create(BASE);
    expect(next.template.id).toBeGreaterThan(templateId);
  });
});

describe('an instance', () => {
  test('shows what template and request came to, and counts for the template', async () => {
    const { template } = await client.templates.create({
      ...BASE,
      env: `-e A=template -e B=template -p 8000:8000`,
      onstart: 'echo template',
      runtype: 'ssh',
      recommended_disk_space: 64,
      volume_info: { volume_id: 1 },
    });
    await emulator.clock.advance(60_000);
    const { new_contract: id } = await client.instances.create({
      offer_id: 3001,
      template_hash_id: template.hash_id,
      env: { B: 'request', C: 3, '-p 9000:9000/udp': '1' },
      onstart: 'echo request',
      label: 'mine',
    });
    const { instances } = await client.instances.list();
    expect(instances.find((row) => row.id === id)).toMatchObject({
      actual_status: 'created',
      image_uuid: 'team/app:latest',
      image_runtype: 'ssh',
      onstart: 'echo request',
      disk_space: 64,
      label: 'mine',
      gpu_ram: 24_564,
      dph_total: 0.4,
      volume_info: null,
      template_hash_id: template.hash_id,
      start_date: NOON / 1000 + 60,
      extra_env: [
        ['A', 'template'],
        ['B', 'request'],
        ['-p 8000:8000', '1'],
        ['C', '3'],
        ['-p 9000:9000/udp', '1'],
      ],
    });
    const used = { recent_create_date: { gte: NOON / 1000 + 60 }, count_created: { eq: 1 } };
    expect(await found({ select_filters: used })).toEqual([template.id]);
  });

  test('takes its offer, until it is destroyed', async () => {
    const rent = { offer_id: 3001, image: 'ubuntu' };
    const { new_contract: id, ...rest } = await client.instances.create(rent);
    expect(rest).not.toMatchObject({ id });
    expect(emulator.offers.list().find((offer) => offer.id === 3001)?.rented_by).toBe(id);
    const taken = { status: 404, errorCode: 'invalid_offer' };
    await expect(client.instances.create(rent)).rejects.toMatchObject(taken);
    await expect(client.instances.createByPost(rent, other)).rejects.toMatchObject(taken);
    await expect(client.instances.create({ ...rent, offer_id: 1 })).rejects.toMatchObject(taken);

    await emulator.close();
    emulator = await startEmulator({ seed: SEED, dialect: 'public' });
    await using speaker = createClient({ baseUrl: emulator.url, apiKey: 'own-key' });
    const first = await speaker.instances.create(rent);
    const destroyed = { id: first.new_contract };
    await expect(speaker.instances.destroy(destroyed, other)).rejects.toMatchObject({ status: 404 });
    await speaker.instances.destroy(destroyed);
    await expect(speaker.instances.destroy(destroyed)).rejects.toMatchObject({ status: 404 });
    const second = await speaker.instances.createByPost(rent);
    expect(second.new_contract).toBeGreaterThan(first.new_contract);
  });

  test('goes through the statuses of its offer', async () => {
    const rented = [3001, 3004].map((offer_id) => client.instances.create({ offer_id, image: 'ubuntu' }));
    const ids = (await Promise.all(rented)).map((answer) => answer.new_contract);
    const statuses = () => ids.map((id) => emulator.instances.list().find((one) => one.id === id)?.status);
    const seen = [statuses()];
    for (const ms of [10_000, 30_000, 60_000]) {
      await emulator.clock.advance(ms);
      seen.push(statuses());
    }
    expect(seen).toEqual([
      ['created', 'created'],
      ['loading', 'loading'],
      ['running', 'loading'],
      ['running', 'exited'],
    ]);
  });

  test('belongs to who rented it', async () => {
    const { new_contract: id } = await client.instances.create({ offer_id: 3001, image: 'ubuntu' }, other);
    const idsOf = async (options = {}) =>
      (await client.instances.list({}, options)).instances.map((row) => row.id);
    expect(await idsOf()).not.toContain(id);
    expect(await idsOf(other)).toEqual([id]);
  });

  const volume = { create_new: true, volume_id: 4, size: 20, mount_path: '/data' };
  test.each([
    [{}, 'image: needed without template_hash_id'],
    [{ image: 'a', onstart: 'x'.repeat(LIMITS.onstartLength + 1) }, 'onstart: Too big'],
    [{ image: 'a', env: { '-p 80:': '1' } }, 'env.-p 80:: a port mapping is a key'],
    [{ image: 'a', env: { '-p 80:80': '2' } }, 'env.-p 80:80: the value of a port mapping is 1'],
    [{ image: 'a', env: '-e A=1' }, 'env: '],
    [
      { image: 'a', volume_info: { ...volume, size: undefined } },
      'volume_info.size: needed for a new volume',
    ],
    [{ image: 'a', volume_info: { ...volume, size: 1.5 } }, 'volume_info.size: '],
    [{ image: 'a', volume_info: { ...volume, mount_path: 'data' } }, 'volume_info.mount_path: '],
    [{ image: 'a', image_login: '-u bob' }, 'image_login: at character 1: a registry login is'],
    [{ image: 'a', label: null }, 'label: '],
    [{ image: 'a', force: false }, 'Unrecognized key: "force"'],
  ])('of %j is refused, and nothing happens', async (body, reason) => {
    const answer = await ask(emulator, ['PUT', '/api/v0/asks/3001/'], body, 'own-key');
    expect(answer).toMatchObject({ status: 400, body: { error: 'bad_request' } });
    expect(answer.body).not.toHaveProperty('ask_id');
    expect(answer.reason).toContain(reason);
    expect(emulator.offers.list()[0]).toMatchObject({ id: 3001, rented_by: null });
  });

  test('may attach a volume', async () => {
    // The size is used only for a new volume, which is no reason to refuse it.
    for (const [offer_id, create_new] of [
      [3001, true],
      [3003, false],
    ] as const) {
      const volume_info = { ...volume, create_new };
      await client.instances.create({ offer_id, image: 'a', volume_info });
      const { instances } = await client.instances.list();
      expect(instances.at(-1)).toMatchObject({ volume_info, disk_space: 10 });
    }
  });

  test('may have a script of 4048 characters of any kind, from the request or its template', async () => {
    const onstart = '🔥'.repeat(LIMITS.onstartLength);
    await expect(client.instances.create({ offer_id: 3001, image: 'a', onstart })).resolves.toBeDefined();
    const { template } = await client.templates.create({ ...BASE, onstart });
    const rent = { offer_id: 3002, template_hash_id: template.hash_id };
    await expect(client.instances.create(rent)).resolves.toBeDefined();
    const longer = { offer_id: 3003, image: 'a', onstart: `${onstart}x` };
    await expect(client.instances.create(longer)).rejects.toMatchObject({ code: 'invalid_request' });
    const { template: over } = await client.templates.create({ ...BASE, onstart: `${onstart}x` });
    const refused = client.instances.create({ offer_id: 3003, template_hash_id: over.hash_id });
    await expect(refused).rejects.toMatchObject({ errorCode: 'bad_request' });
  });

  test('never shows the token of its registry, nor does the journal', async () => {
    const image_login = '-u bob -p registry-token docker.io';
    await client.instances.create({ offer_id: 3001, image: 'a', image_login, args: ['--hf-token=abc'] });
    const { template } = await client.templates.create({
      ...BASE,
      docker_login_repo: 'ghcr.io',
      docker_login_user: 'ann',
      docker_login_pass: 'registry-token',
    });
    await client.instances.create({ offer_id: 3002, template_hash_id: template.hash_id });
    expect(emulator.instances.list().flatMap(({ registryLogin }) => registryLogin ?? [])).toEqual([
      { registry: 'docker.io', user: 'bob' },
      { registry: 'ghcr.io', user: 'ann' },
    ]);
    const shown = JSON.stringify([
      await client.instances.list(),
      await client.templates.search(),
      emulator.journal.entries(),
      await (await fetch(`${emulator.url}/_emulator/state`)).json(),
    ]);
    expect(shown).not.toContain('registry-token');
    expect(JSON.stringify(emulator.journal.entries())).not.toContain('--hf-token');
  });
});

describe('a team role', () => {
  const role = { name: 'operators', permissions: { manage_instances: true } };
  const team = { apiKey: 'team-key' };

  test('is created for the team of the key, once by each name', async () => {
    await expect(client.teams.createRole(role, team)).resolves.toEqual({ msg: 'Role operators created' });
    const again = { status: 400, errorCode: 'duplicate_role' };
    await expect(client.teams.createRole(role, { apiKey: 'mate-key' })).rejects.toMatchObject(again);
    await client.teams.createRole({ name: 'Operators', permissions: {} }, team);
    await client.teams.createRole(role, { apiKey: 'rival-key' });
    expect(emulator.teamRoles.list()).toEqual([
      { id: 1, team_id: 70, ...role, created_at: NOON / 1000 },
      { id: 2, team_id: 70, name: 'Operators', permissions: {}, created_at: NOON / 1000 },
      { id: 3, team_id: 3, ...role, created_at: NOON / 1000 },
    ]);
  });
});

test('maintenance windows that have ended by ctime are left out', async () => {
  const windows = await client.machines.maintenances({ machine_ids: '11, 12' });
  expect(windows.map((window) => window.id)).toEqual([1, 3]);
  const inTwoDays = NOON / 1000 + 2 * 86_400;
  const later = await client.machines.maintenances({ machine_ids: [11, 12], ctime: inTwoDays });
  expect(later.map((window) => window.id)).toEqual([3]);
  await expect(client.machines.maintenances({ machine_ids: 999 })).resolves.toEqual([]);
});

test("a worker group's log grows with the clock alone, at its rate", async () => {
  emulator.workergroups.add({ id: 9, lines_per_second: 20_000 });
  await emulator.clock.advance(1_000);
  const { logs } = (await client.workergroups.logs({ id: 9, tail: 10_000 })) as { logs: string };
  const lines = logs.split('\n');
  expect(lines.pop()).toBe('');
  expect(lines).toHaveLength(10_000);
  expect(emulator.workergroups.get(9).lineCount).toBe(20_000);
  expect(lines).toEqual(emulator.workergroups.lines(9, 10_000));
});

test('the Date header shows the moved clock', async () => {
  await emulator.clock.advance(60_000);
  const response = await fetch(`${emulator.url}/_emulator/health`);
  expect(response.headers.get('date')).toBe('Mon, 01 Jun 2026 12:01:00 GMT');
});

test('an empty body may call itself JSON', async () => {
  const headers = { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' };
  const url = `${emulator.url}/api/v0/deployment/42/heartbeat`;
  expect((await fetch(url, { method: 'POST', headers, body: '' })).status).toBe(200);
});

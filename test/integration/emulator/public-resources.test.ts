import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { EXAMPLE_HASH } from '../../../src/contract/operations/templates.ts';
import { checkEndpointGroup } from '../../../src/scaling/rules/check.ts';
import { DEFAULT_TEAM_KEY, startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { ask, TWO_ACCOUNTS, type Answered } from '../../support/public-client.ts';

const NOON = Date.UTC(2026, 5, 1, 12);

let emulator: Emulator;
/** The same service, speaking the interface document strictly. */
let spec: Emulator;
let client: Client;

beforeEach(async () => {
  const clock = { frozenAtMs: NOON };
  emulator = await startEmulator({ dialect: 'public', clock });
  spec = await startEmulator({ clock });
  client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await Promise.all([emulator.close(), spec.close()]);
});

const send = (method: string, path: string, body?: unknown, to = emulator, key?: string) =>
  ask(to, [method, path], body, key);

/** Accepted in the public dialect, and refused as a bad request under `--dialect spec`. */
async function sendTolerated(method: string, path: string, body?: unknown): Promise<Answered> {
  const strict = await send(method, path, body, spec);
  expect(strict).toMatchObject({ status: 400, body: { error: 'bad_request' } });
  const answer = await send(method, path, body);
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
  return answer;
}

const BASE = {
  name: 'mine',
  image: 'team/app',
  docker_login_repo: '',
  docker_login_user: '',
  docker_login_pass: '',
};
const TEMPLATES = '/api/v0/template/';

function searchPath(filters: object, more = ''): string {
  return `${TEMPLATES}?select_filters=${encodeURIComponent(JSON.stringify(filters))}${more}`;
}

describe('templates', () => {
  test('are answered with the columns asked for', async () => {
    const some = await sendTolerated('GET', searchPath({ id: { eq: 9 } }, '&select_cols=["id","name"]'));
    expect(some.body).toEqual({ success: true, templates_found: 1, templates: [{ id: 9, name: 'vllm' }] });
    const all = await sendTolerated('GET', searchPath({ id: { eq: 9 } }, '&select_cols=["*"]'));
    const whole = { id: 9, hash_id: EXAMPLE_HASH, image: 'vllm/vllm-openai' };
    expect(all.body['templates']).toMatchObject([whole]);
  });

  test.each([
    [{ count_created: { gt: '100' } }, [10]],
    [{ id: { in: ['9', '11'] } }, [9]],
    [{ id: { notin: ['9'] }, recommended: { eq: 'true' } }, [10]],
  ])('are found by the filter %j with its texts', async (filters, ids) => {
    const { body } = await sendTolerated('GET', searchPath(filters));
    expect((body['templates'] as { id: number }[]).map(({ id }) => id)).toEqual(ids);
  });

  test('are not found by a field that there is not, nor is the filter passed over', async () => {
    for (const filters of [{ colour: { eq: 1 } }, { id: { eq: 'many' } }]) {
      expect(await send('GET', searchPath(filters))).toMatchObject({ status: 400, body: { success: false } });
    }
  });

  test('are created with null for what is not set, text for numbers, and fields that are not listed', async () => {
    const { body } = await sendTolerated('POST', TEMPLATES, {
      name: 'from the command line',
      image: 'team/app',
      tag: null,
      href: null,
      repo: null,
      env: null,
      onstart: null,
      jup_direct: false,
      ssh_direct: true,
      use_jupyter_lab: false,
      runtype: 'ssh',
      use_ssh: true,
      jupyter_dir: null,
      docker_login_repo: null,
      extra_filters: {},
      recommended_disk_space: '32',
      readme: null,
      readme_visible: true,
      desc: null,
      private: true,
    });
    const filled = { tag: 'latest', recommended_disk_space: 32, docker_login_repo: '' };
    expect(body['template']).toMatchObject(filled);
    expect(body['template']).not.toHaveProperty('readme_visible');
    expect(body['template']).not.toHaveProperty('env');
  });

  test('keep null in an edit only where it means something', async () => {
    await send('PUT', TEMPLATES, { hash_id: EXAMPLE_HASH, jupyter_dir: '/work' });
    const edit = { hash_id: emulator.templates.list()[0]?.hash_id, jupyter_dir: null, image: null };
    expect((await send('PUT', TEMPLATES, edit)).body['template']).toMatchObject({ hash_id: EXAMPLE_HASH });
  });

  test('are deleted by hash_id too', async () => {
    await sendTolerated('DELETE', TEMPLATES, { hash_id: EXAMPLE_HASH });
    expect(emulator.templates.list().map(({ id }) => id)).toEqual([10, 11]);
    const gone = await send('DELETE', TEMPLATES, { hash_id: EXAMPLE_HASH });
    expect(gone).toMatchObject({ status: 404, body: { success: false, error: 'not_found' } });
    // That of somebody else is no more deleted than it would be by its id.
    const foreign = emulator.templates.list()[0]?.hash_id;
    expect(await send('DELETE', TEMPLATES, { hash_id: foreign })).toMatchObject({ status: 404 });
    await send('POST', TEMPLATES, BASE);
    expect(await send('DELETE', TEMPLATES, { template_id: '12' })).toMatchObject({ status: 200 });
  });
});

test('an instance is created from what clients send beside the contract, and listed at v1', async () => {
  const volume = { create_new: true, volume_id: 4, mount_path: '/data', name: 'data' };
  const { body } = await sendTolerated('PUT', '/api/v0/asks/3001/', {
    image: 'team/app',
    env: { A: '1', '-p 8000:8000': '1', '-h': 'name' },
    disk: 20,
    python_utf8: false,
    runtype: 'ssh_direc ssh_proxy',
    volume_info: { ...volume, size: '15', unknown: null },
  });
  expect(body).toEqual({ success: true, id: 3001, new_contract: 505 });
  const listed = await send('GET', '/api/v1/instances/');
  expect(listed.body).toMatchObject({ success: true, next_token: null, instances_found: 5 });
  expect((listed.body['instances'] as unknown[]).at(-1)).toMatchObject({
    id: 505,
    image_runtype: 'ssh_direc ssh_proxy',
    disk_space: 20,
    extra_env: [
      ['A', '1'],
      ['-p 8000:8000', '1'],
      ['-h', 'name'],
    ],
    volume_info: { ...volume, size: 15 },
  });
});

describe('API keys', () => {
  const KEYS = '/api/v0/auth/apikeys/';

  test('are created with their value shown once, used, listed without it, and deleted', async () => {
    const permissions = { api: { user_read: {} } };
    const { key, id } = await client.apiKeys.create({ name: 'reader', permissions });
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    await expect(client.templates.search({}, { apiKey: key })).resolves.toBeDefined();
    const beat = client.deployments.heartbeat({ id: 42 }, { apiKey: key, retry: false });
    await expect(beat).rejects.toMatchObject({ errorCode: 'forbidden' });
    const { apikeys } = await client.apiKeys.list();
    const of = { key_type: 'api', user_id: 1 };
    expect(apikeys).toEqual([
      { id: 1, name: 'default', permissions: null, ...of },
      { id: 2, name: 'team', permissions: null, ...of },
      { id: 3, name: 'reader', permissions, ...of },
    ]);
    expect(id).toBe(3);
    const deleted = await client.apiKeys.delete({ id: 3 });
    expect(deleted).toEqual({ success: true, msg: 'Successfully Deleted API Key' });
    const after = client.templates.search({}, { apiKey: key, retry: false });
    await expect(after).rejects.toMatchObject({ status: 401 });
    await expect(client.apiKeys.delete({ id: 3 })).rejects.toMatchObject({ status: 404 });
    expect(JSON.stringify(emulator.journal.entries())).not.toContain(key);
  });

  test('without permissions have full access; an empty set has none; a name may come twice', async () => {
    const full = await send('POST', KEYS, { name: 'one', permissions: null, key_params: null });
    const none = await send('POST', KEYS, { name: 'one', permissions: {} });
    for (const [{ body }, status] of [
      [full, 200],
      [none, 401],
    ] as const) {
      const answer = await send('GET', TEMPLATES, undefined, emulator, String(body['key']));
      expect(answer.status).toBe(status);
    }
    expect(full.body['key']).not.toBe(none.body['key']);
  });

  test('are reset by themselves: a session_key is none, and says so', async () => {
    const code = emulator.totp(1);
    const { session_key: apiKey = '' } = await client.tfa.login({ tfa_method: 'totp', code });
    const reset = client.apiKeys.reset({}, { apiKey });
    await expect(reset).rejects.toMatchObject({ status: 403, errorCode: 'forbidden' });
    await expect(client.users.current()).resolves.toBeDefined();
    await expect(client.users.current({}, { apiKey })).resolves.toBeDefined();
  });

  test('are shown one by one too, without their values, and only to whom they belong', async () => {
    const one = await send('GET', `${KEYS}2`);
    expect(one.body).toMatchObject({ success: true, id: 2, name: 'team', key_type: 'api', user_id: 1 });
    expect(JSON.stringify(one.body)).not.toContain(DEFAULT_TEAM_KEY);
    expect(await send('GET', `${KEYS}9/`)).toMatchObject({ status: 404, body: { error: 'not_found' } });
    await emulator.seed(TWO_ACCOUNTS);
    expect(await send('GET', `${KEYS}1/`, undefined, emulator, 'b')).toMatchObject({ status: 404 });
  });

  test('act in the context of the key that created them', async () => {
    const { key } = await client.apiKeys.create({ name: 'for the team' }, { apiKey: DEFAULT_TEAM_KEY });
    const role = { name: 'r', permissions: {} };
    await expect(client.teams.createRole(role, { apiKey: key })).resolves.toBeDefined();
  });

  test('get another value by a reset, and the old one is 401 at once', async () => {
    const old = emulator.apiKey;
    const { new_api_key: renewed } = await client.apiKeys.reset();
    expect(emulator.apiKey).toBe(renewed);
    await expect(client.users.current({}, { retry: false })).rejects.toMatchObject({ status: 401 });
    await expect(client.users.current({}, { apiKey: renewed })).resolves.toMatchObject({ id: 1 });
    expect(renewed).not.toBe(old);
    const { apikeys } = await client.apiKeys.list({}, { apiKey: renewed });
    expect(apikeys.map(({ id }) => id)).toEqual([1, 2]);
  });
});

test('endpoints are taken with more cold workers than workers, which the rules alone call an error', async () => {
  const parameters = { cold_workers: 30, max_workers: 20 };
  expect(await send('POST', '/api/v0/endptjobs/', parameters)).toMatchObject({ status: 200 });
  expect(await send('PUT', '/api/v0/endptjobs/31/', { cold_workers: 21 })).toMatchObject({ status: 200 });
  expect(emulator.endpointGroups.list()).toMatchObject([{ id: 31, cold_workers: 21 }, parameters]);
  const [finding] = checkEndpointGroup(parameters).findings;
  expect(finding).toMatchObject({ rule: 'cold-workers-above-max', severity: 'error' });
});

test('the older log path, a tail that is not given, and a key that is not in the body', async () => {
  emulator.workergroups.append(8, ['one', 'two']);
  const levels = { success: true, info0: 'one\ntwo\n', info1: 'one\ntwo\n', trace: '', debug: '' };
  const older = '/get_autogroup_logs/';
  expect((await send('POST', older, { id: 8 })).body).toEqual(levels);
  expect(await send('POST', older, { id: 8 }, spec)).toMatchObject({ status: 404 });
  const newer = await send('POST', '/get_workergroup_logs/', { id: 8 });
  expect(newer.body).toEqual(levels);
  for (const body of [{ id: 8 }, { id: 8, tail: 5 }, { id: 8, api_key: spec.apiKey }]) {
    expect(await send('POST', '/get_workergroup_logs/', body, spec)).toMatchObject({ status: 400 });
  }
});

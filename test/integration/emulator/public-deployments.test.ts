/** Deployments as the public service's clients make, read, stop and delete them. */
import { describe, expect, test } from 'vitest';
import { publicForEach, startPublic, TWO_ACCOUNTS, type Answered } from '../../support/public-client.ts';

/** As the public client sends it: everything it knows, null where nothing is set. */
const CIRCLE = {
  name: 'circle',
  image: 'team/app:1',
  file_hash: 'aaaa',
  file_size: 5,
  env: { HF_HOME: '/models' },
  tag: null,
  search_params: 'gpu_ram>=24 verified=true',
  storage: 40,
  ttl: 120,
  version_label: null,
  docker_login_user: null,
  docker_login_pass: null,
  docker_login_repo: null,
  cold_workers: 2,
  max_workers: '4',
  target_util: null,
  autoscaler_instance: 'prod',
};

const service = publicForEach();
const { send } = service;

function make(more: object = {}): Promise<Answered> {
  return send('PUT', '/api/v0/deployments/', { ...CIRCLE, ...more });
}

async function deployment(id: number): Promise<Record<string, unknown>> {
  const { body } = await send('GET', `/api/v0/deployment/${id}/`);
  return body['deployment'] as Record<string, unknown>;
}

function instanceStates(): unknown[] {
  const { instances } = service.emulator;
  return instances.list().flatMap(({ id, status }) => (id > 504 ? [status] : []));
}

async function post({ body }: Answered, file: string, changes: object = {}): Promise<Response> {
  const form = new FormData();
  const fields = { ...(body['upload_fields'] as object), ...changes };
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
  form.set('file', new Blob([file]), 'code.tar.gz');
  return await fetch(String(body['upload_url']), { method: 'POST', body: form });
}

test('a deployment of the seed gets an endpoint by its first update, with the parameters in it', async () => {
  const { name, tag } = await deployment(43);
  const first = await make({ name, tag, max_workers: 3 });
  const ids = { deployment_id: 43, endpoint_id: 32, workergroup_id: 9 };
  expect(first.body).toMatchObject({ success: true, ...ids });
  const { body } = await send('GET', '/api/v0/endptjobs/32/');
  expect(body['result']).toMatchObject({ max_workers: 3 });
  expect((await make({ name, tag, max_workers: 5 })).body).toMatchObject({ action: 'autoscale_update' });
  expect((await make({ name, tag, max_workers: -7 })).status).toBe(400);
});

describe('a deployment that is made', () => {
  test('has an endpoint, a worker group, workers with instances, and a TTL that a heartbeat renews', async () => {
    const made = await make();
    expect(made).toMatchObject({
      status: 200,
      body: { success: true, action: 'created', deployment_id: 44, endpoint_id: 32, workergroup_id: 9 },
    });
    expect(await deployment(44)).toMatchObject({
      name: 'circle',
      tag: 'default',
      image: 'team/app:1',
      file_hash: 'aaaa',
      endpoint_id: 32,
      endpoint_state: 'active',
      worker_count: 3,
      env: { HF_HOME: '/models' },
      storage: 40,
      ttl: 120,
      last_client_heartbeat: null,
      last_healthy_version_id: null,
    });
    const parameters = { cold_workers: 2, max_workers: 4, target_util: 0.9 };
    const endpoint = service.emulator.endpointGroups.list().at(-1);
    expect(endpoint).toMatchObject({ id: 32, endpoint_name: 'circle', ...parameters });
    expect(service.emulator.workergroups.get(9).linesPerSecond).toBe(2);
    expect(instanceStates()).toEqual(['created', 'created', 'created']);
    await service.emulator.clock.advance(119_000);
    expect(await send('POST', '/api/v0/deployment/44/heartbeat/')).toMatchObject({ status: 200 });
    await service.emulator.clock.advance(119_000);
    const beatAt = service.emulator.clock.now() / 1000 - 119;
    expect(await deployment(44)).toMatchObject({ ttl: 120, last_client_heartbeat: beatAt });
  });

  test('takes its endpoint, worker group and workers along when its TTL passes', async () => {
    await make();
    await service.emulator.clock.advance(120_000);
    expect(instanceStates()).toEqual([]);
    const { body: listed } = await send('GET', '/api/v0/deployments/');
    expect(listed['deployments']).toMatchObject([{ id: 42 }]);
    expect(service.emulator.endpointGroups.list()).toHaveLength(1);
    expect(service.emulator.workergroups.list().map(({ id }) => id)).toEqual([7, 8]);
    const gone = await send('POST', '/api/v0/deployment/44/stop/', {});
    expect(gone).toMatchObject({ status: 404, body: { success: false, error: 'not_found' } });
    expect(await make()).toMatchObject({ body: { action: 'created', deployment_id: 45 } });
  });

  test('has its file posted where the answer says, which may be refused', async () => {
    const made = await make();
    expect((await post(made, 'other')).status).toBe(204);
    expect(await deployment(44)).toMatchObject({ last_healthy_version_id: 44 });
    const next = await make({ file_hash: 'bbbb' });
    for (const file of ['too long', 'less']) expect((await post(next, file)).status).toBe(400);
    expect((await post(next, '12345', { policy: 'guessed' })).status).toBe(403);
    expect((await post(next, '12345', { key: 'elsewhere' })).status).toBe(403);
    const odd = await fetch(String(next.body['upload_url']), { method: 'POST', body: 'no form' });
    expect([odd.status, await odd.text()]).toEqual([400, expect.stringContaining('MalformedPOSTRequest')]);
    expect(await deployment(44)).toMatchObject({ current_version_id: 45, last_healthy_version_id: 44 });
    expect((await post(next, '12345')).status).toBe(204);
    expect(await deployment(44)).toMatchObject({ last_healthy_version_id: 45 });
  });

  test('has an endpoint whose rules hold', async () => {
    const refused = await make({ target_util: 90 });
    expect(refused).toMatchObject({ status: 400, body: { error: 'bad_request' } });
    expect(refused.reason).toContain('target_util');
    expect(service.emulator.deployments.list()).toHaveLength(2);
  });
});

describe('a deployment that is made again', () => {
  test('unchanged exists, and has its file asked for until it has come', async () => {
    const first = await make();
    const again = await make();
    expect(again.body).toMatchObject({ action: 'exists', deployment_id: 44, upload_fields: {} });
    expect(again.body['upload_fields']).toEqual(first.body['upload_fields']);
    await post(again, '12345');
    expect((await make()).body).not.toHaveProperty('upload_url');
  });

  test('with other parameters or another TTL is an update of the autoscaler alone', async () => {
    await make();
    expect((await make({ max_workers: 9 })).body).toMatchObject({ action: 'autoscale_update' });
    expect(service.emulator.endpointGroups.list().at(-1)).toMatchObject({ max_workers: 9, cold_workers: 2 });
    expect((await make({ ttl: 60 })).body).toMatchObject({ action: 'autoscale_update' });
    expect(await deployment(44)).toMatchObject({ ttl: 60, current_version_id: 44 });
  });

  test('with other code gets a version, and its workers are updated one after the other', async () => {
    await make();
    await service.emulator.clock.advance(60_000);
    const again = await make({ file_hash: 'bbbb', version_label: 'second' });
    expect(again.body).toMatchObject({ action: 'soft_update', deployment_id: 44, endpoint_id: 32 });
    const { body } = await send('GET', '/api/v0/deployment/44/versions/');
    const first = { id: 44, file_hash: 'aaaa', version_label: null, image: 'team/app:1' };
    const second = { id: 45, file_hash: 'bbbb', version_label: 'second' };
    const versions = [second, { ...first, created_at: expect.any(Number) as number }];
    expect(body).toMatchObject({ success: true, versions });
  });

  test('loses the oldest versions, and needs no file that it has', async () => {
    await using small = await startPublic({ settings: { deploymentVersionsKept: 2 } });
    const put = (file_hash: string) =>
      small.send('PUT', '/api/v0/deployments/', { ...CIRCLE, file_hash, file_size: 5 });
    await post(await put('a'), '12345');
    await put('b');
    expect((await put('a')).body).not.toHaveProperty('upload_url');
    expect((await put('c')).body).toMatchObject({ evicted_versions: [45] });
    expect((await put('c')).body).not.toHaveProperty('evicted_versions');
  });
});

describe('stopping and starting', () => {
  test('move endpoint and workers', async () => {
    // So much that all of its workers stay ready.
    await make({ min_load: 2_000, cold_mult: 1, cold_workers: 3 });
    await service.emulator.clock.advance(60_000);
    expect(instanceStates()).toEqual(['running', 'running', 'running']);
    const stopped = await send('POST', '/api/v0/deployment/44/stop/');
    expect(stopped).toMatchObject({ status: 200, body: { success: true, endpoint_state: 'stopped' } });
    expect(await deployment(44)).toMatchObject({ endpoint_state: 'stopped' });
    expect(instanceStates()).toEqual(['exited', 'exited', 'exited']);
    const started = await send('POST', '/api/v0/deployment/44/start');
    expect(started.body).toEqual({ success: true, endpoint_state: 'active' });
    expect(instanceStates()).toEqual(['loading', 'loading', 'loading']);
    await service.emulator.clock.advance(25_000);
    expect(instanceStates()).toEqual(['running', 'running', 'running']);
  });

  test('need a deployment, and a key that may write', async () => {
    const { emulator } = service;
    expect(await send('POST', '/api/v0/deployment/9/stop/', {})).toMatchObject({ status: 404 });
    emulator.apiKeys.add({ name: 'reader', key: 'reader', permissions: { api: { user_read: {} } } });
    for (const [method, path] of [
      ['POST', '/api/v0/deployment/42/stop/'],
      ['DELETE', '/api/v0/deployment/42/'],
      ['PUT', '/api/v0/deployments/'],
    ] as const) {
      expect(await send(method, path, CIRCLE, 'reader')).toMatchObject({ status: 401 });
    }
  });
});

describe('deletion', () => {
  test.each(['deployment', 'endptjobs', 'workergroups'])('by its %s takes everything along', async (kind) => {
    const { body } = await make();
    const { deployment_id, endpoint_id, workergroup_id } = body;
    const ids: Record<string, unknown> = { deployment: deployment_id, endptjobs: endpoint_id };
    const path = `/api/v0/${kind}/${Number(ids[kind] ?? workergroup_id)}/`;
    const deleted = await send('DELETE', path, { client_id: 'me' });
    expect(deleted).toMatchObject({ status: 200, body: { success: true } });
    for (const gone of [`deployment/${Number(deployment_id)}`, `endptjobs/${Number(endpoint_id)}`])
      expect(await send('GET', `/api/v0/${gone}/`)).toMatchObject({ status: 404 });
    expect(instanceStates()).toEqual([]);
    expect(await send('DELETE', '/api/v0/deployment/44')).toMatchObject({ status: 404 });
  });

  test.each([
    [{ name: 'square', tag: 'blue' }, 1, [42]],
    [{ name: 'square', tag: null, extra: 1 }, 2, []],
  ])('by name: %j', async (body, count, left) => {
    expect((await send('DELETE', '/api/v0/deployments/', body)).body).toEqual({ success: true, count });
    expect(service.emulator.deployments.list().map(({ id }) => id)).toEqual(left);
    expect(await send('DELETE', '/api/v0/deployments', body)).toMatchObject({ status: 404 });
  });
});

test("a deployment of somebody else's account is not to be seen, kept alive or deleted", async () => {
  await using two = await startPublic({ seed: TWO_ACCOUNTS });
  expect((await two.send('GET', '/api/v0/deployments', undefined, 'b')).body['deployments']).toEqual([]);
  for (const [method, path] of [
    ['GET', ''],
    ['POST', 'heartbeat/'],
    ['GET', 'versions/'],
    ['DELETE', ''],
  ] as const) {
    const answer = await two.send(method, `/api/v0/deployment/42/${path}`, undefined, 'b');
    expect(answer.status).toBe(404);
  }
  const made = await two.send('PUT', '/api/v0/deployments/', CIRCLE, 'b');
  expect(made.body).toMatchObject({ deployment_id: 44 });
  expect((await two.send('GET', '/api/v0/deployments/', undefined, 'a')).body['deployments']).toHaveLength(2);
});

test('a negative TTL switches expiry off, and a version says when it was used', async () => {
  const { body } = await make({ ttl: -1 });
  const id = Number(body['deployment_id']);
  await service.emulator.clock.advance(3_600_000);
  expect(await deployment(id)).toMatchObject({ ttl: null });
  const { body: listed } = await send('GET', `/api/v0/deployment/${id}/versions/`);
  expect(listed['versions']).toMatchObject([{ last_used_at: expect.any(Number) as number }]);
  await make({ ttl: 7200 });
  await make({ ttl: -1 });
  await service.emulator.clock.advance(7_200_000);
  expect(await deployment(id)).toMatchObject({ ttl: null });
});

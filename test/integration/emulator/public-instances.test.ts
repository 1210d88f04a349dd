/** Instances as the public service's clients look at them, label, stop and start them, and rent several at once. */
import { describe, expect, test } from 'vitest';
import { publicForEach } from '../../support/public-client.ts';

const { send } = publicForEach();

async function row(id: number): Promise<Record<string, unknown>> {
  const { body } = await send('GET', `/api/v0/instances/${id}/`, undefined);
  return body['instances'] as Record<string, unknown>;
}

test('one instance is labelled, and the label taken away', async () => {
  const put = (label: string) => send('PUT', '/api/v0/instances/501/', { label, state: null });
  expect((await put('mine')).body).toEqual({ success: true });
  expect(await row(501)).toMatchObject({ label: 'mine', actual_status: 'running' });
  await put('');
  expect(await row(501)).toMatchObject({ label: null });
});

test('filters are the combinations that there are', async () => {
  const { body } = await send('GET', '/api/v0/instances/filters/');
  expect(body).toEqual({
    success: true,
    filters: [
      { actual_status: 'running', verification: 'verified', gpu_name: 'RTX 4090' },
      { actual_status: 'created', verification: 'verified', gpu_name: 'RTX 4090' },
    ],
  });
});

describe('several offers at once', () => {
  const bulk = (body: object) => send('POST', '/api/v0/asks/bulk/', body);

  test('are rented or refused each by itself', async () => {
    const ids = ['3001', 3002, 9, 3001];
    const { body } = await bulk({ ids, image: 'a', disk: 10, client_id: 'me', label: null });
    expect(body).toEqual({
      success: true,
      results: [
        { ask_id: 3001, success: true, new_contract: 505, state: 'running' },
        { ask_id: 3002, success: true, new_contract: 506, state: 'running' },
        { ask_id: 9, success: false, error: 'no_such_ask', msg: 'Instance type 9 is not available.' },
      ],
      created: [505, 506],
      failed: [9],
      elapsed: 0,
    });
    expect(await row(506)).toMatchObject({ num_gpus: 2, disk_space: 10 });
  });

  test('take their environment as flags too, and may be made stopped', async () => {
    const env = '-e A=1 -p 80:80';
    await bulk({ ids: [3001], image: 'a', env, target_state: 'stopped' });
    expect(await row(505)).toMatchObject({
      intended_status: 'stopped',
      actual_status: 'created',
      extra_env: [
        ['A', '1'],
        ['-p 80:80', '1'],
      ],
    });
    const wrong = await send('PUT', '/api/v0/asks/3002/', { image: 'a', env: '-e 1A' });
    expect(wrong).toMatchObject({ status: 400, body: { error: 'bad_request', ask_id: 3002 } });
  });

  test('of which none can be had are no success', async () => {
    const answer = await bulk({ ids: [9], image: 'a' });
    expect(answer).toMatchObject({ status: 400, body: { success: false, created: [], failed: [9] } });
    expect(await bulk({ ids: [], image: 'a' })).toMatchObject({ status: 400 });
    const many = Array.from({ length: 65 }, (_, index) => index);
    expect(await bulk({ ids: many, image: 'a' })).toMatchObject({ status: 400 });
  });
});

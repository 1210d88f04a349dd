import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { OPERATION_IDS, operationOf } from '../../../src/contract/operations.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { ask } from '../../support/public-client.ts';

test('a client gives fields that the interface does not have, and unsets by null, in this dialect alone', async () => {
  const registry = { docker_login_repo: '', docker_login_user: '', docker_login_pass: '' };
  const extra = { readme_visible: true, tag: null, env: null, extra_filters: null, volume_info: null };
  const input = { name: 'extra', image: 'x', ...registry, extra };
  await using lax = await startEmulator({ dialect: 'public' });
  await using client = createClient({ baseUrl: lax.url, apiKey: lax.apiKey });
  const { template } = await client.templates.create(input);
  expect(template).toMatchObject({ name: 'extra', tag: 'latest' });
  const { templates } = await client.templates.search({
    select_filters: { name: { eq: 'extra' } },
    extra: { select_cols: ['hash_id'] },
  });
  expect(templates).toEqual([{ hash_id: template.hash_id }]);
  const rented = await client.instances.create({
    offer_id: 3001,
    image: 'x',
    extra: { entrypoint: '/bin/sh', label: null, disk: '40', onstart: null },
  });
  expect(rented.new_contract).toBeGreaterThan(0);

  await using strict = await startEmulator();
  await using asInterface = createClient({ baseUrl: strict.url, apiKey: strict.apiKey });
  await expect(asInterface.templates.create(input)).rejects.toMatchObject({ errorCode: 'bad_request' });
});

test('operations that the interface does not have are unknown under the spec dialect', async () => {
  await using strict = await startEmulator();
  const operations = OPERATION_IDS.map((id) => operationOf(id));
  const added = operations.filter(({ origin, path }) => {
    const isOfBoth = operations.some((other) => other.origin !== origin && other.path === path);
    return origin === 'public dialect' && !isOfBoth;
  });
  expect(added.length).toBeGreaterThan(15);
  for (const { method, path } of added) {
    const answer = await ask(
      strict,
      [method, path.replaceAll(/\{\w+\}/g, '1')],
      method === 'GET' ? undefined : {},
    );
    expect([method, path, answer.status]).toEqual([method, path, 404]);
  }
});

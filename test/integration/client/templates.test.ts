import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { ApiError } from '../../../src/client/errors.ts';
import { openTemplate } from '../../../src/client/flows/templates.ts';
import { startEmulator } from '../../../src/emulator/index.ts';

const FIELDS = {
  name: 'chat',
  image: 'vllm/vllm-openai',
  docker_login_repo: '',
  docker_login_user: '',
  docker_login_pass: '',
};

test('an open template follows its hash through edits, also those made at once', async () => {
  await using emulator = await startEmulator();
  await using client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  const { template } = await client.templates.create(FIELDS);
  const open = openTemplate(client, template);
  await Promise.all([open.edit({ desc: 'first' }), open.edit({ desc: 'second' }), open.edit({ tag: 'v2' })]);
  expect(open.hashId).not.toBe(template.hash_id);
  const { templates } = await client.templates.search({ select_filters: { hash_id: { eq: open.hashId } } });
  expect(templates).toMatchObject([{ id: template.id, desc: 'second', tag: 'v2' }]);
  // The old hash names nothing any more.
  await expect(client.templates.edit({ hash_id: template.hash_id, desc: 'late' })).rejects.toThrow(ApiError);
});

test('an edit that fails leaves the template as it was, and the next one works', async () => {
  await using emulator = await startEmulator();
  await using client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  const { template } = await client.templates.create(FIELDS);
  const open = openTemplate(client, template);
  await emulator.faults.add({ kind: 'status', operation: 'templates.edit', times: 1 });
  await expect(open.edit({ desc: 'lost' })).rejects.toThrow(ApiError);
  expect(open.hashId).toBe(template.hash_id);
  expect(await open.edit({ desc: 'kept' })).toMatchObject({ desc: 'kept' });
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { launchInstance } from '../../../src/client/flows/launch.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';

let emulator: Emulator;
let client: Client;
beforeEach(async () => {
  emulator = await startEmulator({
    dialect: 'public',
    settings: { instanceCreatedSeconds: 0, instanceLoadingSeconds: 0 },
  });
  client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await emulator.close();
});

const request = { image: 'vllm/vllm-openai', disk: 20 };
const LAUNCH = { offers: [3001, 3002, 3003], request, pollMs: 5 };

function ids(): number[] {
  return emulator.instances.list().map(({ id }) => id);
}

test('the first offer is rented, with env given as flags, until it runs', async () => {
  const flags = { ...request, env: '-e A=1 -p 8000:8000' };
  const { instanceId, ...launched } = await launchInstance(client, { ...LAUNCH, request: flags });
  expect(launched).toEqual({ offerId: 3001, givenUp: [] });
  const { instances } = await client.instances.list();
  expect(instances.find(({ id }) => id === instanceId)).toMatchObject({
    actual_status: 'running',
    extra_env: [
      ['A', '1'],
      ['-p 8000:8000', '1'],
    ],
  });
});

test.each(['exited', 'unknown', 'offline'] as const)(
  'an instance that becomes %s is destroyed, and the next offer tried',
  async (status) => {
    const existing = ids();
    const launched = await launchInstance(client, {
      ...LAUNCH,
      onProgress(progress) {
        if (progress.step === 'rented' && progress.offerId === 3001)
          emulator.instances.setStatus(progress.instanceId, status);
      },
    });
    expect(launched).toMatchObject({
      offerId: 3002,
      givenUp: [{ offerId: 3001, reason: `it became ${status}` }],
    });
    expect(ids()).toEqual([...existing, launched.instanceId]);
  },
);

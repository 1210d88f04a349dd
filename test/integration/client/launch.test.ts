import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { AbortedError, RequestError } from '../../../src/client/errors.ts';
import { launchInstance, LaunchError, type LaunchProgress } from '../../../src/client/flows/launch.ts';
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
const OFFERS = [3001, 3002, 3003];

function before(): Set<number> {
  return new Set(emulator.instances.list().map(({ id }) => id));
}

describe('launching an instance', () => {
  test('rents the first offer and waits until it runs', async () => {
    const steps: LaunchProgress[] = [];
    const launched = await launchInstance(client, {
      offers: OFFERS,
      request,
      pollMs: 5,
      onProgress: (step) => steps.push(step),
    });
    expect(launched).toMatchObject({ offerId: OFFERS[0], givenUp: [] });
    expect(emulator.instances.list()).toContainEqual(
      expect.objectContaining({ id: launched.instanceId, status: 'running' }),
    );
    expect(steps.map(({ step }) => step)).toContain('rented');
  });

  test('an offer that is gone is passed over', async () => {
    await client.instances.create({ offer_id: 3001, ...request });
    const launched = await launchInstance(client, { offers: OFFERS, request, pollMs: 5 });
    expect(launched.offerId).toBe(3002);
    expect(launched.givenUp).toMatchObject([{ offerId: 3001, instanceId: undefined }]);
  });

  test.each(['exited', 'unknown', 'offline'] as const)(
    'an instance that becomes %s is destroyed, and the next offer tried',
    async (status) => {
      const existing = before();
      const launched = await launchInstance(client, {
        offers: OFFERS,
        request,
        pollMs: 5,
        onProgress(progress) {
          if (progress.step === 'rented' && progress.offerId === 3001)
            emulator.instances.setStatus(progress.instanceId, status);
        },
      });
      expect(launched.offerId).toBe(3002);
      expect(launched.givenUp).toMatchObject([{ offerId: 3001, reason: `it became ${status}` }]);
      expect([...before()].filter((id) => !existing.has(id))).toEqual([launched.instanceId]);
    },
  );

  test('when no offer works, the error names each with its reason, and nothing is left', async () => {
    const existing = before();
    const launching = launchInstance(client, {
      offers: OFFERS,
      request,
      pollMs: 5,
      onProgress(progress) {
        if (progress.step === 'rented') emulator.instances.setStatus(progress.instanceId, 'offline');
      },
    });
    await expect(launching).rejects.toThrow(LaunchError);
    await expect(launching).rejects.toThrow(/offer 3001: it became offline; offer 3002: .*; offer 3003: /);
    expect(before()).toEqual(existing);
  });

  test('aborting destroys what was rented', async () => {
    const existing = before();
    const controller = new AbortController();
    const launching = launchInstance(client, {
      offers: OFFERS,
      request,
      pollMs: 5,
      signal: controller.signal,
      onProgress(progress) {
        if (progress.step !== 'rented') return;
        emulator.instances.setStatus(progress.instanceId, 'loading');
        controller.abort();
      },
    });
    await expect(launching).rejects.toThrow(AbortedError);
    expect(before()).toEqual(existing);
  });

  test('bad input is refused before anything is sent', async () => {
    const bad = [
      { ...request, env: '-e NOVALUE -x' },
      { ...request, onstart: Array.from({ length: 9000 }, () => Math.random().toString(36)[2]).join('') },
      { ...request, volume_info: { create_new: true, volume_id: 1, mount_path: '/data' } },
    ];
    for (const one of bad) {
      await expect(launchInstance(client, { offers: OFFERS, request: one })).rejects.toThrow(RequestError);
    }
    expect(emulator.journal.count({ operation: 'instances.create' })).toBe(0);
  });

  test('env may be given as flags', async () => {
    const flags = { ...request, env: '-e A=1 -p 8000:8000' };
    const { instanceId } = await launchInstance(client, { offers: OFFERS, request: flags, pollMs: 5 });
    const { instances } = await client.instances.list();
    expect(instances.find(({ id }) => id === instanceId)).toMatchObject({
      extra_env: [
        ['A', '1'],
        ['-p 8000:8000', '1'],
      ],
    });
  });
});

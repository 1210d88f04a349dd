// How a program that speaks this interface is tested without an account, and without waiting.
//   node --test emulator.test.ts
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, createClient } from 'pilotlight';
import { startEmulator } from 'pilotlight/emulator';

test('a deployment expires to the second, and a hundred seconds pass in none', async () => {
  await using emulator = await startEmulator({
    seed: { deployments: [{ id: 42, ttl: 100 }] },
    clock: { frozenAtMs: Date.UTC(2026, 0, 1) },
  });
  await using client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });

  await emulator.clock.advance(99_000);
  await client.deployments.heartbeat({ id: 42 });
  await emulator.clock.advance(100_000);
  await assert.rejects(
    client.deployments.heartbeat({ id: 42 }),
    (error) => error instanceof ApiError && error.status === 404,
  );
  assert.equal(emulator.deployments.get(42).lapses, 1);
});

test('a request that is throttled is repeated', async () => {
  await using emulator = await startEmulator();
  await using client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });

  await emulator.faults.add({ kind: 'throttled', operation: 'deployments.heartbeat', times: 1 });
  await client.deployments.heartbeat({ id: 42 });
  assert.equal(emulator.journal.count({ operation: 'deployments.heartbeat' }), 2);
});

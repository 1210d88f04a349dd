/** What the watch of instances counts and reports: one that died, and one that its owner stopped. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { createInstancesWatch } from '../../../src/watch/account.ts';

let emulator: Emulator;
let client: Client;
let watch: ReturnType<typeof createInstancesWatch>;
let reported: { id: number; status: string }[];
beforeEach(async () => {
  // Of its instances 501 and 503 run, 502 and 504 are on their way.
  emulator = await startEmulator({ dialect: 'public', clock: 'frozen' });
  client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  reported = [];
  watch = createInstancesWatch(client, (instance) => reported.push(instance));
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await emulator.close();
});

async function look(): Promise<Record<string, number>> {
  await watch.run(new AbortController().signal);
  return Object.fromEntries([...watch.view()].filter(([, count]) => count > 0));
}

test('an instance that died is counted under its status, and reported once', async () => {
  emulator.instances.setStatus(501, 'exited');
  emulator.instances.setStatus(502, 'offline');
  expect(await look()).toEqual({ exited: 1, offline: 1, running: 1, created: 1 });
  expect(await look()).toEqual({ exited: 1, offline: 1, running: 1, created: 1 });
  expect(reported).toEqual([
    { id: 501, status: 'exited' },
    { id: 502, status: 'offline' },
  ]);
});

test('an instance that its owner stopped is counted as stopped, and not reported', async () => {
  await client.instances.update({ id: 501, state: 'stopped' });
  expect(emulator.instances.list()[0]).toMatchObject({ id: 501, status: 'exited' });
  expect(await look()).toEqual({ stopped: 1, running: 1, created: 2 });
  // Its machine goes away: it was not to run anyway.
  emulator.instances.setStatus(501, 'offline');
  expect(await look()).toEqual({ stopped: 1, running: 1, created: 2 });
  expect(reported).toEqual([]);
});

test('an instance that is started again and dies then is reported', async () => {
  await client.instances.update({ id: 501, state: 'stopped' });
  await look();
  await client.instances.update({ id: 501, state: 'running' });
  emulator.instances.setStatus(501, 'exited');
  expect(await look()).toEqual({ exited: 1, running: 1, created: 2 });
  expect(reported).toEqual([{ id: 501, status: 'exited' }]);
});

test('workers that are kept cold are not reported', async () => {
  await client.endpointGroups.update({ id: 31, endpoint_state: 'stopped' });
  expect(await look()).toEqual({ stopped: 2, running: 1, created: 1 });
  expect(reported).toEqual([]);
});

test('a status is known in capitals too', async () => {
  emulator.instances.setStatus(501, 'Exited' as 'exited');
  expect(await look()).toEqual({ exited: 1, running: 1, created: 2 });
  expect(reported).toEqual([{ id: 501, status: 'exited' }]);
});

test('nothing is counted before the first look; after it every status that the interface names is', async () => {
  expect(watch.view()).toEqual(new Map());
  for (const { id } of emulator.instances.list()) await client.instances.destroy({ id });
  await look();
  expect(Object.fromEntries(watch.view())).toEqual({
    created: 0,
    loading: 0,
    running: 0,
    exited: 0,
    unknown: 0,
    offline: 0,
    stopped: 0,
  });
});

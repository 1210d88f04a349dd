import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { serviceOf, startTestDaemon, until } from '../../support/daemon.ts';

describe('worker groups by the name of their endpoint', () => {
  const seed = {
    endpoint_groups: [{ id: 31, endpoint_name: 'chat' }],
    workergroups: [
      { id: 7, endpoint_id: 31, lines_per_second: 0 },
      { id: 8, lines_per_second: 0 },
    ],
  };

  test('are found, also anew after a redeployment', async () => {
    await using emulator = await startEmulator({ dialect: 'public', seed });
    emulator.workergroups.append(7, ['of chat']);
    emulator.workergroups.append(8, ['of another']);
    await using daemon = await startTestDaemon({
      ...serviceOf(emulator),
      WORKER_GROUPS: 'endpoint:chat',
      FOLLOW_LEVELS: 'info1',
    });
    const followed = () => daemon.daemon.status().worker_groups.map((group) => group.workergroup_id);
    await until(() => daemon.lines(7).length === 1);
    expect(followed()).toEqual([7]);

    emulator.workergroups.remove(7);
    emulator.workergroups.add({ id: 9, endpoint_id: 31, lines_per_second: 0 });
    emulator.workergroups.append(9, ['of chat, made anew']);
    await daemon.daemon.reload();
    await until(() => daemon.lines(9).length === 1);
    // One list without it may be a fault of the service.
    expect(followed()).toEqual([7, 9]);
    await daemon.daemon.reload();
    await until(() => followed().length === 1);
    expect(followed()).toEqual([9]);
    expect(daemon.lines(8)).toEqual([]);
  });
});

test('the log of an endpoint is followed by its name as soon as there is one, beside those of worker groups', async () => {
  await using emulator = await startEmulator({
    dialect: 'public',
    seed: { workergroups: [{ id: 7, lines_per_second: 0, replay: { lines: ['of a worker'] } }] },
  });
  await using daemon = await startTestDaemon({
    ...serviceOf(emulator),
    WORKER_GROUPS: '7',
    ENDPOINT_LOGS: 'video',
    FOLLOW_LEVELS: 'info1',
  });
  await until(() => daemon.messages.some(({ msg }) => String(msg).startsWith('no endpoint has these names')));
  await using client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  const { result: id } = await client.endpointGroups.create({ endpoint_name: 'video' });
  await client.endpointGroups.update({ id, min_load: 5 });
  await daemon.daemon.reload();
  const ofEndpoint = () => daemon.records().filter(({ endpoint }) => endpoint !== undefined);
  await until(() => ofEndpoint().length === 2);
  for (const [index, record] of ofEndpoint().entries())
    expect(record).toMatchObject({
      endpoint: 'video',
      endpoint_id: id,
      epoch: 1,
      seq: index + 1,
      level: 'info1',
    });
  expect(ofEndpoint()[1]).toMatchObject({ line: expect.stringContaining('"min_load":5') as string });
  expect(ofEndpoint()[0]).not.toHaveProperty('workergroup_id');
  expect(daemon.daemon.status().endpoint_logs).toMatchObject([
    { endpoint_group: 'video', endpoint_id: id, lines: 2, last_error: null },
  ]);
  expect(await daemon.metrics()).toContain(
    'pilotlight_workergroup_log_lines_total{endpoint_group="video"} 2',
  );
});

import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { serviceOf, startTestDaemon, until } from '../../support/daemon.ts';

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

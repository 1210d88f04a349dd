import { expect, test } from 'vitest';
import type { FleetHistory } from '../../../src/daemon/http/fleet.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { pilotlight } from '../../support/console.ts';
import { serviceOf, startTestDaemon, until } from '../../support/daemon.ts';

test('what a daemon sees of an endpoint is in its status, metrics, history and on the command line alike', async () => {
  await using emulator = await startEmulator({ dialect: 'public' });
  await using daemon = await startTestDaemon({
    ...serviceOf(emulator),
    ENDPOINTS: 'all',
    FLEET_INTERVAL: '5s',
    BUDGET_PER_HOUR: '20',
    ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.97}]',
  });
  await until(() => (daemon.daemon.status().fleet.endpoints[0]?.last_sample_at ?? null) !== null);

  const status: unknown = await (await fetch(`${daemon.url}/api/status`)).json();
  expect(status).toMatchObject({
    fleet: {
      samples: true,
      sample_interval_seconds: 5,
      budget_per_hour: 20,
      history: 'memory',
      endpoints: [
        {
          endpoint_group: 'chat',
          endpoint_id: 31,
          state: 'active',
          last_error: null,
          capacity_hot: expect.any(Number),
          drift: [{ parameter: 'target_util', actual: 0.9, wanted: 0.97 }],
        },
      ],
    },
  });

  const metrics = await daemon.metrics();
  expect(metrics).toContain(
    'pilotlight_endpoint_parameter{parameter="target_util",endpoint_group="chat"} 0.9\n',
  );
  expect(metrics).toContain(
    'pilotlight_endpoint_parameter_drift{parameter="target_util",endpoint_group="chat"} 1\n',
  );
  expect(metrics).toMatch(/^pilotlight_endpoint_capacity\{state="hot",endpoint_group="chat"\} [\d.]+$/m);

  const history = (await (
    await fetch(`${daemon.url}/api/fleet?endpoint=chat&from=-1m`)
  ).json()) as FleetHistory;
  expect(history.endpoints).toMatchObject([{ endpoint_group: 'chat', endpoint_id: 31 }]);
  expect(history.endpoints[0]?.rows[0]?.samples).toBe(1);

  const printed = await pilotlight(['fleet', 'chat', '--once', '--url', daemon.url]);
  expect(printed).toMatchObject({ code: 0, stderr: '' });
  expect(printed.stdout).toMatch(/ chat: active, load .* target_util is 0\.9, configured 0\.97\n$/);
});

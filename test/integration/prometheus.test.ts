import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { serviceOf, startTestDaemon, until } from '../support/daemon.ts';
import { listenWithFleet, type FleetListener } from '../support/fleet-listener.ts';
import { describeWithPrometheus, startPrometheus } from '../support/prometheus.ts';
import { endpointView, fleetView, recordedFleet, UNSEEN } from '../support/recorded-fleet.ts';

/** A name that would end a label, a line or a comment, were it not escaped. */
const HOSTILE = 'a"b\\c\nd{e="f"} 1 # HELP';

async function fleetWithEverything(): Promise<FleetListener> {
  const drift = [{ parameter: 'target_util', actual: 0.8, wanted: 0.9 }];
  const endpoints = [{}, { endpoint: HOSTILE, id: 32, drift }, { endpoint: 'new', id: 33, ...UNSEEN }];
  const fleet = await listenWithFleet(
    recordedFleet(() => fleetView(endpoints.map((over) => endpointView(over)))),
    { endpoints: [{ by: 'all' as const }], fleetInterval: 15_000, budgetPerHour: 3, budgetPerMonth: 2000 },
  );
  fleet.observe({ kind: 'worker started', endpoint: 'chat', from: 'cold', seconds: 90 });
  fleet.observe({ kind: 'worker failed', endpoint: HOSTILE, workerId: 9 });
  return fleet;
}

describeWithPrometheus('metrics as Prometheus sees them', () => {
  test('promtool has nothing to say, and a real Prometheus knows deployments and endpoints, whatever their names', async () => {
    await using emulator = await startEmulator();
    await using daemon = await startTestDaemon({
      ...serviceOf(emulator),
      DEPLOYMENTS: '42@300s,43',
      WORKER_GROUPS: '7,8',
      MACHINES: '11,12',
      ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.97},{}]',
    });
    await using fleet = await fleetWithEverything();
    await until(async () => daemon.daemon.status().account !== null && daemon.lines(7).length > 0);
    for (const input of [await daemon.metrics(), await (await fetch(`${fleet.url}/metrics`)).text()]) {
      const options = { input, encoding: 'utf8' } as const;
      const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], options);
      expect([stdout, stderr, status]).toEqual(['', '', 0]);
    }
    await using prometheus = await startPrometheus([daemon.url, fleet.url]);
    const query = async (expression: string) => (await prometheus.ask(expression)).data?.result ?? [];
    await until(async () => (await query('pilotlight_deployment_heartbeats_total > 0')).length === 2);
    const states = await query('pilotlight_deployment_state == 1');
    expect(states.map(({ metric }) => `${metric['deployment_id']} ${metric['state']}`).toSorted()).toEqual([
      '42 healthy',
      '43 healthy',
    ]);
    const [left] = await query('pilotlight_deployment_expiry_timestamp_seconds{deployment_id="42"} - time()');
    expect(Number(left?.value[1])).toBeGreaterThan(200);
    await until(async () => (await query('up{job="pilotlight"} == 1')).length === 2);
    const [use] = await query(
      'pilotlight_endpoint_load / on (endpoint_group) pilotlight_endpoint_capacity{state="hot",endpoint_group="chat"}',
    );
    expect([use?.metric, use?.value[1]]).toEqual([{ endpoint_group: 'chat' }, '0.7']);
    const [failed] = await query('pilotlight_endpoint_worker_errors_total > 0');
    expect(failed?.metric['endpoint_group']).toBe(HOSTILE);
    const [drifting] = await query('pilotlight_endpoint_parameter_drift');
    expect(drifting?.metric).toMatchObject({ endpoint_group: HOSTILE, parameter: 'target_util' });
    const seen = await query('time() - (pilotlight_endpoint_last_sample_timestamp_seconds > 0)');
    expect(seen).toHaveLength(2);
    expect(await query('pilotlight_endpoint_last_sample_timestamp_seconds == 0')).toHaveLength(1);
  });
});

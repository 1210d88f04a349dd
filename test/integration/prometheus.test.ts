import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { startTestDaemon, until } from '../support/daemon.ts';
import { listenWithFleet, type FleetListener } from '../support/fleet-listener.ts';
import { describeWith, hasCommand } from '../support/optional.ts';
import { freePort } from '../support/ports.ts';
import { startProgram } from '../support/process.ts';
import { endpointView, fleetView, recordedFleet, UNSEEN } from '../support/recorded-fleet.ts';

async function daemonWithEverything(url: string) {
  return startTestDaemon({
    API_KEY: 'emulator-key',
    BASE_URL: url,
    DEPLOYMENTS: '42@300s,43',
    WORKER_GROUPS: '7,8',
    MACHINES: '11,12',
    ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.97},{}]',
  });
}

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

describeWith(
  'promtool and prometheus',
  hasCommand('promtool', '--version'),
  'apt-get install prometheus',
)('metrics as Prometheus sees them', () => {
  test('promtool check metrics has nothing to say', async () => {
    await using emulator = await startEmulator();
    await using daemon = await daemonWithEverything(emulator.url);
    await until(async () => daemon.daemon.status().account !== null && daemon.lines(7).length > 0);
    const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
      input: await daemon.metrics(),
      encoding: 'utf8',
    });
    expect([stdout, stderr, status]).toEqual(['', '', 0]);
  });

  test('promtool check metrics has nothing to say of endpoints either, whatever they are called', async () => {
    await using fleet = await fleetWithEverything();
    const input = await (await fetch(`${fleet.url}/metrics`)).text();
    const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
      input,
      encoding: 'utf8',
    });
    expect([stdout, stderr, status]).toEqual(['', '', 0]);
  });

  test('a real Prometheus scrapes the daemon and knows its deployments and endpoints', async () => {
    await using emulator = await startEmulator();
    await using daemon = await daemonWithEverything(emulator.url);
    await using fleet = await fleetWithEverything();
    const folder = mkdtempSync(join(tmpdir(), 'pilotlight-prometheus-'));
    const port = await freePort();
    const config = join(folder, 'prometheus.yml');
    const targets = [daemon.url, fleet.url].map((url) => `'${url.replace('http://', '')}'`).join(', ');
    writeFileSync(
      config,
      `scrape_configs: [{ job_name: pilotlight, scrape_interval: 1s, static_configs: [{ targets: [${targets}] }] }]\n`,
    );
    try {
      await using prometheus = startProgram('prometheus', [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ]);
      await prometheus.seen(/Server is ready/);
      const query = async (
        expression: string,
      ): Promise<{ metric: Record<string, string>; value: [number, string] }[]> => {
        const address = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
        const answer = (await (await fetch(address)).json()) as { data: { result: [] } };
        return answer.data.result;
      };
      await until(async () => (await query('pilotlight_deployment_heartbeats_total > 0')).length === 2);
      const states = await query('pilotlight_deployment_state == 1');
      expect(states.map(({ metric }) => `${metric['deployment_id']} ${metric['state']}`).toSorted()).toEqual([
        '42 healthy',
        '43 healthy',
      ]);
      const [left] = await query(
        'pilotlight_deployment_expiry_timestamp_seconds{deployment_id="42"} - time()',
      );
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
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { startTestDaemon, until } from '../support/daemon.ts';
import { describeWith, hasCommand } from '../support/optional.ts';
import { freePort } from '../support/ports.ts';
import { startProgram } from '../support/process.ts';

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

  test('a real Prometheus scrapes the daemon and knows its deployments', async () => {
    await using emulator = await startEmulator();
    await using daemon = await daemonWithEverything(emulator.url);
    const folder = mkdtempSync(join(tmpdir(), 'pilotlight-prometheus-'));
    const port = await freePort();
    const config = join(folder, 'prometheus.yml');
    const target = daemon.url.replace('http://', '');
    writeFileSync(
      config,
      `scrape_configs: [{ job_name: pilotlight, scrape_interval: 1s, static_configs: [{ targets: ['${target}'] }] }]\n`,
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
      expect(await query('up{job="pilotlight"} == 1')).toHaveLength(1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

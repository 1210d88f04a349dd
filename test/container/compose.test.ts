import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { composeFile, hasCompose } from '../support/compose.ts';
import { statusAt, until } from '../support/daemon.ts';
import { buildImage, hasImages, IMAGE } from '../support/image.ts';
import { describeWith, root } from '../support/optional.ts';
import { freePort } from '../support/ports.ts';

const present = hasCompose && hasImages('BUILD_IMAGE', 'RUNTIME_IMAGE', 'PROMETHEUS_IMAGE');

function compose(environment: Record<string, string>, ...args: readonly string[]): string {
  const project = ['--project-name', 'pilotlight-test', ...args];
  const { status, stdout, stderr } = composeFile(`${root}deploy/compose/compose.yaml`, project, environment);
  expect(status, stderr + stdout).toBe(0);
  return stdout;
}

describeWith(
  'docker compose',
  present,
  'install docker and its compose plugin, or docker-compose; with a registry or BUILD_IMAGE, RUNTIME_IMAGE and PROMETHEUS_IMAGE',
)('the compose file', () => {
  beforeAll(buildImage, 280_000);

  test('keeps the emulated deployments alive, hardened, under a Prometheus that has our rules', async () => {
    const [status, prometheus] = [await freePort(), await freePort()];
    const environment = {
      IMAGE,
      STATUS_PORT: String(status),
      PROMETHEUS_PORT: String(prometheus),
      PROMETHEUS_IMAGE: process.env['PROMETHEUS_IMAGE'] ?? 'prom/prometheus:v3.5.0',
    };
    try {
      // Grafana's image is not to be had everywhere; its dashboard is tested against a Prometheus of its own.
      compose(environment, 'up', '--detach', '--no-build', 'emulator', 'pilotlight', 'prometheus');
      const seen = () => statusAt(`http://127.0.0.1:${status}`);
      let before = 0;
      await until(async () => {
        const now = await seen();
        before = now?.worker_groups[0]?.lines ?? 0;
        const isAlive = now?.deployments.every(({ state }) => state === 'healthy') ?? false;
        return isAlive && before > 0 && (now?.fleet?.endpoints[0]?.capacity_hot ?? 0) > 0;
      });
      const ask = async (path: string): Promise<string> =>
        fetch(`http://127.0.0.1:${prometheus}/api/v1/${path}`).then(
          (answer) => answer.text(),
          () => '',
        );
      await until(async () => /"value":\[[\d.]+,"1"\]/.test(await ask('query?query=up')));
      const rules = await ask('rules');
      const ours = readFileSync(`${root}deploy/prometheus/pilotlight.rules.yml`, 'utf8');
      const names = Array.from(ours.matchAll(/alert: (Pilotlight\w+)/g), ([, name]) => `"name":"${name}"`);
      expect(names.length).toBeGreaterThan(20);
      expect(rules.match(/"name":"Pilotlight\w+"/g)?.toSorted()).toEqual(names.toSorted());

      const [id = ''] = compose(environment, 'ps', '-q', 'pilotlight').split('\n');
      const inspect = (format: string): string =>
        spawnSync('docker', ['inspect', '--format', format, id], { encoding: 'utf8' }).stdout.trim();
      expect(inspect('{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.Memory}}')).toBe(
        `true [ALL] ${192 * 2 ** 20}`,
      );
      compose(environment, 'restart', '-t', '15', 'pilotlight');
      // The spool is on the volume: numbering goes on where it was.
      await until(async () => ((await seen())?.worker_groups[0]?.lines ?? 0) > 0);
      const printed = compose(environment, 'logs', '--no-color', 'pilotlight');
      const numbers = [...printed.matchAll(/"epoch":1,"seq":(\d+)/g)].map(([, seq]) => Number(seq));
      expect(numbers.length).toBeGreaterThan(before);
      expect(numbers).toEqual(Array.from(numbers, (_, index) => index + 1));
    } finally {
      compose(environment, 'down', '--volumes', '--timeout', '1');
    }
  });
});

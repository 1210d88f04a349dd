import { spawnSync } from 'node:child_process';
import { GenericContainer, Wait, type StartedTestContainer } from 'testcontainers';
import { beforeAll, expect, test } from 'vitest';
import { statusAt, until } from '../support/daemon.ts';
import { commandsOf, textOf } from '../docs/documents.ts';
import { buildImage, hasImages, IMAGE } from '../support/image.ts';
import { describeWith } from '../support/optional.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

// The reaper image cannot be pulled where there is no image registry; every test removes its own containers.
process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';

describeWith(
  'a container engine and redis-server',
  hasImages('BUILD_IMAGE', 'RUNTIME_IMAGE') && hasRedis,
  'install and start docker, with a registry or BUILD_IMAGE and RUNTIME_IMAGE; apt-get install redis-server',
)('the image', () => {
  beforeAll(buildImage, 280_000);

  test('keeps a deployment alive with a read-only file system, no capabilities and 192 MiB', async () => {
    await using _emulator = await start(['emulator', '--host', '127.0.0.1', '--port', '18080']);
    await using sidecar = await start(['run'], {
      PILOTLIGHT_API_KEY: 'emulator-key',
      PILOTLIGHT_BASE_URL: 'http://127.0.0.1:18080',
      PILOTLIGHT_DEPLOYMENTS: '42@300s',
      PILOTLIGHT_WORKER_GROUPS: '7',
      PILOTLIGHT_LISTEN: '127.0.0.1:19847',
      PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:19848',
    });
    await until(async () => {
      const status = await statusAt('http://127.0.0.1:19847');
      return status?.deployments[0]?.state === 'healthy' && (status.worker_groups[0]?.lines ?? 0) > 0;
    });
    // The health check that Docker itself runs, by the image's own HEALTHCHECK.
    const health = await sidecar.container.exec(['pilotlight', 'healthcheck']);
    expect([health.exitCode, health.output]).toEqual([0, '']);
    const user = await sidecar.container.exec(['/nodejs/bin/node', '-p', 'process.getuid()']);
    expect(user.output.trim()).toBe('65532');
    const id = sidecar.container.getId();
    expect(spawnSync('docker', ['stop', '--time', '15', id]).status).toBe(0);
    const inspect = ['inspect', '--format', '{{.State.ExitCode}}', id];
    expect(spawnSync('docker', inspect, { encoding: 'utf8' }).stdout.trim()).toBe('0');
  });

  test('the README runs it beside an app', async () => {
    const address = ['--host', '127.0.0.1', '--port', '18081'];
    await using _emulator = await start(['emulator', ...address, '--dialect', 'public']);
    const env = {
      ...process.env,
      PILOTLIGHT_API_KEY: 'emulator-key',
      PILOTLIGHT_BASE_URL: 'http://127.0.0.1:18081',
      PILOTLIGHT_DEPLOYMENTS: 'name:square',
    };
    // As printed, except for the image's name, and the network, which `start` explains.
    const [check = '', run = '', showStatus = ''] = commandsOf(textOf('README.md'))
      .filter((command) => /^docker (?:run|exec) /.test(command))
      .map((command) =>
        command
          .replace('--publish 127.0.0.1:9847:9847 ', '')
          .replace(/^(docker run .*) pilotlight(?= check|$)/, `$1 --network host ${IMAGE}`),
      );
    const shell = (command: string) => spawnSync('sh', ['-c', command], { encoding: 'utf8', env });
    const checked = shell(check);
    expect(checked.stdout, checked.stderr).toContain('fine: deployment name:square: ');
    const { status, stdout, stderr } = shell(run);
    expect(status, stderr).toBe(0);
    try {
      await until(async () => {
        const seen = await statusAt('http://127.0.0.1:9847');
        return seen?.deployments[0]?.state === 'healthy';
      });
      expect(shell(showStatus).stdout).toMatch(/deployment square \(\d+\): healthy/);
    } finally {
      spawnSync('docker', ['rm', '--force', stdout.trim()]);
    }
  });

  test('the bundle reaches a Redis', async () => {
    await using redis = await startRedis();
    await using _sidecar = await start(['run'], {
      PILOTLIGHT_API_KEY: 'any',
      PILOTLIGHT_BASE_URL: 'http://127.0.0.1:1',
      PILOTLIGHT_REDIS_URL: redis.url(),
      PILOTLIGHT_LISTEN: '127.0.0.1:19849',
      PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
    });
    await until(async () => (await statusAt('http://127.0.0.1:19849'))?.replica.role === 'holder');
  });

  test('a wrong configuration ends the container with exit code 2 and says why', () => {
    const { status, stderr } = spawnSync('docker', ['run', '--rm', IMAGE, 'run'], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toContain('PILOTLIGHT_API_KEY: is not set');
  });
});

/** As a hardened pod runs it; the library has no method for this. */
class ReadOnlyContainer extends GenericContainer {
  constructor(image: string) {
    super(image);
    this.hostConfig.ReadonlyRootfs = true;
  }
}

interface Started extends AsyncDisposable {
  readonly container: StartedTestContainer;
}

/** On the host's network, where the tests can reach it whatever the engine's bridge can do. */
async function start(command: string[], environment: Record<string, string> = {}): Promise<Started> {
  const container = await new ReadOnlyContainer(IMAGE)
    .withCommand(command)
    .withEnvironment(environment)
    .withNetworkMode('host')
    .withAutoRemove(false)
    .withDroppedCapabilities('ALL')
    .withResourcesQuota({ memory: 0.1875 })
    .withWaitStrategy(Wait.forLogMessage(/started|listening/))
    .start();
  return { container, [Symbol.asyncDispose]: async () => void (await container.stop({ remove: true })) };
}

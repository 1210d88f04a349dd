import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { composeFile, hasCompose } from '../../support/compose.ts';
import { describeWith, hasCommand, root } from '../../support/optional.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = `${root}deploy/compose/`;
const text = readFileSync(`${folder}compose.yaml`, 'utf8');

interface Service {
  readonly volumes?: readonly string[];
}
const { services } = parse(text, { merge: true }) as { readonly services: Readonly<Record<string, Service>> };

describeWith(
  'docker compose',
  hasCompose,
  'install docker and its compose plugin, or docker-compose',
)('the compose file', () => {
  test('has nothing that Compose does not know', () => {
    const { status, stderr } = composeFile(`${folder}compose.yaml`, ['config', '--quiet']);
    expect(status, stderr).toBe(0);
    using place = temporaryFolder();
    const broken = join(place.path, 'compose.yaml');
    writeFileSync(broken, text.replace('read_only:', 'readonly:'));
    expect(composeFile(broken, ['config', '--quiet']).status).not.toBe(0);
  });
});

test('mounts what is there', () => {
  const mounted = Object.values(services)
    .flatMap(({ volumes = [] }) => volumes)
    .map((volume) => /^(\.[^:]*):/.exec(volume)?.[1])
    .filter((path) => path !== undefined);
  expect(mounted.length).toBeGreaterThan(3);
  for (const path of mounted) expect([path, existsSync(folder + path)]).toEqual([path, true]);
});

describeWith(
  'promtool',
  hasCommand('promtool', '--version'),
  'apt-get install prometheus',
)('the configuration of its Prometheus', () => {
  test('is one, with the rules that Compose mounts beside it', () => {
    const file = `${folder}prometheus.yml`;
    const args = ['check', 'config', '--syntax-only', file];
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
    expect(status, stdout + stderr).toBe(0);
    const { rule_files: rules } = parse(readFileSync(file, 'utf8')) as { rule_files: readonly string[] };
    for (const rule of rules)
      expect(services['prometheus']?.volumes).toContain(`../prometheus/${rule}:/etc/prometheus/${rule}:ro`);
  });
});

describe("what its Grafana is provisioned with, as Grafana's documents have it", () => {
  const provisioned = (kind: string): unknown =>
    parse(readFileSync(`${root}deploy/grafana/provisioning/${kind}.yml`, 'utf8'), { strict: true });

  test('dashboards from where Compose mounts them', () => {
    const [mount = ''] =
      services['grafana']?.volumes?.filter((volume) => volume.startsWith('../grafana/dashboards:')) ?? [];
    const [, path = ''] = mount.split(':');
    expect(provisioned('dashboards/pilotlight')).toEqual({
      apiVersion: 1,
      providers: [{ name: 'pilotlight', type: 'file', options: { path } }],
    });
    const home = /GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH: (.*)/.exec(text)?.[1] ?? '';
    expect(dirname(home)).toBe(path);
    expect(existsSync(home.replace(path, `${root}deploy/grafana/dashboards`))).toBe(true);
  });

  test('the data source that the dashboard asks, which is its Prometheus', () => {
    expect(provisioned('datasources/prometheus')).toEqual({
      apiVersion: 1,
      datasources: [
        {
          name: 'Prometheus',
          uid: 'prometheus',
          type: 'prometheus',
          access: 'proxy',
          url: 'http://prometheus:9090',
          isDefault: true,
        },
      ],
    });
    expect(Object.keys(services)).toContain('prometheus');
  });
});

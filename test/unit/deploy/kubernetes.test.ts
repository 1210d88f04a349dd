import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { describeWith, root } from '../../support/optional.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = `${root}deploy/kubernetes/`;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly restartPolicy?: string;
  readonly startupProbe?: unknown;
  readonly livenessProbe?: unknown;
  readonly readinessProbe?: unknown;
  readonly lifecycle?: unknown;
}

interface Workload extends Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly initContainers?: Container[]; readonly containers: Container[] };
    };
  };
}

function kustomize(name: string): string {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', folder + name], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout;
}

function manifests(name: string): Manifest[] {
  return parseAllDocuments(kustomize(name)).map((document) => document.toJS() as Manifest);
}

/** Where the type of a kind is: generated from the OpenAPI document of Kubernetes, and of the operator's resources. */
function typeOf({ apiVersion, kind }: Manifest): string {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  if (group === 'monitoring.coreos.com')
    return `import('@kubernetes-models/prometheus-operator/${group}/${version}/${kind}').I${kind}`;
  return `import('kubernetes-models/${group === '' ? '' : `${group}/`}${version}/${kind}').I${kind}`;
}

/** What the compiler says of them: unknown fields, wrong types, missing ones. Empty when all is well. */
function schemaProblems(all: readonly Manifest[]): string {
  const cache = `${root}node_modules/.cache/`;
  mkdirSync(cache, { recursive: true });
  const place = mkdtempSync(join(cache, 'manifests-'));
  try {
    const file = join(place, 'manifests.ts');
    const lines = all.map((one, index) => `export const m${index}: ${typeOf(one)} = ${JSON.stringify(one)};`);
    writeFileSync(file, lines.join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];
    const args = [
      `${root}node_modules/typescript/bin/tsc`,
      '--ignoreConfig',
      ...options,
      '--types',
      '',
      file,
    ];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return stdout + stderr;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

// Components came with kubectl 1.21; Debian's kubernetes-client is older.
const present = spawnSync('kubectl', ['kustomize', `${folder}example`]).status === 0;

describeWith(
  'kubectl',
  present,
  'install kubectl 1.21 or newer',
)('the Kubernetes manifests', () => {
  test.each(['example', 'standalone'])('%s fits the schemas of Kubernetes and of the operator', (name) => {
    expect(schemaProblems(manifests(name))).toBe('');
  });

  test.each(['example', 'standalone'])(
    '%s has the admin routes on a socket file, in a folder that only Pilotlight has',
    (name) => {
      for (const workload of manifests(name).filter(({ kind }) => ['Deployment', 'Job'].includes(kind))) {
        const { initContainers = [], containers } = (workload as Workload).spec.template.spec;
        for (const container of [...initContainers, ...containers]) {
          const text = JSON.stringify(container);
          const isOurs = container.name === 'pilotlight';
          expect(text.includes('unix:/run/pilotlight/admin.sock')).toBe(isOurs);
          expect(text.includes('"mountPath":"/run/pilotlight"')).toBe(isOurs);
        }
      }
    },
  );

  test.each([
    ['example', '../sidecar'],
    ['standalone', undefined],
  ])('%s gets a token, and Prometheus with it, by the component', (_, before) => {
    using place = temporaryFolder();
    cpSync(folder, join(place.path, 'kubernetes'), { recursive: true });
    mkdirSync(join(place.path, 'kubernetes', 'own'));
    const lines = [
      'apiVersion: kustomize.config.k8s.io/v1beta1',
      'kind: Kustomization',
      `resources: [${before === undefined ? '../standalone' : '../example/app.yaml'}]`,
      `components: [${before === undefined ? '' : `${before}, `}../metrics-token]`,
      'configMapGenerator: [{ name: own, literals: [A=b] }]',
    ];
    writeFileSync(join(place.path, 'kubernetes', 'own', 'kustomization.yaml'), `${lines.join('\n')}\n`);
    const options = [
      'kustomize',
      '--load-restrictor=LoadRestrictionsNone',
      join(place.path, 'kubernetes', 'own'),
    ];
    const { status, stdout, stderr } = spawnSync('kubectl', options, { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    const all = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
    expect(schemaProblems(all)).toBe('');
    expect(all.find(({ kind }) => kind === 'PodMonitor')).toMatchObject({
      spec: {
        podMetricsEndpoints: [
          { authorization: { type: 'Bearer', credentials: { name: 'pilotlight-metrics', key: 'token' } } },
        ],
      },
    });
    const containers = all.flatMap((workload) => {
      if (!['Deployment', 'Job'].includes(workload.kind)) return [];
      const { initContainers = [], containers: apps } = (workload as Workload).spec.template.spec;
      return initContainers.concat(apps);
    });
    expect(containers.some(({ name: each }) => each === 'pilotlight')).toBe(true);
    for (const container of containers)
      expect(JSON.stringify(container).includes('"PILOTLIGHT_METRICS_TOKEN_FILE"')).toBe(
        container.name === 'pilotlight',
      );
  });

  test('the schema check sees a misspelt field, a wrong type and a missing one', () => {
    const [first] = manifests('standalone').filter(({ kind }) => kind === 'Deployment') as Workload[];
    const broken = JSON.parse(JSON.stringify(first).replace('"resources"', '"ressources"')) as Manifest;
    expect(schemaProblems([broken])).toContain('ressources');
    const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'x' } };
    expect(schemaProblems([{ ...policy, spec: { podSelector: 'all' } } as Manifest])).toContain(
      'ILabelSelector',
    );
  });

  test('the component adds a native sidecar to what is labelled, before its other init containers, and to nothing else', () => {
    const workloads = manifests('example').filter(({ kind }) =>
      ['Deployment', 'Job'].includes(kind),
    ) as Workload[];
    const inits = Object.fromEntries(
      workloads.map(({ metadata, spec }) => [metadata.name, spec.template.spec.initContainers ?? []]),
    );
    expect(inits['gateway']?.map(({ name }) => name)).toEqual(['pilotlight', 'migrate']);
    expect(inits['batch-inference']?.map(({ name }) => name)).toEqual(['pilotlight']);
    expect(inits['unrelated']).toEqual([]);
    for (const [sidecar] of [inits['gateway'] ?? [], inits['batch-inference'] ?? []]) {
      expect(sidecar).toMatchObject({
        image: 'registry.example.com/pilotlight:0.1.0',
        restartPolicy: 'Always',
        envFrom: [{ configMapRef: { name: expect.stringMatching(/^pilotlight-\w+$/) } }],
        securityContext: { readOnlyRootFilesystem: true, runAsUser: 65532, capabilities: { drop: ['ALL'] } },
        resources: { requests: { cpu: '10m', memory: '96Mi' }, limits: { memory: '192Mi' } },
      });
      expect(sidecar?.lifecycle).toBeUndefined();
    }
  });

  test.each(['example', 'standalone'])(
    '%s has no probe of Pilotlight: none may restart the heart, or keep an app from being ready',
    (name) => {
      const own = manifests(name)
        .filter(({ kind }) => ['Deployment', 'Job'].includes(kind))
        .flatMap((workload) => {
          const { initContainers = [], containers } = (workload as Workload).spec.template.spec;
          return [...initContainers, ...containers].filter((container) => container.name === 'pilotlight');
        });
      expect(own).not.toEqual([]);
      for (const { startupProbe, livenessProbe, readinessProbe } of own)
        expect([startupProbe, livenessProbe, readinessProbe]).toEqual([undefined, undefined, undefined]);
    },
  );

  test('standalone has a network policy and a monitor that select its own pods', () => {
    const all = manifests('standalone');
    const own = { matchLabels: { 'app.kubernetes.io/name': 'pilotlight' } };
    expect(all.find(({ kind }) => kind === 'NetworkPolicy')).toMatchObject({ spec: { podSelector: own } });
    expect(all.find(({ kind }) => kind === 'PodMonitor')).toMatchObject({ spec: { selector: own } });
    expect(all.find(({ kind }) => kind === 'Deployment')).toMatchObject({
      spec: {
        selector: own,
        template: {
          metadata: { labels: own.matchLabels },
          spec: { containers: [{ resources: { limits: { memory: '192Mi' } } }] },
        },
      },
    });
  });
});

import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith, root } from '../../support/optional.ts';
import {
  effectiveContainer,
  hasKustomize,
  isWorkload,
  kustomized,
  kustomizedFolder,
  pilotlightPods,
  schemaProblems,
  type Manifest,
} from '../../support/manifests.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** What kustomize makes of a folder of one's own beside ours; `app`: a resource in it. */
function ownFolder(lines: readonly string[], app?: object): Manifest[] {
  using place = temporaryFolder();
  const own = join(place.path, 'kubernetes', 'own');
  cpSync(`${root}deploy/kubernetes`, join(place.path, 'kubernetes'), { recursive: true });
  mkdirSync(own);
  if (app) writeFileSync(join(own, 'app.yaml'), JSON.stringify(app));
  const head = ['apiVersion: kustomize.config.k8s.io/v1beta1', 'kind: Kustomization'];
  writeFileSync(join(own, 'kustomization.yaml'), `${[...head, ...lines].join('\n')}\n`);
  return kustomizedFolder(own, '--load-restrictor=LoadRestrictionsNone');
}

const TOKEN_FOLDERS = {
  example: ['resources: [../example/app.yaml]', 'components: [../sidecar, ../metrics-token]'],
  standalone: ['resources: [../standalone]', 'components: [../metrics-token]'],
};
const tokenFolders = new Map<string, Manifest[]>();

/** With the component that makes a token; made once. */
function withToken(name: keyof typeof TOKEN_FOLDERS): Manifest[] {
  const known = tokenFolders.get(name);
  if (known) return known;
  const made = ownFolder([...TOKEN_FOLDERS[name], 'configMapGenerator: [{ name: own, literals: [A=b] }]']);
  tokenFolders.set(name, made);
  return made;
}

describeWith(
  'kubectl',
  hasKustomize,
  'install kubectl 1.21 or newer',
)('the Kubernetes manifests', () => {
  test('example and standalone fit the schemas of Kubernetes and of the operator, with a token, too', () => {
    const all = ['example', 'standalone'].flatMap(kustomized);
    expect(schemaProblems([...all, ...withToken('example'), ...withToken('standalone')])).toBe('');
  });

  test.each(['example', 'standalone'])(
    '%s has the admin routes on a socket file, in a folder that only Pilotlight has',
    (name) => {
      for (const workload of kustomized(name).filter(isWorkload)) {
        const { initContainers = [], containers } = workload.spec.template.spec;
        for (const container of [...initContainers, ...containers]) {
          const text = JSON.stringify(container);
          const isOurs = container.name === 'pilotlight';
          expect(text.includes('unix:/run/pilotlight/admin.sock')).toBe(isOurs);
          expect(text.includes('"mountPath":"/run/pilotlight"')).toBe(isOurs);
        }
      }
    },
  );

  test.each(['example', 'standalone'] as const)(
    '%s gets a token, and Prometheus with it, by the component',
    (name) => {
      const all = withToken(name);
      expect(all.find(({ kind }) => kind === 'PodMonitor')).toMatchObject({
        spec: {
          podMetricsEndpoints: [
            { authorization: { type: 'Bearer', credentials: { name: 'pilotlight-metrics', key: 'token' } } },
          ],
        },
      });
      const containers = all.filter(isWorkload).flatMap(({ spec }) => {
        const { initContainers = [], containers: apps } = spec.template.spec;
        return initContainers.concat(apps);
      });
      expect(containers.some(({ name: each }) => each === 'pilotlight')).toBe(true);
      for (const container of containers)
        expect(JSON.stringify(container).includes('"PILOTLIGHT_METRICS_TOKEN_FILE"')).toBe(
          container.name === 'pilotlight',
        );
    },
  );

  test('the schema check sees a misspelt field, a wrong type and a missing one', () => {
    const first = kustomized('standalone').find(isWorkload);
    const broken = JSON.parse(JSON.stringify(first).replace('"resources"', '"ressources"')) as Manifest;
    const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'x' } };
    const problems = schemaProblems([broken, { ...policy, spec: { podSelector: 'all' } }]);
    expect(problems).toContain('ressources');
    expect(problems).toContain('ILabelSelector');
  });

  test('the component adds a native sidecar to what is labelled, before its other init containers, and to nothing else', () => {
    const workloads = kustomized('example').filter(isWorkload);
    const inits = Object.fromEntries(
      workloads.map(({ metadata, spec }) => [metadata.name, spec.template.spec.initContainers ?? []]),
    );
    expect(inits['gateway']?.map(({ name }) => name)).toEqual(['pilotlight', 'migrate']);
    expect(inits['batch-inference']?.map(({ name }) => name)).toEqual(['pilotlight']);
    expect(inits['unrelated']).toEqual([]);
    for (const [sidecar] of [inits['gateway'] ?? [], inits['batch-inference'] ?? []]) {
      expect(sidecar).toMatchObject({
        image: 'registry.example.com/pilotlight:0.2.0',
        restartPolicy: 'Always',
        envFrom: [{ configMapRef: { name: expect.stringMatching(/^pilotlight-\w+$/) } }],
        securityContext: { readOnlyRootFilesystem: true, runAsUser: 65532, capabilities: { drop: ['ALL'] } },
        resources: { requests: { cpu: '10m', memory: '96Mi' }, limits: { memory: '192Mi' } },
      });
    }
  });

  test.each([
    ['example', []],
    ['standalone', ['readinessProbe']],
  ])('%s has no probe that may restart the heart, or keep an app from being ready', (name, probes) => {
    const own = pilotlightPods(kustomized(name));
    expect(own).not.toEqual([]);
    for (const { container } of own)
      expect(Object.keys(container).filter((field) => /probe|lifecycle/i.test(field))).toEqual(probes);
  });

  test('the component reaches each kind of workload, and a CronJob gets what the others get', () => {
    const template = (kind: string): unknown => {
      const pods = {
        metadata: { labels: { app: 'x' } },
        spec: { containers: [{ name: 'app', image: 'x' }] },
      };
      const spec = kind === 'CronJob' ? { jobTemplate: { spec: { template: pods } } } : { template: pods };
      const metadata = { name: 'x', labels: { 'pilotlight/sidecar': 'true' } };
      const apiVersion = kind.endsWith('Job') ? 'batch/v1' : 'apps/v1';
      const lines = [
        'resources: [app.yaml]',
        'components: [../sidecar, ../metrics-token]',
        'configMapGenerator: [{ name: pilotlight, literals: [A=b] }]',
      ];
      const all = ownFolder(lines, { apiVersion, kind, metadata, spec });
      const made = all.find((manifest) => manifest.kind === kind)?.spec;
      return kind === 'CronJob'
        ? (made as typeof spec).jobTemplate?.spec.template
        : (made as typeof spec).template;
    };
    const deployment = template('Deployment');
    expect(JSON.stringify(deployment)).toContain('"restartPolicy":"Always"');
    expect(JSON.stringify(deployment)).toContain('PILOTLIGHT_METRICS_TOKEN_FILE');
    for (const kind of ['StatefulSet', 'DaemonSet', 'Job', 'CronJob'])
      expect(template(kind)).toEqual(deployment);
  });

  test('standalone sends heartbeats from two, and follows and watches from one', () => {
    const all = kustomized('standalone');
    const [heartbeats, watch] = all.filter(isWorkload);
    expect(heartbeats?.spec).toMatchObject({ replicas: 2, strategy: { type: 'RollingUpdate' } });
    expect(watch?.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    const [sends, follows] = pilotlightPods(all).map(({ pod, container }) =>
      JSON.stringify(effectiveContainer(all, pod, container)['env']),
    );
    expect(sends).toContain('PILOTLIGHT_DEPLOYMENTS');
    expect(sends).not.toContain('PILOTLIGHT_WORKER_GROUPS');
    expect(follows).not.toContain('PILOTLIGHT_DEPLOYMENTS');
    expect(follows).toContain('PILOTLIGHT_WORKER_GROUPS');
  });

  test.each(['example', 'standalone'])(
    '%s keeps the names of services out of the environment, where they look like settings',
    (name) => {
      for (const { pod } of pilotlightPods(kustomized(name))) expect(pod['enableServiceLinks']).toBe(false);
    },
  );

  test.each([
    ['example', { 'pilotlight/sidecar': 'true' }],
    ['standalone', { 'app.kubernetes.io/name': 'pilotlight' }],
  ])('%s has a network policy and a monitor that select its own pods', (name, matchLabels) => {
    const all = kustomized(name);
    const own = all.filter(({ metadata }) => metadata.name === 'pilotlight');
    expect(own.find(({ kind }) => kind === 'NetworkPolicy')?.spec).toEqual({
      podSelector: { matchLabels },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
          ports: [{ port: 9847, protocol: 'TCP' }],
        },
      ],
      egress: [
        {
          ports: [
            { port: 53, protocol: 'UDP' },
            { port: 53, protocol: 'TCP' },
          ],
        },
        { ports: [{ port: 443, protocol: 'TCP' }] },
      ],
    });
    expect(own.find(({ kind }) => kind === 'PodMonitor')).toMatchObject({
      spec: { selector: { matchLabels } },
    });
    const pods = all.filter(isWorkload).filter((one) => pilotlightPods([one]).length > 0);
    for (const { spec } of pods) expect(spec.template.metadata?.labels).toMatchObject(matchLabels);
  });

  test('the app beside the sidecar has a policy of its own in the example, for the other cuts it off too', () => {
    const app = kustomized('example').find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'gateway',
    );
    expect(app?.spec).toMatchObject({ podSelector: { matchLabels: { app: 'gateway' } }, egress: [{}] });
  });
});

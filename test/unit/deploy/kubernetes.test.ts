import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith, root } from '../../support/optional.ts';
import {
  hasKustomize,
  isWorkload,
  kustomized,
  kustomizedFolder,
  pilotlightPods,
  schemaProblems,
  type Manifest,
} from '../../support/manifests.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describeWith(
  'kubectl',
  hasKustomize,
  'install kubectl 1.21 or newer',
)('the Kubernetes manifests', () => {
  test.each(['example', 'standalone'])('%s fits the schemas of Kubernetes and of the operator', (name) => {
    expect(schemaProblems(kustomized(name))).toBe('');
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

  test.each([
    ['example', '../sidecar'],
    ['standalone', undefined],
  ])('%s gets a token, and Prometheus with it, by the component', (_, before) => {
    using place = temporaryFolder();
    cpSync(`${root}deploy/kubernetes`, join(place.path, 'kubernetes'), { recursive: true });
    mkdirSync(join(place.path, 'kubernetes', 'own'));
    const lines = [
      'apiVersion: kustomize.config.k8s.io/v1beta1',
      'kind: Kustomization',
      `resources: [${before === undefined ? '../standalone' : '../example/app.yaml'}]`,
      `components: [${before === undefined ? '' : `${before}, `}../metrics-token]`,
      'configMapGenerator: [{ name: own, literals: [A=b] }]',
    ];
    writeFileSync(join(place.path, 'kubernetes', 'own', 'kustomization.yaml'), `${lines.join('\n')}\n`);
    const all = kustomizedFolder(
      join(place.path, 'kubernetes', 'own'),
      '--load-restrictor=LoadRestrictionsNone',
    );
    expect(schemaProblems(all)).toBe('');
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
  });

  test('the schema check sees a misspelt field, a wrong type and a missing one', () => {
    const first = kustomized('standalone').find(isWorkload);
    const broken = JSON.parse(JSON.stringify(first).replace('"resources"', '"ressources"')) as Manifest;
    expect(schemaProblems([broken])).toContain('ressources');
    const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'x' } };
    expect(schemaProblems([{ ...policy, spec: { podSelector: 'all' } }])).toContain('ILabelSelector');
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
        image: 'registry.example.com/pilotlight:0.1.0',
        restartPolicy: 'Always',
        envFrom: [{ configMapRef: { name: expect.stringMatching(/^pilotlight-\w+$/) } }],
        securityContext: { readOnlyRootFilesystem: true, runAsUser: 65532, capabilities: { drop: ['ALL'] } },
        resources: { requests: { cpu: '10m', memory: '96Mi' }, limits: { memory: '192Mi' } },
      });
    }
  });

  test.each(['example', 'standalone'])(
    '%s has no probe of Pilotlight: none may restart the heart, or keep an app from being ready',
    (name) => {
      const own = pilotlightPods(kustomized(name));
      expect(own).not.toEqual([]);
      for (const { container } of own)
        expect(Object.keys(container).filter((field) => /probe|lifecycle/i.test(field))).toEqual([]);
    },
  );

  test.each(['example', 'standalone'])(
    '%s keeps the names of services out of the environment, where they look like settings',
    (name) => {
      expect(pilotlightPods(kustomized(name)).map(({ pod }) => pod['enableServiceLinks'])).not.toContain(
        undefined,
      );
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

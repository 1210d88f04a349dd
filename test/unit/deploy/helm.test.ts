import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { splitWords } from '../../../src/contract/text/shell-words.ts';
import { blocksOf, commandsOf, textOf } from '../../docs/documents.ts';
import {
  effectiveContainer,
  hasKustomize,
  isWorkload,
  kustomized,
  pilotlightPods,
  parseManifests,
  schemaProblems,
  type Manifest,
  type Workload,
} from '../../support/manifests.ts';
import { describeWith, root, hasCommand } from '../../support/optional.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Where helm is, if not on the PATH: .ci/run has it in a folder of its own. */
const HELM = process.env['HELM'] ?? 'helm';
const hasHelm = hasCommand(HELM, 'version');

interface Answer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Charts extends Disposable {
  readonly folder: string;
  readonly helm: (...args: readonly string[]) => Answer;
  /** Arguments that give these values. */
  readonly values: (values: unknown) => readonly string[];
  /** What a chart makes as the release `pilotlight`. Throws what helm said. */
  readonly render: (chart: string, values: unknown, ...args: readonly string[]) => Manifest[];
}

/** A copy of the charts, for helm writes dependencies beside them. */
function copyOfCharts(): Charts {
  const folder = temporaryFolder();
  cpSync(`${root}deploy/helm`, folder.path, { recursive: true });
  const helm = (...args: readonly string[]): Answer =>
    spawnSync(HELM, args, {
      cwd: folder.path,
      encoding: 'utf8',
      // Its caches and settings, and not those of who runs this.
      env: { ...process.env, HOME: folder.path, XDG_CACHE_HOME: folder.path, XDG_CONFIG_HOME: folder.path },
    });
  const valuesFile = (content: unknown): readonly string[] => {
    const file = join(folder.path, 'given.yaml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(content));
    return ['--values', file];
  };
  return {
    folder: folder.path,
    helm,
    values: valuesFile,
    render: (chart, content, ...args) => {
      const { status, stdout, stderr } = helm(
        'template',
        'pilotlight',
        chart,
        ...valuesFile(content),
        // As a cluster with the Prometheus operator says of itself.
        '--api-versions=monitoring.coreos.com/v1',
        ...args,
      );
      if (status !== 0) throw new Error(stderr);
      return parseManifests(stdout);
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** As deploy/kubernetes/standalone has them. */
const SETTINGS = {
  PILOTLIGHT_BASE_URL: 'https://console.example.com',
  PILOTLIGHT_DEPLOYMENTS: ['42@300s', 43],
  PILOTLIGHT_WORKER_GROUPS: [7],
  PILOTLIGHT_ENDPOINTS: 'all',
};
interface Policy {
  readonly egress: readonly { readonly ports: readonly { readonly port: number }[] }[];
  readonly ingress: unknown;
}

/** Everything that is not as it is by default. */
const EVERYTHING = {
  settings: {
    ...SETTINGS,
    PILOTLIGHT_ENDPOINTS: 'all',
    PILOTLIGHT_LISTEN: '[::]:9900',
    PILOTLIGHT_OTLP_ENDPOINT: 'http://collector.observability:4318',
    PILOTLIGHT_APP_HEALTH: 'tcp://app.inference:8000',
    PILOTLIGHT_FINAL_HEARTBEAT: true,
    PILOTLIGHT_ENDPOINT_GROUPS: [{ endpoint_name: 'a $(B) <c>', max_workers: 10_000_000 }],
  },
  secret: {
    name: 'keys',
    keys: { PILOTLIGHT_API_KEY: 'main', PILOTLIGHT_REDIS_URL: 'redis', PILOTLIGHT_METRICS_TOKEN: 'token' },
  },
  proxy: { HTTPS_PROXY: 'http://proxy.example.com:3128', NO_PROXY: '.svc' },
  certificates: { configMap: 'roots', key: 'ca.pem' },
  image: { repository: 'images.example.com/p', digest: `sha256:${'0'.repeat(64)}`, pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'pull' }],
  resources: { limits: { cpu: '1' } },
  persistence: { enabled: false },
  replicas: 2,
  networkPolicy: { egress: [{ ports: [{ port: 8443 }] }] },
  podMonitor: { interval: '30s', labels: { team: 'ml' } },
  prometheusRule: { enabled: true, labels: { team: 'ml' } },
  fullnameOverride: 'lighthouse',
  podLabels: { team: 'ml' },
  podAnnotations: { note: 'yes' },
  priorityClassName: 'high',
  nodeSelector: { 'kubernetes.io/arch': 'arm64' },
  tolerations: [{ operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
};

/** Of the only one of its kind, but for the example's own. */
function specOf(all: readonly Manifest[], kind: string): unknown {
  const found = all.filter((manifest) => manifest.kind === kind && manifest.metadata.name !== 'gateway');
  expect(found).toHaveLength(1);
  return found[0]?.spec;
}

const deploymentsOf = (all: readonly Manifest[]): Workload[] =>
  all.filter(isWorkload).filter(({ kind, metadata }) => kind === 'Deployment' && metadata.name !== 'gateway');

/** Without what Helm tells its releases apart by. */
function withoutRelease<T>(value: T): T {
  const release = /^(?:app\.kubernetes\.io\/instance|pilotlight\/release)$/;
  return JSON.parse(
    JSON.stringify(value, (key, part: unknown) => (release.test(key) ? undefined : part)),
  ) as T;
}

function onlyContainer(all: readonly Manifest[]) {
  const [{ pod, container } = expect.fail('no pod has Pilotlight')] = pilotlightPods(all);
  return effectiveContainer(all, pod, container);
}

describeWith(
  'helm',
  hasHelm,
  'install helm 3.7 or newer, or set HELM to where it is',
)('the Helm chart', () => {
  let charts: Charts;
  let example: Manifest[];
  beforeAll(() => {
    charts = copyOfCharts();
    const { status, stderr } = charts.helm('dependency', 'update', 'example');
    expect(status, stderr).toBe(0);
    example = charts.render('example', {});
  });
  afterAll(() => charts[Symbol.dispose]());

  test.each([
    ['pilotlight', { settings: SETTINGS }],
    ['pilotlight', EVERYTHING],
    ['example', {}],
  ])('%s passes helm lint --strict', (chart, values) => {
    const { status, stdout, stderr } = charts.helm('lint', '--strict', chart, ...charts.values(values));
    expect(status, stdout + stderr).toBe(0);
    expect(stdout).not.toMatch(/\[(?:WARNING|ERROR)\]/);
  });

  test('makes objects that fit the schemas of Kubernetes and of the operator', () => {
    const standalone = charts.render('pilotlight', { settings: SETTINGS });
    const everything = charts.render('pilotlight', EVERYTHING);
    expect(everything.map(({ kind }) => kind).toSorted()).toEqual([
      'Deployment',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'PodMonitor',
      'PrometheusRule',
    ]);
    expect(schemaProblems([...standalone, ...everything, ...example])).toBe('');
  });

  test('is refused by Helm for a misspelt setting and for a probe', () => {
    const values = { settings: { ...SETTINGS, PILOTLIGHT_DEPLOYMENT: '42' }, livenessProbe: {} };
    const { status, stderr } = charts.helm('template', 'x', 'pilotlight', ...charts.values(values));
    expect(status).toBe(1);
    expect(stderr).toContain('settings: Additional property PILOTLIGHT_DEPLOYMENT is not allowed');
    expect(stderr).toContain('(root): Additional property livenessProbe is not allowed');
  });

  test('with a Redis has replicas that are all alike, without a volume that one alone can have', () => {
    expect(() => charts.render('pilotlight', { ...EVERYTHING, persistence: { enabled: true } })).toThrow(
      'more than one with a Redis need',
    );
    expect(deploymentsOf(charts.render('pilotlight', EVERYTHING)).map(({ spec }) => spec)).toMatchObject([
      { replicas: 2, strategy: { type: 'RollingUpdate' } },
    ]);
  });

  test('without a Prometheus operator has no PodMonitor, and on OpenShift no user of its own', () => {
    const { stdout } = charts.helm('template', 'x', 'pilotlight', ...charts.values({ settings: SETTINGS }));
    expect(parseManifests(stdout).map(({ kind }) => kind)).not.toContain('PodMonitor');
    const openShift = charts.render(
      'pilotlight',
      { settings: SETTINGS },
      '--api-versions=security.openshift.io/v1',
    );
    expect(JSON.stringify(openShift)).not.toMatch(/runAsUser|runAsGroup|fsGroup/);
    expect(JSON.stringify(openShift)).toContain('"runAsNonRoot":true');
  });

  test('takes names for text that YAML reads as a number or as yes and no', () => {
    const named = {
      settings: SETTINGS,
      secret: { name: '12', keys: { PILOTLIGHT_API_KEY: '34', PILOTLIGHT_METRICS_TOKEN: '56' } },
      certificates: { configMap: '1e5', key: '78' },
      persistence: { storageClassName: 'off' },
    };
    const { status, stdout, stderr } = charts.helm('template', '123', 'pilotlight', ...charts.values(named));
    expect(status, stderr).toBe(0);
    expect(schemaProblems(parseManifests(stdout))).toBe('');
    expect(schemaProblems(charts.render('pilotlight', { ...named, fullnameOverride: 'on' }))).toBe('');
  });

  test('gives the program the time that it takes for its end', () => {
    const patient = (timeout: string, seconds: number) => () =>
      charts.render('pilotlight', {
        settings: { ...SETTINGS, PILOTLIGHT_SHUTDOWN_TIMEOUT: timeout },
        terminationGracePeriodSeconds: seconds,
      });
    for (const [timeout, seconds] of [
      ['20s', 20],
      ['1m', 59],
      ['0.5h', 1_800],
    ] as const)
      expect(patient(timeout, seconds)).toThrow('has to be longer than settings.PILOTLIGHT_SHUTDOWN_TIMEOUT');
    expect(patient('1m', 61)).not.toThrow();
    expect(patient('1500ms', 2)).not.toThrow();
  });

  test('puts values into the environment as the program reads them, and secrets as files', () => {
    expect(onlyContainer(charts.render('pilotlight', EVERYTHING))).toMatchObject({
      image: `images.example.com/p@sha256:${'0'.repeat(64)}`,
      env: {
        PILOTLIGHT_DEPLOYMENTS: '42@300s,43',
        PILOTLIGHT_WORKER_GROUPS: '7',
        PILOTLIGHT_FINAL_HEARTBEAT: 'true',
        PILOTLIGHT_ENDPOINT_GROUPS: String.raw`[{"endpoint_name":"a $$(B) \u003cc\u003e","max_workers":10000000}]`,
        PILOTLIGHT_API_KEY_FILE: '/run/secrets/pilotlight/main',
        PILOTLIGHT_REDIS_URL_FILE: '/run/secrets/pilotlight/redis',
        HTTPS_PROXY: 'http://proxy.example.com:3128',
        NODE_EXTRA_CA_CERTS: '/run/certificates/ca.pem',
      },
      volumeMounts: {
        '/run/secrets/pilotlight': { readOnly: true, secret: { secretName: 'keys' } },
        '/run/certificates': { configMap: { name: 'roots' } },
      },
      ports: [{ name: 'pilotlight', containerPort: 9900 }],
    });
  });

  test('doubles each dollar, of which Kubernetes makes one, and of a name in brackets behind it a value', () => {
    const dollars = { settings: { ...SETTINGS, PILOTLIGHT_BASE_URL: 'https://u:$$(A)$@a' } };
    const proxy = { HTTPS_PROXY: 'http://u:$(A)@proxy:3128' };
    expect(onlyContainer(charts.render('pilotlight', { ...dollars, proxy }))).toMatchObject({
      env: { PILOTLIGHT_BASE_URL: 'https://u:$$$$(A)$$@a', HTTPS_PROXY: 'http://u:$$(A)@proxy:3128' },
    });
  });

  test('has 192Mi, or what it is told', () => {
    const resources = (values: object): unknown =>
      onlyContainer(charts.render('pilotlight', values))['resources'];
    expect(resources({ settings: SETTINGS })).toMatchObject({ limits: { memory: '192Mi' } });
    expect(resources(EVERYTHING)).toMatchObject({ limits: { memory: '192Mi', cpu: '1' } });
    expect(resources({ ...EVERYTHING, resources: { limits: { memory: '1Gi' } } })).toMatchObject({
      limits: { memory: '1Gi' },
    });
  });

  test('opens names, the ports of what is configured and what it is told, and lets in scrapes alone', () => {
    const { egress, ingress } = specOf(charts.render('pilotlight', EVERYTHING), 'NetworkPolicy') as Policy;
    const ports = egress.flatMap((rule) => rule.ports.map(({ port }) => port));
    expect(ports).toEqual([53, 53, 3128, 4318, 443, 6379, 8000, 8443]);
    expect(ingress).toEqual([{ from: expect.any(Array), ports: [{ port: 9900, protocol: 'TCP' }] }]);
    const closed = charts.render('pilotlight', { ...EVERYTHING, networkPolicy: { enabled: false } });
    expect(closed.map(({ kind }) => kind)).not.toContain('NetworkPolicy');
  });

  test('scrapes with the token that /metrics asks for', () => {
    expect(specOf(charts.render('pilotlight', EVERYTHING), 'PodMonitor')).toMatchObject({
      podMetricsEndpoints: [{ authorization: { credentials: { name: 'keys', key: 'token' } } }],
    });
  });

  test('has the alerts of deploy/prometheus, with runbooks where they are read', () => {
    const rules = readFileSync(`${root}deploy/prometheus/pilotlight.rules.yml`, 'utf8');
    expect(specOf(charts.render('pilotlight', EVERYTHING), 'PrometheusRule')).toEqual(parse(rules));
    const runbooks = 'https://git.example.com/runbooks.md';
    const own = { ...EVERYTHING, prometheusRule: { enabled: true, runbooks } };
    expect(specOf(charts.render('pilotlight', own), 'PrometheusRule')).toEqual(
      parse(rules.replaceAll('runbook_url: runbooks.md', `runbook_url: ${runbooks}`)),
    );
  });

  test('tells what to do next', () => {
    // Helm shows the notes of what it has installed, and no cluster is here: they are asked for as an object's.
    using own = copyOfCharts();
    const chart = join(own.folder, 'pilotlight');
    copyFileSync(join(chart, 'templates/NOTES.txt'), join(chart, 'notes'));
    const asked = '{ kind: Notes, metadata: { name: x }, spec: {{ tpl (.Files.Get "notes") . | toJson }} }';
    writeFileSync(join(chart, 'templates/notes.yaml'), asked);
    const notes = specOf(own.render('pilotlight', { settings: SETTINGS }), 'Notes') as string;
    expect(notes).toContain('keeps alive: 42@300s,43\n');
    expect(notes).toContain('port-forward deployment/pilotlight 9847\n');
  });

  test("is of the program's version, and the example takes that one", () => {
    const chart = (name: string) =>
      parse(readFileSync(`${root}deploy/helm/${name}/Chart.yaml`, 'utf8')) as unknown;
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
    expect(chart('pilotlight')).toMatchObject({ version, appVersion: version });
    expect(chart('example')).toMatchObject({ dependencies: [{ version }] });
  });

  test('is installed as deploy/README.md says', () => {
    const text = textOf('deploy/README.md');
    const command = commandsOf(text).find((one) => one.startsWith('helm install ')) ?? '';
    const words = splitWords(command).map((word) => word.text);
    const { status, stdout, stderr } = charts.helm(
      'template',
      ...words.slice(2).map((word) => word.replace('deploy/helm/', '')),
    );
    expect(status, stderr).toBe(0);
    expect(stdout).toContain('value: "42@300s,43"');
    const blocks = blocksOf(text).filter(({ language }) => language === 'yaml');
    const values = blocks.find(({ lines }) => lines[0] === 'settings:')?.lines.join('\n') ?? '';
    expect(onlyContainer(charts.render('pilotlight', parse(values)))).toMatchObject({
      env: {
        PILOTLIGHT_DEPLOYMENTS: '42@300s,name:square',
        PILOTLIGHT_API_KEY_FILE: '/run/secrets/pilotlight/api-key',
        PILOTLIGHT_METRICS_TOKEN_FILE: '/run/secrets/pilotlight/metrics-token',
      },
    });
    const template = textOf('deploy/helm/example/templates/deployment.yaml');
    const shown = blocks.find(({ lines }) => lines.some((line) => line.includes('pilotlight.sidecar')));
    for (const line of shown?.lines ?? ['no such block']) expect(template).toContain(`${line}\n`);
  });

  test('as a dependency makes no Deployment and no claim, and no policy that would cut the app off', () => {
    expect(specOf(example, 'PodMonitor')).toMatchObject({
      selector: { matchLabels: { 'pilotlight/release': 'pilotlight' } },
    });
    expect(example.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name)).toEqual([
      'gateway',
    ]);
    expect(example.map(({ kind }) => kind)).not.toContain('PersistentVolumeClaim');
    const unset = charts.render('example', { pilotlight: { networkPolicy: { enabled: null } } });
    const policies = unset.filter(({ kind }) => kind === 'NetworkPolicy');
    expect(policies.map(({ metadata }) => metadata.name)).toEqual(['gateway']);
  });

  describeWith(
    'kubectl',
    hasKustomize,
    'install kubectl 1.21 or newer',
  )('beside kustomize', () => {
    test.each(['standalone', 'example'])('%s is the same in what matters', (name) => {
      const ours = name === 'example' ? example : charts.render('pilotlight', { settings: SETTINGS });
      const theirs = kustomized(name);
      const containers = (all: readonly Manifest[]) =>
        pilotlightPods(all.filter(({ kind }) => kind === 'Deployment')).map(({ pod, container }) =>
          effectiveContainer(all, pod, container),
        );
      expect(containers(ours)).toEqual(containers(theirs));
      const ofPod = (all: readonly Manifest[]): unknown[] =>
        pilotlightPods(all)
          .slice(0, 1)
          .map(({ pod }) => [pod['enableServiceLinks'], pod['automountServiceAccountToken']]);
      expect(ofPod(ours)).toEqual(ofPod(theirs));
      for (const kind of ['NetworkPolicy', 'PodMonitor'])
        expect(withoutRelease(specOf(ours, kind))).toEqual(specOf(theirs, kind));
    });

    test('standalone has the same Deployments, budget and claim around it', () => {
      const [ours, theirs] = [charts.render('pilotlight', { settings: SETTINGS }), kustomized('standalone')];
      const around = (all: readonly Manifest[]): unknown =>
        deploymentsOf(all).map(({ metadata, spec: { template, ...spec } }) => {
          const { containers: _, volumes: __, ...pod } = template.spec;
          return withoutRelease({ name: metadata.name, ...spec, labels: template.metadata?.labels, pod });
        });
      expect(around(ours)).toEqual(around(theirs));
      expect(withoutRelease(specOf(ours, 'PodDisruptionBudget'))).toEqual(
        specOf(theirs, 'PodDisruptionBudget'),
      );
      expect(specOf(ours, 'PersistentVolumeClaim')).toEqual(specOf(theirs, 'PersistentVolumeClaim'));
    });
  });
});

/** The objects of Kubernetes that deploy/ makes, and what their schemas say of them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { root } from './optional.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

export interface Container extends Fields {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly volumeMounts?: readonly (Fields & { readonly name: string; readonly mountPath: string })[];
  readonly securityContext?: Fields;
}

export interface PodSpec extends Fields {
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly (Fields & { readonly name: string })[];
  readonly securityContext?: Fields;
}

export interface Workload extends Manifest {
  readonly spec: Fields & {
    readonly template: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
      readonly spec: PodSpec;
    };
  };
}

export function isWorkload(manifest: Manifest): manifest is Workload {
  return ['Deployment', 'StatefulSet', 'DaemonSet', 'Job'].includes(manifest.kind);
}

export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

const FOLDER = `${root}deploy/kubernetes/`;

function kustomize(folder: string, ...options: readonly string[]) {
  return spawnSync('kubectl', ['kustomize', ...options, folder], { encoding: 'utf8' });
}

/** Components came with kubectl 1.21; Debian's kubernetes-client is older. */
export const hasKustomize = kustomize(`${FOLDER}example`).status === 0;

export function kustomizedFolder(folder: string, ...options: readonly string[]): Manifest[] {
  const { status, stdout, stderr } = kustomize(folder, ...options);
  if (status !== 0) throw new Error(stderr);
  return parseManifests(stdout);
}

const made = new Map<string, Manifest[]>();

/** What a folder of deploy/kubernetes makes: made once, for kubectl takes a third of a second. */
export function kustomized(name: string): readonly Manifest[] {
  const known = made.get(name) ?? kustomizedFolder(FOLDER + name);
  made.set(name, known);
  return known;
}

/** Where the type of a kind is: generated from the OpenAPI document of Kubernetes, and of the operator's resources. */
function typeOf({ apiVersion, kind }: Manifest): string {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  if (group === 'monitoring.coreos.com')
    return `import('@kubernetes-models/prometheus-operator/${group}/${version}/${kind}').I${kind}`;
  return `import('kubernetes-models/${group === '' ? '' : `${group}/`}${version}/${kind}').I${kind}`;
}

/** What the compiler says of them: unknown fields, wrong types, missing ones. Empty when all is well. */
export function schemaProblems(all: readonly Manifest[]): string {
  const cache = `${root}node_modules/.cache/`;
  mkdirSync(cache, { recursive: true });
  using folder = temporaryFolder(cache);
  const file = join(folder.path, 'manifests.ts');
  const lines = all.map((one, index) => `export const m${index}: ${typeOf(one)} = ${JSON.stringify(one)};`);
  writeFileSync(file, lines.join('\n'));
  const compiler = [`${root}node_modules/typescript/bin/tsc`, '--ignoreConfig'];
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];
  const args = [...compiler, ...options, '--types', '', file];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return stdout + stderr;
}

const NAME = 'pilotlight';

/** The pods that have Pilotlight in them, and its container there. */
export function pilotlightPods(all: readonly Manifest[]): { pod: PodSpec; container: Container }[] {
  return all.filter(isWorkload).flatMap((workload) => {
    const pod = workload.spec.template.spec;
    const containers = [...(pod.initContainers ?? []), ...pod.containers];
    return containers.filter(({ name }) => name === NAME).map((container) => ({ pod, container }));
  });
}

/**
 * What Kubernetes makes of a container, whichever way a manifest says it: the environment from its maps and its own
 * lines, what it takes over from its pod, and which volume lies where.
 */
export function effectiveContainer(all: readonly Manifest[], pod: PodSpec, container: Container): Fields {
  const maps = (container.envFrom ?? []).map(
    ({ configMapRef: { name } }) =>
      all.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name) as unknown as {
        readonly data: Readonly<Record<string, string>>;
      },
  );
  const own = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]));
  const { fsGroup: _, ...podSecurity } = pod.securityContext ?? {};
  const volumes = new Map((pod.volumes ?? []).map(({ name, ...source }) => [name, source]));
  return {
    imagePullPolicy: 'IfNotPresent',
    ...container,
    envFrom: undefined,
    env: Object.assign({}, ...maps.map(({ data }) => data), own) as Fields,
    securityContext: { ...podSecurity, ...container.securityContext },
    volumeMounts: Object.fromEntries(
      (container.volumeMounts ?? []).map(({ name, mountPath, ...how }) => [
        mountPath,
        { ...how, ...volumes.get(name) },
      ]),
    ),
  };
}

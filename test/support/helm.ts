/** The charts of deploy/helm, as the real helm makes them. */
import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseManifests, type Manifest } from './manifests.ts';
import { hasCommand, root } from './optional.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Where helm is, if not on the PATH: .ci/run has it in a folder of its own. */
const HELM = process.env['HELM'] ?? 'helm';
export const hasHelm = hasCommand(HELM, 'version');

interface Answer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Charts extends Disposable {
  readonly folder: string;
  readonly helm: (...args: readonly string[]) => Answer;
  /** Arguments that give these values. */
  readonly values: (values: unknown) => readonly string[];
  /** What a chart makes as the release `pilotlight`. Throws what helm said. */
  readonly render: (chart: string, values: unknown, ...args: readonly string[]) => Manifest[];
}

/** A copy of the charts, for helm writes dependencies beside them. */
export function copyOfCharts(): Charts {
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

/** The container image, built as a user builds it. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hasCommand, root } from './optional.ts';

export const IMAGE = 'pilotlight:test';

/** Where the images that others make come from, unless a variable of this name says otherwise. */
const SOURCES = {
  BUILD_IMAGE: 'Dockerfile',
  RUNTIME_IMAGE: 'Dockerfile',
  PROMETHEUS_IMAGE: 'deploy/compose/compose.yaml',
};

/** Whether there is an engine that has these images or can fetch them: one without a registry builds nothing. */
export function hasImages(...names: readonly (keyof typeof SOURCES)[]): boolean {
  return hasCommand('docker', 'info') && names.every((name) => canHave(process.env[name] ?? defaultOf(name)));
}

function canHave(image: string): boolean {
  return hasCommand('docker', 'image', 'inspect', image) || hasCommand('docker', 'pull', '--quiet', image);
}

function defaultOf(name: keyof typeof SOURCES): string {
  const text = readFileSync(root + SOURCES[name], 'utf8');
  const [, image] = new RegExp(`${name}(?:=|:-)([^}\\s]+)`).exec(text) ?? [];
  if (image === undefined) throw new Error(`${SOURCES[name]} names no ${name}`);
  return image;
}

/** Base images come from BUILD_IMAGE and RUNTIME_IMAGE where the public ones cannot be had. Throws what the build said. */
export function buildImage(): void {
  const bases = ['BUILD_IMAGE', 'RUNTIME_IMAGE'].flatMap((name) => {
    const image = process.env[name];
    return image === undefined ? [] : ['--build-arg', `${name}=${image}`];
  });
  const args = ['build', '--network=host', '--tag', IMAGE, ...bases, '--build-arg', 'REVISION=test', '.'];
  const { status, stdout, stderr } = spawnSync('docker', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr + stdout);
}

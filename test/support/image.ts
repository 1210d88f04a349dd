/** The container image, built as a user builds it. */
import { spawnSync } from 'node:child_process';
import { root } from './optional.ts';

export const IMAGE = 'pilotlight:test';

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

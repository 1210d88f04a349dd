import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith, root } from '../support/optional.ts';
import { startProgram } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The Node of the machine, not the one that npm scripts bring: it may be older than the program needs. */
const systemNode = process.env['PATH']
  ?.split(':')
  .map((folder) => join(folder, 'node'))
  .find((path) => !path.includes('node_modules') && spawnSync(path, ['--version']).status === 0);

describeWith(
  'a fresh clone',
  process.env['REQUIRE_ALL'] === '1' && systemNode !== undefined,
  'set REQUIRE_ALL=1; it installs everything anew, which takes a minute',
)('a fresh clone on a machine with nothing but its Node', () => {
  test('npm run demo -- --for 20s installs, runs, survives a fault and sums up', async () => {
    using folder = temporaryFolder();
    const clone = join(folder.path, 'pilotlight');
    expect(spawnSync('git', ['clone', '--quiet', root, clone]).status).toBe(0);
    await using demo = startProgram(
      'npm',
      ['run', 'demo', '--', '--for', '20s'],
      { PATH: nodeOnlyPath(folder.path) },
      clone,
    );
    expect(await demo.exit, demo.stderr() + demo.stdout()).toBe(0);
    expect(demo.stdout()).toMatch(/lapses\s+0\b/);
    expect(demo.stdout()).toMatch(/faults\s+[1-9]\d* injected/);
    expect(demo.stdout()).toMatch(/log lines\s+[1-9]\d* delivered/);
    expect(demo.stdout()).toMatch(/gaps\s+0\b/);
  });
});

/** A folder with node, npm and the few commands that npm itself needs, and nothing else. */
function nodeOnlyPath(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const nodeFolder = dirname(systemNode ?? '');
  for (const name of ['node', 'npm']) symlinkSync(join(nodeFolder, name), join(bin, name));
  for (const name of ['sh', 'env']) symlinkSync(join('/usr/bin', name), join(bin, name));
  return bin;
}

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../support/optional.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { readWorkflow, type Step } from '../../support/workflows.ts';

const workflow = readWorkflow('release');
const { jobs } = workflow;
const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};
const { version } = manifest;

function stepOf(job: string, one: (step: Step) => boolean): Step {
  return jobs[job]?.steps?.find(one) ?? expect.fail(`${job} has no such step`);
}
const using =
  (action: string) =>
  ({ uses = '' }: Step): boolean =>
    uses.startsWith(`${action}@`);

/** As the runner does, with the variables that it sets. */
function runStep(job: string, id: string, env: Readonly<Record<string, string>>, cwd: string) {
  const { run = '' } = stepOf(job, (step) => step.id === id);
  const { PATH = '' } = process.env;
  return spawnSync('bash', ['-eo', 'pipefail', '-c', run], { cwd, encoding: 'utf8', env: { PATH, ...env } });
}

describe('the release', () => {
  test('is made of a tag, and publishes nothing that has not passed the gate', () => {
    expect(workflow.on).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+*'] } });
    expect(jobs['gate']).toEqual({ uses: './.github/workflows/gate.yml' });
    expect(readWorkflow('gate').on).toHaveProperty('workflow_call');
    const waitsForGate = (name: string): boolean =>
      [jobs[name]?.needs ?? []].flat().some((needed) => needed === 'gate' || waitsForGate(needed));
    const publishing = Object.entries(jobs).filter(([, { permissions = {} }]) =>
      Object.values(permissions).includes('write'),
    );
    expect(publishing.map(([name]) => name)).toEqual(['image', 'index', 'npm', 'chart', 'release']);
    for (const [name] of publishing) expect([name, waitsForGate(name)]).toEqual([name, true]);
  });

  test('lets each job write what it publishes, and no more', () => {
    const written = Object.entries(jobs).map(([name, { permissions = {} }]) => [
      name,
      Object.keys(permissions).filter((one) => permissions[one] === 'write'),
    ]);
    expect(Object.fromEntries(written)).toEqual({
      gate: [],
      names: [],
      image: ['packages'],
      index: ['packages', 'id-token', 'attestations'],
      npm: ['id-token'],
      chart: ['packages'],
      release: ['contents'],
    });
  });

  test('builds for two architectures the very image that the gate tests, and tests it on each', () => {
    expect(jobs['image']?.strategy?.matrix.include).toEqual([
      { architecture: 'amd64', runner: 'ubuntu-24.04' },
      { architecture: 'arm64', runner: 'ubuntu-24.04-arm' },
    ]);
    const steps = jobs['image']?.steps ?? [];
    const tested = steps.findIndex(({ run }) => run === 'npm test -- test/container/image.test.ts');
    const built = steps.findIndex(using('docker/build-push-action'));
    expect(steps[tested]?.env).toEqual({ REQUIRE_ALL: '1' });
    expect(tested).toBeGreaterThan(-1);
    expect(built).toBeGreaterThan(tested);

    // As test/support/image.ts does: all of the Dockerfile, from here, with its own base images.
    const { file, target, ...options } = steps[built]?.with ?? {};
    expect([file, target]).toEqual([undefined, undefined]);
    expect(options).toMatchObject({ context: '.', 'build-args': 'REVISION=${{ github.sha }}' });
    const dockerfile = readFileSync(`${root}Dockerfile`, 'utf8');
    expect(new Set(dockerfile.match(/(?<=^ARG )\w+/gm))).toEqual(
      new Set(['BUILD_IMAGE', 'RUNTIME_IMAGE', 'REVISION']),
    );
  });

  test('says of the image what is in it and who made it from what', () => {
    const { with: build } = stepOf('image', using('docker/build-push-action'));
    expect(build).toMatchObject({ sbom: true, provenance: 'mode=max' });
    const { with: attested } = stepOf('index', using('actions/attest-build-provenance'));
    expect(attested).toMatchObject({
      'subject-digest': '${{ steps.index.outputs.digest }}',
      'push-to-registry': true,
    });
  });

  test('publishes the npm package with provenance', () => {
    const runs = (jobs['npm']?.steps ?? []).map(({ run = '' }) => run);
    expect(runs.join('\n')).toContain('npm publish --provenance --access=public');
  });

  test('lists all that the program is made of, in the locked versions, and nothing that tests it', () => {
    using folder = temporaryFolder();
    for (const name of ['package.json', 'package-lock.json', '.npmrc'])
      copyFileSync(root + name, join(folder.path, name));
    const { HOME = '' } = process.env;
    const { status, stderr } = runStep('npm', 'sbom', { HOME, VERSION: version }, folder.path);
    expect(status, stderr).toBe(0);
    const text = readFileSync(join(folder.path, `pilotlight-${version}.cdx.json`), 'utf8');
    const { components } = JSON.parse(text) as {
      readonly components: readonly { readonly name: string; readonly version: string }[];
    };
    const listed = new Set(components.map((one) => `${one.name}@${one.version}`));
    for (const [name, wanted] of Object.entries(manifest.dependencies))
      expect(listed).toContain(`${name}@${wanted}`);
    expect([...listed].filter((one) => /^(?:vitest|typescript|esbuild)@/.test(one))).toEqual([]);
  });

  test('is of the version of package.json, and ends where the tag is another', () => {
    using folder = temporaryFolder();
    const output = join(folder.path, 'output');
    const env = { GITHUB_OUTPUT: output, GITHUB_REPOSITORY: 'Some-One/Pilotlight' };
    const right = runStep('names', 'names', { ...env, GITHUB_REF_NAME: `v${version}` }, root);
    expect(right.status, right.stderr).toBe(0);
    expect(readFileSync(output, 'utf8')).toBe(`version=${version}\nimage=ghcr.io/some-one/pilotlight\n`);
    const wrong = runStep('names', 'names', { ...env, GITHUB_REF_NAME: 'v99.0.0' }, root);
    expect(wrong.status).toBe(1);
    expect(wrong.stderr).toContain('the tag v99.0.0 is not the version');
  });

  test('has the notes of its version, and ends where there are none', () => {
    using folder = temporaryFolder();
    const changes = readFileSync(`${root}.github/CHANGELOG.md`, 'utf8');
    mkdirSync(join(folder.path, '.github'));
    writeFileSync(join(folder.path, '.github/CHANGELOG.md'), `${changes}\n## 0.0.9\n\nOlder.\n`);
    expect(runStep('release', 'notes', { VERSION: version }, folder.path).status).toBe(0);
    const notes = readFileSync(join(folder.path, 'notes.md'), 'utf8');
    expect(notes).toContain('The first version');
    expect(notes).not.toMatch(/^## |Older/m);
    expect(runStep('release', 'notes', { VERSION: '99.0.0' }, folder.path).status).toBe(1);
  });
});

/** The workflows of .github: what each must and may not have, what a release publishes, and whether GitHub takes them. */
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { describeWith, root } from '../../support/optional.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly uses?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly strategy?: { readonly matrix: { readonly include: readonly unknown[] } };
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const WORKFLOW_FILES: readonly string[] = globSync('.github/workflows/*.yml', { cwd: root });

function workflowText(file: string): string {
  return readFileSync(root + file, 'utf8');
}

function readWorkflow(name: string): Workflow {
  const text = workflowText(`.github/workflows/${name}.yml`);
  return parse(text, { strict: true, uniqueKeys: true }) as Workflow;
}

function stepsOf({ jobs }: Workflow): readonly Step[] {
  return Object.values(jobs).flatMap(({ steps = [] }) => steps);
}

const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
};
const { version, scripts } = manifest;

describe.each(WORKFLOW_FILES)('%s', (file) => {
  const text = workflowText(file);
  const workflow = readWorkflow(basename(file, '.yml'));
  const steps = stepsOf(workflow);

  test('needs no secret, and may only read unless one of its jobs says more', () => {
    expect(text).not.toContain('secrets.');
    expect(workflow.permissions).toEqual({ contents: 'read' });
  });

  test('ends every job of its own after a while', () => {
    const own = Object.values(workflow.jobs).filter(({ uses }) => uses === undefined);
    expect(own.map((job) => job['timeout-minutes'])).not.toContain(undefined);
  });

  test('has steps that either run something or use an action of a given commit', () => {
    for (const { uses, run } of steps) expect([uses, run].filter((one) => one !== undefined)).toHaveLength(1);
    const used = [...text.matchAll(/^ +(?:- )?uses: (.*)$/gm)].map(([, action = '']) => action);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used)
      expect(action).toMatch(
        /^(?:\.\/\.github\/workflows\/\w+\.yml|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/,
      );
  });

  test('leaves no credentials in the checkout', () => {
    for (const { uses = '', with: options } of steps)
      if (uses.startsWith('actions/checkout@'))
        expect(options).toMatchObject({ 'persist-credentials': false });
  });

  test('puts no expression into a script, where its value would be taken for code', () => {
    expect(steps.filter(({ run = '' }) => run.includes('${{'))).toEqual([]);
  });

  test('runs scripts and files that are there', () => {
    const runs = steps.map(({ run = '' }) => run).join('\n');
    const named = [...runs.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)].map(([, name = '']) => name);
    for (const name of [...named, ...(/\bnpm test\b/.test(runs) ? ['test'] : [])])
      expect(scripts).toHaveProperty([name]);
    for (const [path] of runs.matchAll(/(?<![\w/$])(?:\.ci|\.github|deploy|test)\/[\w./-]+/g))
      expect([path, existsSync(root + path)]).toEqual([path, true]);
  });
});

test('an action is of one commit in all workflows', () => {
  const all = WORKFLOW_FILES.flatMap((file) => stepsOf(readWorkflow(basename(file, '.yml'))));
  const pins = new Set(all.flatMap(({ uses }) => (uses === undefined ? [] : [uses])));
  const names = [...pins].map((pin) => pin.split('@')[0]);
  expect(names).toEqual([...new Set(names)]);
});

test('each push to main and each pull request passes the gate', () => {
  const { on, jobs } = readWorkflow('gate');
  expect(on).toMatchObject({ push: { branches: ['main'] }, pull_request: null });
  const gate = jobs['gate']?.steps?.findLast(({ run }) => run !== undefined)?.run ?? '';
  expect(gate).toBe('.ci/run');
  accessSync(root + gate, constants.X_OK);
});

const release = readWorkflow('release');
const { jobs } = release;
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
    expect(release.on).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+*'] } });
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

  test('says of image and package who made them from what', () => {
    const { with: built } = stepOf('image', using('docker/build-push-action'));
    expect(built).toMatchObject({ sbom: true, provenance: 'mode=max' });
    const { with: attested } = stepOf('index', using('actions/attest-build-provenance'));
    expect(attested).toMatchObject({
      'subject-digest': '${{ steps.index.outputs.digest }}',
      'push-to-registry': true,
    });
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
    expect(notes).toContain('### Breaking');
    expect(notes).not.toMatch(/^## |Older|The first version/m);
    expect(runStep('release', 'notes', { VERSION: '99.0.0' }, folder.path).status).toBe(1);
  });
});

/** What of the package @actions/workflow-parser is used here. */
interface Parser {
  readonly NoOperationTraceWriter: new () => object;
  readonly parseWorkflow: (
    file: { readonly name: string; readonly content: string },
    trace: object,
  ) => { readonly context: { readonly errors: { getErrors(): readonly { readonly message: string }[] } } };
}

const folder = process.env['WORKFLOW_PARSER'];

/** Bundled, for it imports JSON in a way that Node does not take. */
async function loadParser(place: string): Promise<Parser> {
  const outfile = join(place, 'parser.cjs');
  const entryPoints = [join(folder ?? '', 'dist/index.js')];
  await build({ entryPoints, bundle: true, platform: 'node', format: 'cjs', outfile, logLevel: 'error' });
  return createRequire(import.meta.url)(outfile) as Parser;
}

describeWith(
  "GitHub's parser of workflows",
  folder !== undefined,
  'npm install --prefix FOLDER @actions/workflow-parser, and set WORKFLOW_PARSER to FOLDER/node_modules/@actions/workflow-parser',
)("to GitHub's own parser", () => {
  test('each workflow is one, with expressions that it knows', async () => {
    using place = temporaryFolder();
    const { NoOperationTraceWriter, parseWorkflow } = await loadParser(place.path);
    const problems = (content: string): string[] =>
      parseWorkflow({ name: 'x.yml', content }, new NoOperationTraceWriter())
        .context.errors.getErrors()
        .map(({ message }) => message);
    for (const file of WORKFLOW_FILES)
      expect([basename(file), ...problems(workflowText(file))]).toEqual([basename(file)]);

    const text = workflowText('.github/workflows/release.yml');
    expect(problems(text.replace('runs-on:', 'run-on:')).join()).toContain("Unexpected value 'run-on'");
    expect(problems(text.replace('needs.names', 'need.names')).join()).toContain("named-value: 'need'");
  });
});

/** The package as a user gets it: packed, installed into an empty folder, run, imported and compiled against. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATION_IDS, operationOf } from '../../src/contract/operations.ts';
import { volumeInfo } from '../../src/contract/operations/instances/instances.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import { type LanguageServer, startLanguageServer } from '../support/language-server.ts';
import { describeWith, root } from '../support/optional.ts';
import { startProgram } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const NODE_22 = '22.23.3';

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

function run(command: string, args: readonly string[], cwd: string): Ended {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

let folder: ReturnType<typeof temporaryFolder>;
let tarball: string;
beforeAll(() => {
  folder = temporaryFolder();
  const packed = run('npm', ['pack', '--silent', '--pack-destination', folder.path], root);
  tarball = join(folder.path, readdirSync(folder.path).find((name) => name.endsWith('.tgz')) ?? '');
  expect([packed.status, tarball]).toEqual([0, expect.stringMatching(/pilotlight-.*\.tgz$/)]);
});
afterAll(() => folder[Symbol.dispose]());

describe('the packed library', () => {
  test('has no fault that publint knows', async () => {
    const { messages } = await publint({ pkgDir: root, strict: true });
    expect(messages).toEqual([]);
  });

  test('has types that resolve wherever an ES module can be imported', () => {
    const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const { status } = run(process.execPath, [attw, '--profile', 'esm-only', tarball], root);
    expect(status).toBe(0);
  });

  test('carries the licences of what is bundled into it', () => {
    const text = readFileSync(join(root, 'dist/LICENSES.txt'), 'utf8');
    const bundled = '@fastify/swagger-ui fastify node-cron pino prom-client undici uplot zod';
    for (const name of bundled.split(' '))
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\S+ \\(\\S+\\)\\n\\n.*(licen[cs]e|copyright)`, 'im'));
  });

  test('shows the line that an uncaught error comes from, and not a file of one line', () => {
    const script = "(await import('./dist/index.js')).createClient({ baseUrl: 'nonsense' })";
    const { output } = run(process.execPath, ['--input-type=module', '-e', script], root);
    expect(output).toContain('\n  if (problems.length > 0) throw new ClientOptionsError(problems);\n');
  });

  test('calls the errors of the heart by their names, though others in the bundle share some', () => {
    const text = readFileSync(join(root, 'dist/heart.cjs'), 'utf8');
    const ours = /\b(\w+)=class extends (?:PilotlightError|CallError|ApiError)\b/g;
    const names = Array.from(text.matchAll(ours), ([, name]) => name ?? '');
    expect(names).toContain('ResponseError');
    expect(names.filter((name) => !name.endsWith('Error'))).toEqual([]);
  });

  test('contains the bundle, its types, and the papers', () => {
    const { output } = run('tar', ['-tzf', tarball], root);
    const names = output.trim().split('\n');
    const dist = ['pilotlight.js', 'index.js', 'emulator.js', 'types/index.d.ts', 'LICENSES.txt'];
    const deploy = ['README.md', 'prometheus/pilotlight.rules.yml', 'systemd/pilotlight.service'];
    for (const name of ['LICENSE', 'README.md']) expect(names).toContain(`package/${name}`);
    for (const name of dist) expect(names).toContain(`package/dist/${name}`);
    for (const name of deploy) expect(names).toContain(`package/deploy/${name}`);
    expect(
      names.filter((name) => !/^package\/(?:deploy\/|dist\/|package\.json$|README\.md$|LICENSE$)/.test(name)),
    ).toEqual([]);
  });
});

describe('what an editor shows of the packed types: a text for each operation, each field of an input and each export', () => {
  let server: LanguageServer;
  beforeAll(async () => {
    const editor = join(folder.path, 'editor');
    mkdirSync(join(editor, 'node_modules/pilotlight'), { recursive: true });
    run('tar', ['-xzf', tarball, '--strip-components=1', '-C', 'node_modules/pilotlight'], editor);
    for (const name of ['zod', 'undici-types', '@types'])
      symlinkSync(join(root, 'node_modules', name), join(editor, 'node_modules', name));
    const target = { module: 'nodenext', target: 'es2024', types: ['node'] };
    const compilerOptions = { strict: true, noEmit: true, ...target };
    writeFileSync(join(editor, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    server = await startLanguageServer(editor);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  describe.each([
    ['pilotlight', 85],
    ['pilotlight/emulator', 55],
  ])('of %s', (name, least) => {
    test('each export has a text', async () => {
      const file = `${name.replace('/', '-')}.ts`;
      server.open(file, `import {  } from '${name}';\n`);
      const words = await server.completions(file, { line: 0, character: 9 });
      const exported = words.filter((word) => word !== 'type');
      expect(exported.length).toBeGreaterThan(least);
      const uses = `${name.replace('/', '-')}-uses.ts`;
      server.open(uses, exported.map((word) => `import { ${word} } from '${name}';\n`).join(''));
      const places = exported.map((word, line) => ({ word, line, character: 9 }));
      expect(await withoutText(server, uses, places)).toEqual([]);
    });
  });

  describe('of the client', () => {
    const calls = OPERATION_IDS.map((id) => {
      const { params, query, body } = operationOf(id);
      const fields = [params, query, body].flatMap((part) => Object.keys(part?.shape ?? {}));
      return { id, fields: body || query ? [...fields, 'extra'] : fields };
    });
    const lines = calls.map(({ id, fields }) => {
      const values = fields.map((field) => `${field}: any`);
      return `client.${id}({ ${values.join(', ')} });`;
    });
    const inVolume = Object.keys(volumeInfo.shape);
    const volume = inVolume.map((field) => `${field}: any`).join(', ');
    const nested = `client.instances.create({ offer_id: any, volume_info: { ${volume} } });`;
    beforeAll(() => {
      const head =
        "import type { Client } from 'pilotlight'; declare const client: Client; declare const any: any;";
      server.open('calls.ts', [head, ...lines, nested].join('\n'));
    });

    test('each operation has a text', async () => {
      const places = calls.map(({ id }, index) => ({
        word: id,
        line: index + 1,
        character: `client.${id}`.lastIndexOf('.') + 1,
      }));
      expect(await withoutText(server, 'calls.ts', places)).toEqual([]);
    });

    test('each field of an input has a text', async () => {
      const places = calls.flatMap(({ id, fields }, index) =>
        fields.map((field) => placeOf(id, field, lines[index] ?? '', index + 1)),
      );
      for (const field of inVolume) places.push(placeOf('volume_info', field, nested, lines.length + 1));
      expect(places.length).toBeGreaterThan(250);
      expect(await withoutText(server, 'calls.ts', places)).toEqual([]);
    });

    test('what is deprecated is struck through, and all calls compile', async () => {
      const marks = await server.marks('calls.ts');
      const struck = marks
        .filter(({ tags }) => tags?.includes(2))
        .map(({ range }) => calls[range.start.line - 1]?.id);
      expect(struck).toEqual(OPERATION_IDS.filter((id) => operationOf(id).replacedBy !== undefined));
      expect(marks.filter(({ severity }) => severity === 1)).toEqual([]);
    });

    test('the types with texts are those that derive from the table', async () => {
      const types = './node_modules/pilotlight/dist/types';
      server.open(
        'same.ts',
        `import type { Client, OperationId } from 'pilotlight';
         import type { ClientOf } from '${types}/client/caller.js';
         import type { DerivedInputs, Inputs } from '${types}/contract/operations.js';
         type Same<A, B> = [A, B] extends [B, A] ? true : false;
         type Other = { [Id in OperationId]: Same<Inputs[Id], DerivedInputs[Id]> extends true ? never : Id };
         export const same: Same<Other[OperationId], never> = true;
         export const sameClient: Same<Client, ClientOf<OperationId>> = true;
         export const other: Same<{ id: number }, { id?: number }> = false;`,
      );
      expect(await server.marks('same.ts')).toEqual([]);
    });
  });
});

describeWith(
  'packages from the registry',
  process.env['REQUIRE_ALL'] === '1',
  'set REQUIRE_ALL=1; it installs the packed library and a second Node, which takes half a minute',
)('in an empty project', () => {
  let project: string;
  beforeAll(() => {
    project = join(folder.path, 'project');
    mkdirSync(project);
    const manifest = { private: true, type: 'module', allowScripts: { node: true } };
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
    const packages = [tarball, `@types/node@${versionOf('@types/node')}`, `node@${NODE_22}`];
    const installed = run('npm', ['install', '--no-audit', '--no-fund', ...packages], project);
    expect(installed, installed.output).toMatchObject({ status: 0 });
    cpSync(join(root, 'test/examples'), project, { recursive: true });
  });

  const nodes = [
    ['24', () => process.execPath],
    ['22', () => join(project, 'node_modules/node/bin/node')],
  ] as const;

  describe.each(nodes)('with Node %s', (major, node) => {
    test('the program runs', async () => {
      expect(run(node(), ['--version'], project).output).toMatch(new RegExp(`^v${major}\\.`));
      const bin = join(project, 'node_modules/.bin/pilotlight');
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
      expect(run(node(), [bin, '--version'], project)).toEqual({ status: 0, output: `${version}\n` });
      const operations = JSON.parse(run(node(), [bin, 'ops', '--json'], project).output) as unknown[];
      expect(operations).toHaveLength(OPERATION_IDS.length);
      await using program = startProgram(node(), [bin, 'emulator'], {}, project);
      const [, url = ''] = await program.seen(/listening on (\S+)/);
      for (const path of ['', '/json', '/static/swagger-ui-bundle.js', '/static/swagger-ui.css'])
        expect((await fetch(`${url}/docs${path}`)).status).toBe(200);
      const env = { PILOTLIGHT_BASE_URL: url, PILOTLIGHT_API_KEY: 'emulator-key' };
      await using beat = startProgram(node(), [bin, 'deployment', 'heartbeat', '42', '--json'], env, project);
      expect([await beat.exit, beat.stdout()]).toEqual([0, '{"success":true,"deployment_id":42}\n']);
    });

    test('the daemon of the package keeps a deployment alive', async () => {
      await using emulator = await startEmulator();
      const env = {
        PILOTLIGHT_BASE_URL: emulator.url,
        PILOTLIGHT_API_KEY: emulator.apiKey,
        PILOTLIGHT_DEPLOYMENTS: '42@300s',
        PILOTLIGHT_LISTEN: '127.0.0.1:0',
        PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
        // Not where these tests keep theirs.
        NODE_COMPILE_CACHE: '',
      };
      const bin = join(project, 'node_modules/.bin/pilotlight');
      await using daemon = startProgram(node(), [bin, 'run'], env, project);
      await emulator.journal.waitFor({ operation: 'deployments.heartbeat', status: 200 });
      daemon.child.kill('SIGTERM');
      expect(await daemon.exit, daemon.stderr()).toBe(0);
      // For the next start.
      expect(readdirSync(join(project, 'node_modules/pilotlight/dist/.compile-cache'))).not.toEqual([]);
    });

    test('importing it does nothing else', () => {
      const script = `
        void globalThis.Headers; // Node's own fetch, which an import must leave alone
        const look = () => JSON.stringify([
          Reflect.ownKeys(globalThis).map(String).filter((name) => !name.startsWith('__zod_')),
          process.eventNames().map(String), process.getActiveResourcesInfo(), process.env, process.argv,
        ]);
        const dispatcher = globalThis[Symbol.for('undici.globalDispatcher.1')];
        const before = look();
        await import('pilotlight');
        await import('pilotlight/emulator');
        if (look() !== before) throw new Error(before + '\\n' + look());
        if (globalThis[Symbol.for('undici.globalDispatcher.1')] !== dispatcher) throw new Error('fetch is another one');`;
      expect(run(node(), ['--input-type=module', '-e', script], project)).toEqual({ status: 0, output: '' });
    });

    test('the client speaks with the emulator, both from the package', () => {
      const script = `
        import { createClient } from 'pilotlight';
        import { startEmulator } from 'pilotlight/emulator';
        const emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: 20 }] } });
        const client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
        console.log(JSON.stringify(await client.deployments.heartbeat({ id: 42 })));
        await client[Symbol.asyncDispose]();
        await emulator.close();`;
      const ended = run(node(), ['--input-type=module', '-e', script], project);
      expect(ended).toEqual({ status: 0, output: '{"success":true,"deployment_id":42}\n' });
    });
  });

  test('its types compile under strict without skipLibCheck, with the examples; misuse does not', () => {
    const misuse = readFileSync(join(root, 'test/types/misuse.ts'), 'utf8')
      .replaceAll('../../src/emulator/index.ts', 'pilotlight/emulator')
      .replaceAll('../../src/index.ts', 'pilotlight');
    writeFileSync(join(project, 'misuse.ts'), misuse);
    const target = { module: 'nodenext', target: 'es2024', types: ['node'] };
    const compilerOptions = { strict: true, skipLibCheck: false, noEmit: true, ...target };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    expect(run(process.execPath, [tsc, '-p', '.'], project)).toEqual({ status: 0, output: '' });
  });

  test('the code of its README runs as printed', () => {
    const blocks = readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```ts\n([^]*?)^```$/gm);
    const codes = Array.from(blocks, ([, code = '']) => code);
    expect(codes).not.toEqual([]);
    for (const code of codes) {
      writeFileSync(join(project, 'readme.ts'), code);
      expect(run(process.execPath, ['readme.ts'], project)).toEqual({ status: 0, output: '' });
    }
  });

  test('its examples run', async () => {
    await using emulator = await startEmulator({ dialect: 'public' });
    const env = { PILOTLIGHT_BASE_URL: emulator.url, PILOTLIGHT_API_KEY: emulator.apiKey };
    await using beat = startProgram(process.execPath, ['heartbeat.ts', '42'], env, project);
    expect([await beat.exit, beat.stdout()]).toEqual([0, 'deployment 42 is alive\n']);
    await using gone = startProgram(process.execPath, ['heartbeat.ts', '99'], env, project);
    expect([await gone.exit, gone.stderr()]).toEqual([1, expect.stringContaining('404 not_found')]);

    await using launch = startProgram(process.execPath, ['launch.ts', '3004', '3001'], env, project);
    // Offer 3004 exits by itself after 70 s, and 3001 runs: time passes as the example looks.
    await launch.seen(/status: 'created'/);
    await emulator.clock.advance(80_000);
    await launch.seen(/given up/);
    await launch.seen(/offerId: 3001/);
    await emulator.clock.advance(600_000);
    expect([await launch.exit, launch.stdout()]).toEqual([
      0,
      expect.stringContaining('runs on offer 3001; given up before: 1'),
    ]);
    expect(emulator.journal.count({ operation: 'instances.destroy' })).toBe(2);

    const tests = run(process.execPath, ['--test', 'emulator.test.ts'], project);
    expect(tests, tests.output).toMatchObject({ status: 0 });
  });

  test('its example of two-factor authentication runs, with codes from the outbox', async () => {
    await using emulator = await startEmulator({
      seed: { users: [{ id: 1, email: 'new@example.com', api_keys: [{ name: 'new', key: 'new-key' }] }] },
    });
    const env = { PILOTLIGHT_BASE_URL: emulator.url, PILOTLIGHT_API_KEY: 'new-key' };
    await using program = startProgram(process.execPath, ['two-factor.ts'], env, project, 'pipe');
    await program.seen(/code \(email\)/);
    program.child.stdin?.write(`${emulator.outbox.latest().code}\n`);
    expect([await program.exit, program.stdout()]).toEqual([
      0,
      expect.stringMatching(/^10 backup codes: keep them\nlogged in as user 1; the next code is 6 digits\n$/),
    ]);
  });
});

/** Where a word begins on a line of this text, the first being line 0. */
interface Place {
  readonly word: string;
  readonly line: number;
  readonly character: number;
}

function placeOf(owner: string, field: string, text: string, line: number): Place {
  return { word: `${owner} ${field}`, line, character: text.search(new RegExp(`\\b${field}: any`)) };
}

async function withoutText(
  server: LanguageServer,
  name: string,
  places: readonly Place[],
): Promise<string[]> {
  const texts = await Promise.all(places.map(async (place) => server.hover(name, place)));
  // A sentence, and then perhaps tags.
  return places.filter((_, index) => !/^(?!\*@)./.test(texts[index] ?? '')).map(({ word }) => word);
}

function versionOf(name: string): string {
  const manifest = readFileSync(join(root, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { devDependencies: Record<string, string> }).devDependencies[name] ?? '';
}

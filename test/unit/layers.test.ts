import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LAYERS } from '../../.config/oxlint.config.ts';
import { root } from '../support/optional.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const topOf = (place: string): string => place.split('/')[0] ?? place;
const FOLDERS = [...new Set([...Object.keys(LAYERS).map(topOf), 'cli'])].filter((folder) => folder !== '.');

/** Folders that a layer names no part of, and rooms beside it that it does not name. */
function closedTo(layer: string): string[] {
  const named = LAYERS[layer] ?? [];
  const [tops, own] = [new Set(named.map(topOf)), topOf(layer)];
  const rooms = Object.keys(LAYERS).filter((room) => room.startsWith(`${own}/`) && room !== layer);
  return [
    ...FOLDERS.filter((folder) => folder !== own && !tops.has(folder)),
    ...rooms.filter((room) => !named.includes(room) && !named.includes(own)),
  ];
}

/** Each layer, and an import of each place that its row of the table does not name. */
const CLOSED = Object.keys(LAYERS).flatMap((layer) =>
  closedTo(layer).map(
    (place) => [layer, `./${relative(layer, place)}/any.ts`.replace('./..', '..')] as const,
  ),
);

/** Folder of src/ and an import in it that is refused for more than that: a part of what the layer names, or a package. */
const REFUSED = [
  ['contract', 'node:fs'],
  ['contract', 'undici'],
  ['client/flows', '../../emulator/index.ts'],
  ['scaling/planner/model', '../../../wire/match.ts'],
  ['heartbeat', './process/main.ts'],
  ['heartbeat/engine', 'node:timers'],
  ['heartbeat/driver', '../process/system.ts'],
  ['heartbeat/driver', 'node:http'],
  ['logs/follower', 'node:fs'],
  ['fleet/workers', '../history/sample-table.ts'],
  ['fleet/workers', 'node:fs'],
  ['config', '../heartbeat/heart.ts'],
  ['config/types', '../../heartbeat/driver/driver.ts'],
  ['daemon', '@opentelemetry/otlp-transformer'],
  ['daemon/status/page', '../../../heartbeat/engine/state.ts'],
  ['daemon/services', '../../heartbeat/driver/driver.ts'],
] as const;

/** The same for what they allow: a row that refuses too much is wrong as well. */
const ALLOWED = [
  ['.', './client/client.ts'],
  ['client', '../wire/request.ts'],
  ['contract', './operations/users.ts'],
  ['emulator', './admin/routes.ts'],
  ['emulator/handlers', '../../scaling/rules/check.ts'],
  ['emulator/tfa', '../random.ts'],
  ['heartbeat/process', '../driver/ports.ts'],
  ['fleet/history', '../../storage/database-file.ts'],
  ['config/types', '../../heartbeat/discovery/wanted.ts'],
  ['daemon/services', '../../heartbeat/heart.ts'],
  ['daemon/status/page', '../../../heartbeat/view/snapshot.ts'],
] as const;

interface Seed {
  readonly file: string;
  readonly source: string;
}

const refused = [...CLOSED, ...REFUSED].map(([folder, imported], index) => ({
  folder,
  imported,
  file: join('src', folder, `refused-${index}.ts`),
  source: `import type { Seed } from '${imported}';\nexport type Sown${index} = Seed;\n`,
}));
const allowed = ALLOWED.map(([folder, imported], index) => ({
  folder,
  imported,
  file: join('src', folder, `allowed-${index}.ts`),
  source: `import * as seed from '${imported}';\nexport const sown${index} = seed;\n`,
}));
const circle = (['one', 'two'] as const).map((name, index): Seed & { readonly name: string } => {
  const other = index === 0 ? 'two' : 'one';
  return {
    name,
    file: `src/wire/circle-${name}.ts`,
    source: `import type { Seed as Other } from './circle-${other}.ts';\nexport interface Seed { readonly ${name}: Other }\n`,
  };
});

/** File → the rules that it breaks, all seeds linted in one run. */
let broken: ReadonlyMap<string, readonly string[]>;
const { path: copy, [Symbol.dispose]: removeCopy } = temporaryFolder();

beforeAll(() => {
  cpSync(join(root, '.config'), join(copy, '.config'), { recursive: true });
  cpSync(join(root, 'tsconfig.json'), join(copy, 'tsconfig.json'));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const { file, source } of [...refused, ...allowed, ...circle]) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    writeFileSync(join(copy, file), source);
  }
  const linter = join(root, 'node_modules/.bin/oxlint');
  const { stdout } = spawnSync(linter, ['--config', '.config/oxlint.config.ts', '--format', 'json', 'src'], {
    cwd: copy,
    encoding: 'utf8',
  });
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: readonly { readonly filename: string; readonly code: string }[];
  };
  const byFile = Map.groupBy(diagnostics, ({ filename }) => filename);
  broken = new Map([...byFile].map(([file, found]) => [file, found.map(({ code }) => code)]));
});
afterAll(removeCopy);

function isRefused(file: string): boolean {
  return broken.get(file)?.includes('eslint(no-restricted-imports)') ?? false;
}

// The linter is only as good as its last proof: each line seeds one violation of the import layers.
test.each(Object.keys(LAYERS))(
  'src/%s may import nothing that its row does not name, not even a type',
  (layer) => {
    const seeds = refused.filter(({ folder }) => folder === layer);
    expect(seeds.filter(({ file }) => !isRefused(file)).map(({ imported }) => imported)).toEqual([]);
    expect(seeds.length).toBeGreaterThan(0);
  },
);

test.each(REFUSED)('src/%s may not import %s', (folder, imported) => {
  const seed = refused.find((one) => one.folder === folder && one.imported === imported);
  expect(isRefused(seed?.file ?? '')).toBe(true);
});

test.each(allowed)('src/$folder may import $imported', ({ file }) => {
  expect(isRefused(file)).toBe(false);
});

test.each(circle)(
  'a circle of two files is found in file $name, if only their types need each other',
  ({ file }) => {
    expect(broken.get(file) ?? []).toContain('import(no-cycle)');
  },
);

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import config from '../../.config/oxlint.config.ts';

/** Folder of src/ and an import in it that the layers refuse: at least one for each of their rows. */
const REFUSED = [
  ['.', './cli/program.ts'],
  ['contract', '../client/client.ts'],
  ['contract', 'node:fs'],
  ['contract', 'undici'],
  ['contract/operations', '../../wire/match.ts'],
  ['contract/text', '../operations/users.ts'],
  ['wire', '../emulator/index.ts'],
  ['client/flows', '../../emulator/index.ts'],
  ['openapi', '../client/client.ts'],
  ['scaling', '../daemon/daemon.ts'],
  ['scaling/rules', '../planner/plan.ts'],
  ['scaling/planner/model', '../../../wire/match.ts'],
  ['scaling/parallel', '../rules/check.ts'],
  ['emulator', '../client/client.ts'],
  ['emulator/state', '../handlers/deployments.ts'],
  ['emulator/fleet', '../handlers/endpoint-groups.ts'],
  ['emulator/tfa', '../handlers/define.ts'],
  ['emulator/handlers', '../../client/client.ts'],
  ['emulator/seed', '../admin/fleet.ts'],
  ['emulator/admin', '../../openapi/document.ts'],
  ['heartbeat', '../logs/follow/pipeline.ts'],
  ['heartbeat', '../config/load-heart.ts'],
  ['heartbeat', './process/main.ts'],
  ['heartbeat/engine', '../driver/ports.ts'],
  ['heartbeat/engine', '../../client/client.ts'],
  ['heartbeat/engine', 'node:timers'],
  ['heartbeat/view', '../driver/driver.ts'],
  ['heartbeat/driver', '../process/system.ts'],
  ['heartbeat/driver', 'node:http'],
  ['heartbeat/discovery', '../process/main.ts'],
  ['heartbeat/process', '../../daemon/daemon.ts'],
  ['time', '../logs/events.ts'],
  ['storage', '../logs/spool/spool.ts'],
  ['logs', './spool/spool.ts'],
  ['logs/follower', '../spool/spool.ts'],
  ['logs/follower', 'node:fs'],
  ['logs/lookup', '../follow/pipeline.ts'],
  ['logs/spool', '../follow/pipeline.ts'],
  ['logs/sinks', '../follower/group.ts'],
  ['logs/follow', '../../daemon/daemon.ts'],
  ['spend', '../fleet/watch.ts'],
  ['fleet', '../daemon/daemon.ts'],
  ['fleet/workers', '../history/sample-table.ts'],
  ['fleet/workers', 'node:fs'],
  ['fleet/discovery', '../workers/lives.ts'],
  ['fleet/history', '../../client/client.ts'],
  ['watch', '../daemon/daemon.ts'],
  ['doctor', '../daemon/daemon.ts'],
  ['config', '../daemon/daemon.ts'],
  ['config', '../emulator/index.ts'],
  ['config/types', '../../heartbeat/driver/driver.ts'],
  ['config', '../heartbeat/heart.ts'],
  ['daemon', '../cli/program.ts'],
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
  ['config/types', '../../fleet/discovery/endpoints.ts'],
  ['config/types', '../../heartbeat/discovery/wanted.ts'],
  ['daemon/services', '../../heartbeat/heart.ts'],
  ['daemon/status/page', '../../../heartbeat/view/snapshot.ts'],
] as const;

interface Seed {
  readonly file: string;
  readonly source: string;
}

const refused = REFUSED.map(([folder, imported], index) => ({
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
let copy: string;

beforeAll(() => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  copy = mkdtempSync(join(tmpdir(), 'pilotlight-layers-'));
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
afterAll(() => rmSync(copy, { recursive: true, force: true }));

// The linter is only as good as its last proof: each line seeds one violation of the import layers.
test.each(refused)('src/$folder may not import $imported, not even a type', ({ file }) => {
  expect(broken.get(file) ?? []).toContain('eslint(no-restricted-imports)');
});

test.each(allowed)('src/$folder may import $imported', ({ file }) => {
  expect(broken.get(file) ?? []).not.toContain('eslint(no-restricted-imports)');
});

test.each(circle)(
  'a circle of two files is found in file $name, if only their types need each other',
  ({ file }) => {
    expect(broken.get(file) ?? []).toContain('import(no-cycle)');
  },
);

test('each row of the layers has a seed', () => {
  const rows = (config.overrides ?? []).filter(({ rules }) => rules?.['no-restricted-imports']);
  const layers = rows.map(
    ({ files }) => String(files[0]).replace(/^\*\*\/src\/|\/?(\*\*\/)?\*\.ts$/g, '') || '.',
  );
  const layerOf = (folder: string) =>
    layers.filter((layer) => `${folder}/`.startsWith(`${layer}/`)).sort((a, b) => b.length - a.length)[0];
  const seeded = new Set(REFUSED.map(([folder]) => layerOf(folder)));
  expect(layers.filter((layer) => !seeded.has(layer))).toEqual([]);
});

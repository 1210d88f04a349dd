import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, symlinkSync, writeFileSync, cpSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = new URL('../..', import.meta.url).pathname;
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'pilotlight-layers-'));
  cpSync(join(root, '.config'), join(copy, '.config'), { recursive: true });
  cpSync(join(root, 'tsconfig.json'), join(copy, 'tsconfig.json'));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function lint(path: string, source: string): string {
  const file = join(copy, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, source);
  try {
    const linter = join(root, 'node_modules/.bin/oxlint');
    execFileSync(linter, ['--config', '.config/oxlint.config.ts', 'src'], {
      cwd: copy,
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  } finally {
    rmSync(file);
  }
}

// The linter is only as good as its last proof: each line seeds one violation of the import layers.
test.each([
  ['src/contract/seed.ts', '../client/client.ts'],
  ['src/contract/seed.ts', 'node:fs'],
  ['src/contract/seed.ts', 'undici'],
  ['src/wire/seed.ts', '../emulator/server.ts'],
  ['src/client/flows/seed.ts', '../../emulator/server.ts'],
  ['src/emulator/handlers/seed.ts', '../../client/client.ts'],
  ['src/scaling/seed.ts', '../daemon/daemon.ts'],
  ['src/heartbeat/seed.ts', '../logs/follower.ts'],
  ['src/heartbeat/seed.ts', '../config/load-heart.ts'],
  ['src/heartbeat/process/seed.ts', '../../daemon/daemon.ts'],
  ['src/daemon/seed.ts', '@opentelemetry/otlp-transformer'],
  ['src/daemon/seed.ts', '../cli/program.ts'],
  ['src/config/seed.ts', '../daemon/daemon.ts'],
  ['src/config/seed.ts', '../emulator/server.ts'],
])('%s may not import %s', (file, imported) => {
  expect(lint(file, `export * from '${imported}';\n`)).toContain('no-restricted-imports');
});

test('an allowed import passes', () => {
  expect(lint('src/client/seed.ts', "export * from '../wire/request.ts';\n")).toBe('');
});

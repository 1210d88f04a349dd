/**
 * The declarations of the library's entries in dist/types, or in the folder that is named, and of no more than they
 * reach. The compiler leaves `.ts` in the specifiers of declarations, where those who import them need `.js`.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADDED } from './client-types.ts';

const ENTRIES = ['index.d.ts', 'emulator/index.d.ts'];
const SPECIFIER = /((?:from|import)\s*\(?\s*["'])(\.{1,2}\/[^"']+)\.ts(["'])/g;

const root = fileURLToPath(new URL('..', import.meta.url));
const out = process.argv[2] ?? join(root, 'dist/types');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const project = join(root, '.config/tsconfig.types.json');

rmSync(out, { recursive: true, force: true });
execFileSync(process.execPath, [compiler, '--project', project, '--outDir', out], { stdio: 'inherit' });
for (const [name, text] of Object.entries(ADDED)) appendFileSync(join(out, name), text());

const reached = new Set<string>();
const waiting = [...ENTRIES];
for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
  if (reached.has(name)) continue;
  reached.add(name);
  const file = join(out, name);
  const text = readFileSync(file, 'utf8');
  for (const [, , target = ''] of text.matchAll(SPECIFIER)) {
    waiting.push(relative(out, join(dirname(file), `${target}.d.ts`)));
  }
  writeFileSync(file, text.replaceAll(SPECIFIER, '$1$2.js$3'));
}
for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
  if (name.endsWith('.ts') && !reached.has(name)) rmSync(join(out, name));
}
process.stdout.write(`${out}: ${reached.size} declarations\n`);

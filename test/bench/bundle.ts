/** How much code `pilotlight run` loads, from the bundle's own map of imports. Run: node test/bench/bundle.ts */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { report } from './figures.ts';
import { BUNDLE } from './processes.ts';

const folder = dirname(BUNDLE);
const STATIC = /(?:from|import)\s*"\.\/([^"]+\.js)"/g;

/** The files that `entry` imports, itself included, without what it loads when it is needed. */
function closure(entry: string, seen = new Set<string>()): Set<string> {
  if (seen.has(entry)) return seen;
  seen.add(entry);
  for (const [, name = ''] of readFileSync(join(folder, entry), 'utf8').matchAll(STATIC)) closure(name, seen);
  return seen;
}

/** What a command loads when it runs, by the name of its chunk. */
function lazily(from: ReadonlySet<string>, name: string): string[] {
  const dynamic = new RegExp(`import\\("\\./(${name}-[^"]+\\.js)"\\)`, 'g');
  return [...from].flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(dynamic)].map(([, found = '']) => found),
  );
}

const loaded = closure('pilotlight.js');
for (const found of lazily(loaded, 'main')) closure(found, loaded);
closure('daemon-thread.js', loaded);
const bytes = [...loaded].reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
report('bundle', bytes / 1e6, `${loaded.size} files`);

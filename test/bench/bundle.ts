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

/** Adds what `loaded` imports when it needs it, by the name of its chunk. */
function addLazy(loaded: Set<string>, name: string): void {
  const dynamic = new RegExp(`import\\("\\./(${name}-[^"]+\\.js)"\\)`, 'g');
  const found = [...loaded].flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(dynamic)].map(([, chunk = '']) => chunk),
  );
  if (found.length === 0) throw new Error(`nothing imports a chunk ${name}`);
  for (const chunk of found) closure(chunk, loaded);
}

function megabytes(files: ReadonlySet<string>): number {
  return [...files].reduce((sum, file) => sum + statSync(join(folder, file)).size, 0) / 1e6;
}

const heart = closure('pilotlight.js').add('heart.cjs');
addLazy(heart, 'heart');
const daemon = closure('daemon.js');
addLazy(daemon, 'serve');
report(
  'bundle',
  megabytes(new Set([...heart, ...daemon])),
  `heart ${megabytes(heart).toFixed(2)} MB of ${heart.size} files, daemon ${megabytes(daemon).toFixed(2)} MB of ${daemon.size}`,
);

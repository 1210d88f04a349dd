/**
 * `node test/mutation/hand-made.ts [word]`: makes each mistake of mistakes.ts, or those with the word in them, in a copy
 * of the tree and says whether its tests notice it. First those tests run without it.
 */
import { join } from 'node:path';
import { MISTAKES } from './mistakes.ts';
import { Sandbox } from './sandbox.ts';

const LIMIT_MS = 240_000;
const [word = ''] = process.argv.slice(2);
const chosen = MISTAKES.filter(({ what, file }) => `${what} ${file}`.includes(word));

using sandbox = new Sandbox();
const failing = new Map<string, boolean>();
let noticed = 0;
for (const { what, file, from, to, tests, named } of chosen) {
  const path = join('src', file);
  const text = sandbox.textOf(path);
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${path}: ${what}: its place is there ${parts.length - 1} times`);
  const args = tests.map((test) => join('test', test));
  if (named !== undefined) args.push('-t', named);
  const key = args.join(' ');
  if (!failing.has(key))
    failing.set(key, (await sandbox.verdictOf(path, text, args, LIMIT_MS)) !== 'unnoticed');
  const verdict = failing.get(key)
    ? 'fails without it'
    : await sandbox.verdictOf(path, parts.join(to), args, LIMIT_MS);
  if (verdict === 'noticed' || verdict === 'overtime') noticed += 1;
  process.stdout.write(`${verdict.padEnd(16)}  ${what} (${path}; ${tests.join(', ')})\n`);
}
process.stdout.write(`${noticed} of ${chosen.length} are noticed\n`);
process.exitCode = noticed === chosen.length ? 0 : 1;

/**
 * `node test/mutation/hand-made.ts [word]`: makes each mistake of mistakes.ts, or those with the word in them, in a copy
 * of the tree and says whether its tests notice it. First all of these tests run without any.
 */
import { join } from 'node:path';
import { MISTAKES } from './mistakes.ts';
import { Sandbox } from './sandbox.ts';

const LIMIT_MS = 180_000;
const [word = ''] = process.argv.slice(2);
const chosen = MISTAKES.filter(({ what, file }) => `${what} ${file}`.includes(word));
const say = (line: string) => void process.stdout.write(`${line}\n`);

using sandbox = new Sandbox();
const all = [...new Set(chosen.flatMap(({ tests }) => tests))].map((test) => join('test', test));
const [{ file: some } = { file: '' }] = chosen;
const place = join('src', some);
if (
  chosen.length === 0 ||
  (await sandbox.verdictOf(place, sandbox.textOf(place), all, 600_000)) !== 'unnoticed'
) {
  say(chosen.length === 0 ? `no mistake has ${word} in it` : 'the tests fail without any mistake');
  process.exit(2);
}
let unnoticed = 0;
for (const { what, file, from, to, tests } of chosen) {
  const path = join('src', file);
  const parts = sandbox.textOf(path).split(from);
  if (parts.length !== 2) throw new Error(`${path}: ${what}: its place is there ${parts.length - 1} times`);
  const paths = tests.map((test) => join('test', test));
  const verdict = await sandbox.verdictOf(path, parts.join(to), paths, LIMIT_MS);
  if (verdict === 'unnoticed') unnoticed += 1;
  say(`${verdict.padEnd(9)}  ${what} (${path}; ${tests.join(', ')})`);
}
say(`${chosen.length - unnoticed} of ${chosen.length} are noticed`);
process.exitCode = unnoticed === 0 ? 0 : 1;

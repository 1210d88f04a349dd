/** Prints the coverage of the interface document: `npm run coverage:interface`. */
import { existsSync, readFileSync } from 'node:fs';
import { COVERAGE, type CoverageRow } from './coverage-rows.ts';

const tests = new URL('../', import.meta.url);

/** `file:line` of the test, or undefined when no such test exists. */
export function placeOf({ file, names }: CoverageRow): string | undefined {
  const path = new URL(file, tests);
  if (!existsSync(path)) return undefined;
  const line = readFileSync(path, 'utf8')
    .split('\n')
    .findIndex((text) => text.includes(names));
  return line === -1 ? undefined : `test/${file}:${line + 1}`;
}

if (import.meta.main) {
  for (const row of COVERAGE) {
    process.stdout.write(
      `${row.section.padEnd(22)}${row.subject.padEnd(58)}${placeOf(row) ?? 'NOT COVERED'}\n`,
    );
  }
}

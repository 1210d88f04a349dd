/** Which code is broken: all of a folder, or paragraphs of it that chance chooses, since a mutant takes seconds. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../../src/emulator/random.ts';

interface Paragraph {
  readonly file: string;
  /** From 1, both included. */
  readonly from: number;
  readonly to: number;
}

/** Lines between two empty ones: a function, a method, a table; of a longer function a part. */
function paragraphsOf(file: string): Paragraph[] {
  const lines = ['', ...readFileSync(file, 'utf8').split('\n'), ''];
  const ends = lines.flatMap((line, index) => (line.trim() === '' ? [index] : []));
  return ends.flatMap((end, index) => {
    const from = (ends[index - 1] ?? end) + 1;
    return from < end ? [{ file, from, to: end - 1 }] : [];
  });
}

/** Patterns for Stryker: whole files, or paragraphs of so many lines together, the same for the same seed. */
export function chosenCode(paths: readonly string[], lines: number | undefined, seed: number): string[] {
  const files = paths
    .flatMap((path) => (path.endsWith('.ts') ? [path] : globSync(join(path, '**/*.ts'))))
    .filter((file) => !file.endsWith('.d.ts'))
    .toSorted();
  if (lines === undefined) return files;
  const random = createRandom(seed);
  const shuffled = files
    .flatMap(paragraphsOf)
    .map((paragraph) => ({ paragraph, place: random() }))
    .toSorted((one, other) => one.place - other.place);
  const chosen: string[] = [];
  let count = 0;
  for (const {
    paragraph: { file, from, to },
  } of shuffled) {
    if (count >= lines) break;
    count += to - from + 1;
    chosen.push(`${file}:${from}-${to}`);
  }
  return chosen;
}

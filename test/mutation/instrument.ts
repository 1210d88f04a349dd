/** All mutants of files, and the texts in which each is switched on by its number: Stryker's instrumenter makes them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { root } from '../support/optional.ts';

interface Place {
  readonly line: number;
  readonly column: number;
}

/** One change of the code, that is made while its number is the active one. */
export interface Mutant {
  readonly id: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly mutatorName: string;
  readonly replacement: string;
  readonly location: { readonly start: Place; readonly end: Place };
}

function quiet(): void {}
const SILENT = {
  trace: quiet,
  debug: quiet,
  info: quiet,
  warn: quiet,
  error: quiet,
  fatal: quiet,
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
};

/** Files of rooms, as paths from the root. */
export function filesOf(paths: readonly string[]): string[] {
  return paths
    .flatMap((path) =>
      path.endsWith('.ts')
        ? [path]
        : globSync('**/*.ts', { cwd: join(root, path) }).map((file) => join(path, file)),
    )
    .filter((file) => !file.endsWith('.d.ts'))
    .toSorted();
}

/** The texts are by file. */
export async function instrument(
  files: readonly string[],
): Promise<{ readonly mutants: readonly Mutant[]; readonly texts: Readonly<Record<string, string>> }> {
  const sources = files.map((name) => ({
    name,
    mutate: true,
    content: readFileSync(join(root, name), 'utf8'),
  }));
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const made = await new Instrumenter(SILENT).instrument(sources, options);
  const mutants = made.mutants
    .filter(({ status }) => status === undefined)
    .map(({ id, fileName, mutatorName, replacement, location: { start, end } }) => ({
      id,
      file: fileName,
      mutatorName,
      replacement,
      // Counted from 0 there, from 1 in reports.
      location: { start: fromOne(start), end: fromOne(end) },
    }));
  return { mutants, texts: Object.fromEntries(made.files.map(({ name, content }) => [name, content])) };
}

function fromOne({ line, column }: Place): Place {
  return { line: line + 1, column: column + 1 };
}

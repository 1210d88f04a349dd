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

type Texts = Readonly<Record<string, string>>;

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

/** In a text with mutants: whether one of them is on, and the count of those at a place. */
const SWITCH = /\bstryMutAct_9fa48\("(\d+)"\)/g;
const COUNT = /\bstryCov_9fa48\(((?:"\d+"(?:, )?)+)\)/g;

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

export async function instrument(
  files: readonly string[],
): Promise<{ readonly mutants: readonly Mutant[]; readonly texts: Texts }> {
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

/** Without mutants: the text counts, by their numbers, how often the place of each is reached. */
export function counting(texts: Texts): Texts {
  const head = 'const hits_9fa48 = globalThis.__hits__;\n';
  return changed(
    texts,
    (text) =>
      head +
      text
        .replaceAll(SWITCH, 'false')
        .replaceAll(COUNT, (_, ids: string) => ids.replaceAll(/"(\d+)"/g, 'hits_9fa48[$1]++')),
  );
}

/** With these mutants alone, and without a count: thousands of switches would make the code many times as slow. */
export function withOnly(texts: Texts, chosen: ReadonlySet<string>): Texts {
  return changed(texts, (text) =>
    text.replaceAll(SWITCH, (all, id: string) => (chosen.has(id) ? all : 'false')).replaceAll(COUNT, '0'),
  );
}

function changed(texts: Texts, change: (text: string) => string): Texts {
  return Object.fromEntries(Object.entries(texts).map(([file, text]) => [file, change(text)]));
}

function fromOne({ line, column }: Place): Place {
  return { line: line + 1, column: column + 1 };
}

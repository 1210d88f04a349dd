/** What came of a mutation run, as Stryker reports it, and the mutants that nobody noticed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/optional.ts';
import type { Mutant } from './instrument.ts';
import type { Verdict } from './journal.ts';

/** https://github.com/stryker-mutator/mutation-testing-elements, whose page shows it. */
export interface Report {
  readonly schemaVersion: '2';
  readonly thresholds: { readonly high: number; readonly low: number };
  readonly files: Readonly<Record<string, FileReport>>;
}

interface FileReport {
  readonly language: 'typescript';
  readonly source: string;
  readonly mutants: readonly (Mutant & { readonly status: Status })[];
}

type Status = 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage';

export function reportOf(
  mutants: readonly Mutant[],
  noticed: ReadonlyMap<string, Verdict>,
  reached: ReadonlySet<string>,
): Report {
  const statusOf = ({ id }: Mutant): Status => {
    const verdict = noticed.get(id);
    if (verdict !== undefined) return verdict === 'timeout' ? 'Timeout' : 'Killed';
    return reached.has(id) ? 'Survived' : 'NoCoverage';
  };
  const files = [...Map.groupBy(mutants, ({ file }) => file)].map(([file, of]): [string, FileReport] => [
    file,
    {
      language: 'typescript',
      source: readFileSync(join(root, file), 'utf8'),
      mutants: of.map((mutant) => ({ ...mutant, status: statusOf(mutant) })),
    },
  ]);
  return { schemaVersion: '2', thresholds: { high: 90, low: 70 }, files: Object.fromEntries(files) };
}

/** Each that nobody noticed: its place, and what became of what. */
export function unnoticedOf({ files }: Report): string[] {
  return Object.entries(files)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .flatMap(([file, { source, mutants }]) =>
      mutants
        .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
        .toSorted((one, other) => one.location.start.line - other.location.start.line)
        .map(({ location, replacement, status, mutatorName }) => {
          const text = short(textOf(source.split('\n'), location));
          const { line, column } = location.start;
          return `${file}:${line}:${column} ${mutatorName} ${status}: ${text} => ${short(replacement)}`;
        }),
    );
}

function textOf(lines: readonly string[], { start, end }: Mutant['location']): string {
  const part = lines.slice(start.line - 1, end.line);
  const last = part.length - 1;
  return part
    .map((line, index) =>
      line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined),
    )
    .join(' ');
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 60)} … ${line.slice(-20)}` : line;
}

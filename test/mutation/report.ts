/** What came of a mutation run, by room, and the mutants that nobody noticed. */
import { dirname } from 'node:path';

/** https://github.com/stryker-mutator/mutation-testing-elements, as far as it is needed here. */
export interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Place; readonly end: Place };
}

/** From 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

const NOTICED: ReadonlySet<string> = new Set(['Killed', 'Timeout']);
const UNNOTICED: ReadonlySet<string> = new Set(['Survived', 'NoCoverage']);

/** Rows of a Markdown table: a room, how many of its mutants were noticed, and how many of those that were not no test reached. */
export function roomsOf({ files }: Report): string[] {
  const rooms = Map.groupBy(Object.entries(files), ([file]) => dirname(file));
  return [...rooms].map(([room, entries]) => {
    const all = entries.flatMap(([, { mutants }]) => mutants);
    const count = (...of: readonly string[]) => all.filter(({ status }) => of.includes(status)).length;
    const [noticed, tried] = [count(...NOTICED), count(...NOTICED, ...UNNOTICED)];
    const share = tried === 0 ? '' : `${((100 * noticed) / tried).toFixed(0)} %`;
    return `| ${room} | ${tried} | ${noticed} | ${share} | ${count('NoCoverage')} |`;
  });
}

/** Each that nobody noticed: its place, and what became of what. */
export function unnoticedOf({ files }: Report): string[] {
  return Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants
      .filter(({ status }) => UNNOTICED.has(status))
      .map(({ location, replacement = '', status, mutatorName }) => {
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

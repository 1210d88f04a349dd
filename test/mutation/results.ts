/** What runs with --record have found, by room: test/mutation/results.json, from which `npm run readme` makes a table. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('results.json', import.meta.url));
/** Of a normal distribution, for 95 %. */
const Z = 1.96;

export interface Row {
  /** What follows `npm run test:mutation --`; rooms first. */
  readonly command: string;
  /** That there are, without those that only take effect when a file is loaded. */
  readonly mutants: number;
  readonly tried: number;
  readonly noticed: number;
  /** By no test, as code of a child process. */
  readonly unreached: number;
}

function rows(): Row[] {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Row[]) : [];
}

export function recordRow(row: Row): void {
  const all = [...rows().filter(({ command }) => roomOf(command) !== roomOf(row.command)), row];
  const sorted = all.toSorted((one, other) => one.command.localeCompare(other.command));
  writeFileSync(FILE, `[\n${sorted.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]\n`);
}

function roomOf(command: string): string | undefined {
  return command.split(' ')[0];
}

/** Wilson's: between which shares that of all mutants lies, in 95 of 100 samples like this one. */
function intervalOf(noticed: number, tried: number): [number, number] {
  const share = noticed / tried;
  const middle = share + Z ** 2 / (2 * tried);
  const half = Z * Math.sqrt((share * (1 - share)) / tried + Z ** 2 / (4 * tried ** 2));
  const all = 1 + Z ** 2 / tried;
  return [(middle - half) / all, (middle + half) / all];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}

export function wordsOf({ command, mutants, tried, noticed }: Row): string {
  return `${roomOf(command)}: ${noticed} of ${tried} noticed, ${percent(noticed / tried)}, of ${mutants} that there are`;
}

/** What makes it, how many mutants there are and were tried, how many of these were noticed, where the share of all lies, and how many are out of reach. */
export function mutationRows(): string[][] {
  return rows().map(({ command, mutants, tried, noticed, unreached }) => [
    `\`${command}\``,
    String(mutants),
    tried === mutants ? 'all' : String(tried),
    String(noticed),
    percent(noticed / tried),
    tried === mutants
      ? ''
      : intervalOf(noticed, tried)
          .map((share) => percent(share))
          .join(' to '),
    String(unreached),
  ]);
}

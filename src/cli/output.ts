/** Where commands write: results to stdout, everything else to stderr. */

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** For numbers that are not finite JSON has only null, which says less than their name. */
export function printJson(value: unknown): void {
  const named = (_: string, each: unknown) =>
    typeof each === 'number' && !Number.isFinite(each) ? String(each) : each;
  printLine(JSON.stringify(value, named, process.stdout.isTTY ? 2 : undefined));
}

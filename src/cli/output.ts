/** Where commands write: results to stdout, everything else to stderr. */

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined));
}

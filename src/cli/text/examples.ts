/** The examples at the end of a command's help: command lines without the program's name. */
export function examples(...lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  pilotlight ${line}`)].join('\n');
}

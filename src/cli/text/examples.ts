/** What the help of several commands ends with. */

/** Command lines without the program's name. */
export function examples(...lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  pilotlight ${line}`)].join('\n');
}

export const CONNECTION = '\nUses PILOTLIGHT_API_KEY, PILOTLIGHT_BASE_URL and PILOTLIGHT_SERVERLESS_URL.';

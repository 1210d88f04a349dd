/** What a reader of a page sees, without a browser: the text of its body, a line for each piece. */

const NAMED: Readonly<Record<string, string>> = {
  '&#38;': '&',
  '&#60;': '<',
  '&#62;': '>',
  '&#34;': '"',
  '&#39;': "'",
};

export function wordsOf(page: string): string[] {
  const body = page.slice(page.indexOf('<body'), page.indexOf('<script'));
  return body
    .split(/<[^>]+>/)
    .map((text) => text.replaceAll(/\s+/g, ' ').trim())
    .filter((text) => text !== '')
    .map((text) => text.replaceAll(/&#\d+;/g, (entity) => NAMED[entity] ?? entity));
}

export function pieces(line: string): string[] {
  return line.split(' | ');
}

export function dataOf(page: string): unknown {
  return JSON.parse(
    /<script type="application\/json" id="plan-data">([^<]*)</.exec(page)?.[1] ?? '',
  ) as unknown;
}

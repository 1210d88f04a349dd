/** What a reader of a page sees, without a browser: the text of its body, a line for each piece; and its plots. */

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

/** The names of its plots, with what stands above each. */
export function plotsOf(page: string): string[] {
  return Array.from(
    page.matchAll(
      /<figcaption>([^<]*)<\/figcaption>\s*<div\s+class="plot"\s+data-plot="([\w-]+)"\s+role="img"\s+aria-label="([^"]*)"/g,
    ),
    ([, caption, name, label]) =>
      label === `${caption}; the figures stand below` ? `${name}: ${caption}` : '',
  );
}

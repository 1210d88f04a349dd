/** A long line as several that a terminal has room for, so that it breaks none of them. Pure. */

/** Narrower ones would leave no room for words. */
const LEAST_COLUMNS = 12;

/**
 * @param columns Of the terminal; fewer than twelve count as twelve
 * @param hanging What the second line and those after it begin with, shorter than `columns`
 */
export function wrapped(text: string, columns: number, hanging = ''): string[] {
  const width = Math.max(columns, LEAST_COLUMNS);
  const lines: string[] = [];
  for (const word of text.split(' ').flatMap((each) => pieces(each, width - hanging.length))) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(word);
    else if (last.length + word.length + 1 > width) lines.push(hanging + word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** A word that no line has room for goes on in the next one. */
function pieces(word: string, length: number): string[] {
  if (word.length <= length) return [word];
  return Array.from({ length: Math.ceil(word.length / length) }, (_, index) =>
    word.slice(index * length, (index + 1) * length),
  );
}

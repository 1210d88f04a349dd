/**
 * How long the sentences of documents and comments are, and which turns of phrase they have that plain English does
 * without. `npm run language` prints it.
 */
import { DOCUMENTS, filesLike, proseOf, textOf } from './documents.ts';

/** The most words that a sentence may have and still count as short. */
export const SHORT = 25;

/** Turns of phrase, and what a reader would rather read. */
const TURNS: readonly (readonly [RegExp, string])[] = [
  [/\b[Oo]ne that\b/, 'name the thing'],
  [/\b(?:[Ww]hoever|[Nn]obody|[Nn]o one) (?!else)/, 'say who'],
  [/\bof which\b/, 'a sentence of its own'],
  [/\bbut for\b/, 'except'],
  [/\btells? of\b/, 'reports, counts'],
  [/\banew\b/, 'again, new'],
  [/\blest\b/, 'so that … not'],
  [/\b(?:lit|unlit|relight)\b/, 'alive, resume'],
  [/(?:^|[.!?:] )What (?:is|was|has|comes|goes)\b/, 'name the thing'],
  [/(?<![Tt]here )\b(?:is|are) no (?!longer|more|less|such|better|option)/, 'is not a'],
  [/\b(?:anybody|somebody) (?:else )?(?:who|that)\b/, 'say who'],
  [/\bthat (?:it is|they are) of\b/, 'its'],
];

/** Each sentence of the prose as its words. A list item, a table cell, a heading and a colon end one. */
export function sentencesOf(text: string): string[][] {
  return passagesOf(text).flatMap((passage) =>
    passage
      .split(/(?<=[.!?:])\s+(?=\S)/)
      .map((sentence) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)))
      .filter((words) => words.length > 2),
  );
}

/** The turns in a text, with the words around each. */
export function turnsOf(text: string): string[] {
  return passagesOf(text).flatMap((passage) =>
    TURNS.flatMap(([turn, better]) => {
      const found = turn.exec(passage);
      if (!found) return [];
      const from = Math.max(0, found.index - 30);
      return [`“…${passage.slice(from, found.index + found[0].length + 30)}…”: ${better}`];
    }),
  );
}

export interface Lengths {
  /** Mean words of a sentence. */
  readonly mean: number;
  /** The part of the sentences that are longer than `SHORT`. */
  readonly long: number;
}

export function lengthsOf(sentences: readonly (readonly string[])[]): Lengths {
  const words = sentences.reduce((sum, sentence) => sum + sentence.length, 0);
  const long = sentences.filter((sentence) => sentence.length > SHORT).length;
  return { mean: words / sentences.length, long: long / sentences.length };
}

/** The comments of each room of `src`, a paragraph each. A tag, such as `@throws`, begins another. */
export function commentsByRoom(): ReadonlyMap<string, string> {
  const files = filesLike('src/**/*.{ts,js}');
  const byRoom = Map.groupBy(files, (file) => file.split('/').slice(0, 2).join('/'));
  return new Map(
    Array.from(byRoom, ([room, paths]) => [room, paths.map((path) => commentsOf(textOf(path))).join('\n\n')]),
  );
}

function commentsOf(code: string): string {
  return Array.from(code.matchAll(/\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+/gm), ([comment]) =>
    comment
      .replaceAll(/^\s*\/\*+|\*+\/\s*$/g, '')
      .replaceAll(/^\s*(?:\/\/|\*) ?/gm, '')
      .replaceAll(/\s*@\w+\s*/g, '\n\n'),
  ).join('\n\n');
}

/** Paragraphs, list items and cells, each on one line; a code span is one word. */
function passagesOf(text: string): string[] {
  return proseOf(text)
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replaceAll(/`[^`]+`/g, 'CODE')
    .replaceAll('**', '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.) )|\n(?=\s*[#|>])/)
    .flatMap((block) => (block.trim().startsWith('|') ? block.split('|') : [block]))
    .map((passage) =>
      passage
        .replace(/^\s*(?:[-*+#>]+|\d+\.)\s+/, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((passage) => passage !== '');
}

if (import.meta.main) {
  const texts = [
    ...DOCUMENTS.map((document) => [document, textOf(document)] as const),
    ...Array.from(commentsByRoom(), ([room, text]) => [`comments of ${room}`, text] as const),
  ];
  const all = texts.map(([place, text]) => ({ place, text, sentences: sentencesOf(text) }));
  for (const { place, text, sentences } of all) {
    const { mean, long } = lengthsOf(sentences);
    const turns = turnsOf(text);
    console.log(
      `${place}: ${mean.toFixed(1)} words a sentence, ${(long * 100).toFixed(1)}% long, ${turns.length} turns`,
    );
    if (process.argv.includes('--all')) {
      for (const turn of turns) console.log(`  ${turn}`);
      for (const sentence of sentences.filter((words) => words.length > SHORT))
        console.log(`  ${sentence.length}: ${sentence.join(' ')}`);
    }
  }
  const { mean, long } = lengthsOf(all.flatMap(({ sentences }) => sentences));
  console.log(`all: ${mean.toFixed(1)} words a sentence, ${(long * 100).toFixed(1)}% above ${SHORT}`);
}

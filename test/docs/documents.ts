/** The documents of the repository, and what a reader would follow in them: links, names of files, commands. */
import { fileURLToPath } from 'node:url';
import { globSync, readFileSync } from 'node:fs';

const repository = new URL('../../', import.meta.url);
const NOT_OURS = ['node_modules', 'dist', '.git'];

/** Paths from the root of the repository. */
export function filesLike(pattern: string): string[] {
  return globSync(pattern, { cwd: fileURLToPath(repository), exclude: NOT_OURS }).toSorted();
}

/** Paths from the root of the repository. */
export const DOCUMENTS: readonly string[] = [...filesLike('**/*.md'), ...filesLike('.github/**/*.md')];

export function urlOf(path: string): URL {
  return new URL(path, repository);
}

export function textOf(path: string): string {
  return readFileSync(urlOf(path), 'utf8');
}

interface Block {
  /** Of the fence: `sh`, `console`, `ts`, … */
  readonly language: string;
  readonly lines: readonly string[];
}

const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;

export function blocksOf(text: string): Block[] {
  return [...text.matchAll(FENCE)].map(([, language = '', body = '']) => ({
    language,
    lines: body.trimEnd().split('\n'),
  }));
}

/** The text outside of code blocks and of generated tables, which say what the code says. */
export function proseOf(text: string): string {
  return text.replaceAll(/<!-- table: \w+ -->[\s\S]*?<!-- end -->/g, '').replaceAll(FENCE, '');
}

export function linksOf(text: string): string[] {
  return [...text.replaceAll(FENCE, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

export function spansOf(text: string): string[] {
  return [...proseOf(text).matchAll(/`([^`]+)`/g)].map(([, span = '']) => span.replaceAll(/\s+/g, ' '));
}

/** The anchors that a forge makes of headings. */
export function anchorsOf(text: string): string[] {
  return [...text.replaceAll(FENCE, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

export interface Exchange {
  readonly command: string;
  readonly answer: string;
}

/** The `console` blocks: a line that begins with `$ ` is a command, what follows is its answer. */
export function sessionsOf(text: string): Exchange[] {
  return blocksOf(text)
    .filter(({ language }) => language === 'console')
    .flatMap(({ lines }) => `${lines.join('\n')}\n`.split(/^\$ /m).slice(1))
    .map((part) => {
      const [command = '', ...answer] = part.trimEnd().split('\n');
      return { command, answer: answer.join('\n') };
    });
}

/** The lines of the `sh` blocks, without the comments beside them: commands whose answers are not printed there. */
export function commandsOf(text: string): string[] {
  return blocksOf(text)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ lines }) => lines.map((line) => line.replace(/(?:^|\s+)#\s.*$/, '').trim()))
    .filter((line) => line !== '');
}

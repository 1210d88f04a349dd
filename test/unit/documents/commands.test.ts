/** Commands that the documents name, in prose or in blocks: their scripts, files, flags and suites are there. */
import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { processConsole } from '../../../src/cli/console.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { splitWords } from '../../../src/contract/text/shell-words.ts';
import { commandsOf, DOCUMENTS, sessionsOf, spansOf, textOf, urlOf } from '../../docs/documents.ts';

const OURS = /^(?:npm|npx|node|pilotlight) /;
const { scripts } = JSON.parse(textOf('package.json')) as { readonly scripts: Record<string, string> };
const SUITES = new Set(
  [...textOf('test/vitest.config.ts').matchAll(/project\('(\w+)'/g)].map(([, name]) => name),
);
const program = await createProgram(processConsole());

/** Up to what a shell would do with it: a pipe, a redirection, the next command. */
function ownWords(command: string): string[] {
  const words = splitWords(command).map(({ text }) => text);
  const end = words.findIndex((word) => /^(?:\||&&|2?>.*)$/.test(word));
  return end === -1 ? words : words.slice(0, end);
}

/** What is wrong with a command; undefined: nothing. */
function problemOf(command: string): string | undefined {
  const [name, ...words] = ownWords(command);
  if (name === 'pilotlight') return problemOfProgram(program, words);
  if (name === 'node') return problemOfNode(words.filter((word) => word !== '--test'));
  if (name === 'npx')
    return words[0] === 'vitest' ? problemOfTests(words.slice(2)) : problemOfNode(words.slice(1));
  const [verb = '', ...rest] = words.filter((word) => word !== '-s');
  if (['install', 'ci', 'pack', 'audit'].includes(verb)) return undefined;
  const [script = '', ...further] = verb === 'run' ? rest : [verb, ...rest];
  if (!Object.hasOwn(scripts, script)) return `no script ${script}`;
  const given = further.filter((word) => word !== '--');
  if (script === 'test') return problemOfTests(given);
  const file = scripts[script]?.split(' ').find((word) => /\.[cm]?[tj]s$/.test(word));
  return script === 'demo' ? problemOfProgram(program, ['demo', ...given]) : problemOfFlags(file, given);
}

function problemOfProgram(parent: Command, words: readonly string[]): string | undefined {
  const [first = '', ...rest] = words;
  const below = parent.commands.find((command) => command.name() === first);
  if (below) return problemOfProgram(below, rest);
  if (parent === program && first !== '' && first !== '--help' && !/^[A-Z]/.test(first))
    return `no command ${first}`;
  const known = new Set(['--help', ...parent.options.flatMap(({ short, long }) => [short, long])]);
  const flag = words
    .filter((word) => /^--?[a-z]\S*$/.test(word))
    .find((word) => !known.has(word.replace(/=.*/, '')));
  return flag && `${parent.name()}: no flag ${flag}`;
}

function problemOfNode(words: readonly string[]): string | undefined {
  const file = words.find((word) => /\.[cm]?[tj]s$/.test(word));
  if (file === undefined) return 'names no file';
  // Examples are shown with the names that their readers give them.
  if (file.startsWith('dist/') || existsSync(urlOf(`test/examples/${file}`))) return undefined;
  if (!existsSync(urlOf(file))) return `no file ${file}`;
  const given = words.slice(words.indexOf(file) + 1);
  if (/^src\/cli\/(?:main\.ts|pilotlight\.js)$/.test(file)) return problemOfProgram(program, given);
  return problemOfFlags(file, given);
}

/** A script reads its flags by name. */
function problemOfFlags(file: string | undefined, words: readonly string[]): string | undefined {
  const flags = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2));
  if (flags.length === 0) return undefined;
  if (file === undefined) return 'takes no flags';
  const source = textOf(file);
  const unknown = flags.find((flag) => !new RegExp(`\\b${flag}: \\{ type:`).test(source));
  return unknown && `${file}: no flag --${unknown}`;
}

function problemOfTests(words: readonly string[]): string | undefined {
  for (const [index, word] of words.entries()) {
    const before = words[index - 1];
    if (before === '--project' && !SUITES.has(word)) return `no suite ${word}`;
    if (before === '--project' || word === '--project' || word === '--config') continue;
    if (!existsSync(urlOf(word))) return `no file ${word}`;
  }
  return undefined;
}

const NAMED = DOCUMENTS.flatMap((document) => {
  const text = textOf(document);
  const all = [...spansOf(text), ...commandsOf(text), ...sessionsOf(text).map(({ command }) => command)];
  return all.filter((command) => OURS.test(command)).map((command) => ({ document, command }));
});

describe('commands of the documents', () => {
  test.each(NAMED)('$document: $command', ({ command }) => {
    expect(problemOf(command)).toBeUndefined();
  });

  test.each([
    'npm run no-such-script',
    'npm test -- --project no-such-suite',
    'npm test -- test/no-such-folder',
    'npm run bench -- --no-such-flag',
    'node test/no-such-file.ts',
    'node test/bench/run.ts --no-such-flag',
    'pilotlight no-such-command',
    'pilotlight plan --no-such-flag',
    'pilotlight template no-such-verb --name x --no-such-flag',
  ])('one like "%s" would be found', (command) => {
    expect(problemOf(command)).toBeDefined();
  });

  test('there are many of them', () => {
    expect(NAMED.length).toBeGreaterThan(40);
  });
});

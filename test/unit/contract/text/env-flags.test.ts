import { execFileSync } from 'node:child_process';
import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import {
  envEntryProblem,
  envMapOf,
  parseEnvFlags,
  printEnvFlags,
  type EnvFlag,
  parseRegistryLogin,
  printRegistryLogin,
} from '../../../../src/contract/text/env-flags.ts';
import { splitLooseWords, splitWords } from '../../../../src/contract/text/shell-words.ts';

const variable = fc.record({
  kind: fc.constant('variable' as const),
  name: fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]*$/),
  value: fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^['"\\ \t\n$`a=]*$/)),
});
const port = fc
  .tuple(
    fc.integer({ min: 1, max: 99_999 }),
    fc.integer({ min: 1, max: 99_999 }),
    fc.constantFrom('', '/udp'),
  )
  .map(([host, container, suffix]) => ({ kind: 'port' as const, mapping: `${host}:${container}${suffix}` }));
const others = fc.constantFrom<EnvFlag>(
  { kind: 'port', mapping: '5901' },
  { kind: 'hostname', name: 'box-1.local' },
  { kind: 'variable', name: 'HOME', value: undefined },
);
const flags: fc.Arbitrary<EnvFlag[]> = fc.array(fc.oneof(variable, port, others));

describe('container flags', () => {
  test('are what they were after printing and reading, whatever the values are', () => {
    fc.assert(
      fc.property(flags, (written) => {
        expect(parseEnvFlags(printEnvFlags(written))).toEqual(written);
      }),
    );
  });

  test('become the map of an instance request; of a repeated name the last value counts', () => {
    const text = `-e A=1 -p 8000:8000 -e B='two words' -e A="3" -p 53:53/udp -p 5901 -h box-1 -e HOME -e C=`;
    expect(envMapOf(parseEnvFlags(text))).toStrictEqual({
      A: '3',
      B: 'two words',
      '-p 8000:8000': '1',
      '-p 53:53/udp': '1',
      '-p 5901': '1',
      '-h': 'box-1',
      C: '',
    });
    expect(envMapOf(parseEnvFlags(''))).toEqual({});
  });

  test.each([
    [`-e MSG=it's`, { MSG: `it's` }],
    [`-e MSG=it's -e B='two words' -p 80:80`, { MSG: `it's`, B: 'two words', '-p 80:80': '1' }],
    [`-e B="it's two" -e MSG=rock'n -e C=5"`, { B: `it's two`, MSG: `rock'n`, C: '5"' }],
    [`-e A='it'\\''s' -e B=it's`, { A: `it's`, B: `it's` }],
    [`-e A='open`, { A: `'open` }],
    ['-e A="open -e B=1', { A: '"open', B: '1' }],
    // Two of them make a pair, as they do in a shell.
    [`-e A=pre'two words'post`, { A: 'pretwo wordspost' }],
  ])('%s: a quote that is not balanced is text', (text, map) => {
    expect(envMapOf(parseEnvFlags(text))).toEqual(map);
  });

  test.each([
    ['-e A=1 B=2', 8, '-e, -p or -h belongs here; a value'],
    ['-e A=two words', 10, 'a value with spaces needs quotes'],
    ['--env A=1', 1, 'not --env'],
    ['-secret=1', 1, 'belongs here; a value'],
    ['-eA=1', 1, 'a space belongs between -e and what it takes'],
    ['-p 80:80 -e', 10, '-e takes NAME=value'],
    ['constructor A', 1, '-e, -p or -h belongs here'],
    ['-h my_host', 4, '-h takes a host name'],
    ['-e =x', 4, '-e takes NAME=value'],
    ['-e 1A=x', 4, 'begins with a letter or _'],
    ['-p 0:80', 4, '-p takes host:container'],
    ['-p 80:80/sctp', 4, '-p takes host:container'],
    ['-p 100000:80', 4, '-p takes host:container'],
    [`-e A=it's two`, 11, 'a value with spaces needs quotes'],
    ['-e A=1\\', 7, 'a backslash needs a character after it'],
  ])('%s is refused at character %i: %s', (text, position, rule) => {
    const message = expect.stringContaining(`at character ${position}: `) as string;
    const refusal = { position, rule: expect.stringContaining(rule) as string, message };
    expect(() => parseEnvFlags(text)).toThrow(expect.objectContaining(refusal));
  });
});

describe('words', () => {
  test('are those that a shell reads', () => {
    const text = fc.array(fc.constantFrom('a', 'B', '=', '-', ' ', '\t', "'", '"', '\\', ',', ':'), {
      minLength: 1,
      maxLength: 25,
    });
    const texts = fc
      .sample(text, { numRuns: 400, seed: 7 })
      .map((parts) => parts.join(''))
      .filter((candidate) => wordsOr(candidate) !== undefined);
    expect(texts.length).toBeGreaterThan(100);
    const script = texts.map((one) => `set -- ${one}\nprintf '%s\\0' "$#" "$@"\n`).join('');
    const output = execFileSync('sh', { input: script, encoding: 'utf8' });
    const expected = texts.flatMap((one) => {
      const words = wordsOr(one) ?? [];
      return [String(words.length)].concat(words);
    });
    expect(output.split('\0').slice(0, -1)).toEqual(expected);
  });

  test.each([
    ['a\\\nb  \\\n c', ['ab', 'c']],
    ['"a\\\nb"', ['ab']],
    [`'$HOME' "$HOME" #no;comment`, ['$HOME', '$HOME', '#no;comment']],
    [`a''b "" ''`, ['ab', '', '']],
    [`"\\$ \\a"`, ['$ \\a']],
  ])('%j', (text, words) => {
    expect(wordsOr(text)).toEqual(words);
    expect(splitLooseWords(text).map((word) => word.text)).toEqual(words);
  });

  test.each([
    [`a 'open`, 3, `the quote ' does not end`],
    ['a"open', 2, 'the quote " does not end'],
  ])('%s have to be balanced, where it matters', (text, position, rule) => {
    expect(() => splitWords(text)).toThrow(`at character ${position}: ${rule}`);
  });

  test('are read the same with balanced quotes, whether they have to be balanced or not', () => {
    const parts = fc.array(fc.constantFrom('a', '=', ' ', "'", '"', '\\', '\n'), { maxLength: 14 });
    fc.assert(
      fc.property(parts, (some) => {
        const text = some.join('');
        const words = wordsOr(text);
        if (words !== undefined) expect(splitLooseWords(text).map((word) => word.text)).toEqual(words);
        // A backslash at the very end is the one thing that is never a word.
        else if (!text.endsWith('\\')) expect(() => splitLooseWords(text)).not.toThrow();
      }),
    );
  });
});

test.each([
  ['HF_TOKEN', 'x', undefined],
  ['-p 8000:8000', '1', undefined],
  ['-p 8000:8000/udp', 1, undefined],
  ['-p 8000', '1', undefined],
  ['-p 8000:8000', '2', 'the value of a port mapping is 1'],
  ['-p8000:8000', '1', 'host:container'],
  ['', 'x', 'not empty'],
  ['A=B', 'x', 'has no ='],
])('an entry of an environment map, %s: %j, has the problem %s', (name, value, problem) => {
  const found = envEntryProblem(name, value);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});

describe('a registry login', () => {
  test('is what it was after printing and reading', () => {
    const login = fc.record({
      registry: fc.string(),
      user: fc.string(),
      token: fc.string({ unit: 'binary' }),
    });
    fc.assert(
      fc.property(login, (written) => {
        fc.pre(!['-u', '-p'].includes(written.registry));
        expect(parseRegistryLogin(printRegistryLogin(written))).toEqual(written);
      }),
    );
  });

  test.each(['', '-u bob', '-u bob -p', '-u a -u b -p c', '-u a -p b one two'])('%j is refused', (text) => {
    expect(() => parseRegistryLogin(text)).toThrow('a registry login is -u <user> -p <token> <registry>');
  });
});

function wordsOr(text: string): string[] | undefined {
  try {
    return splitWords(text).map((word) => word.text);
  } catch {
    return undefined;
  }
}

/**
 * Environment and ports in container-flag format (§2.2), `-e NAME=value -p 8000:8000`, and the map that an
 * instance request takes in its place (§2.3). Pure; reading what was printed gives the same flags.
 */
import { FlagError, quoteWord, splitLooseWords, type ShellWord } from './shell-words.ts';

/** One flag of a container: a variable (`-e`), or a port (`-p`). */
export type EnvFlag =
  | { readonly kind: 'variable'; readonly name: string; readonly value: string }
  /** `host:container`, with `/tcp` or `/udp` after it where it was written. */
  | { readonly kind: 'port'; readonly mapping: string };

const VARIABLE = /^([A-Za-z_][A-Za-z0-9_.-]*)=([^]*)$/;
/** Up to 99999 rather than 65535: the public service takes ports above 70000 for mappings onto themselves. */
const MAPPING = /^[1-9]\d{0,4}:[1-9]\d{0,4}(?:\/(?:tcp|udp))?$/;

const VARIABLE_RULE =
  '-e takes NAME=value, a name of letters, digits, _ . and - that begins with a letter or _';
const PORT_RULE = '-p takes host:container, two port numbers, perhaps with /udp after them';

/**
 * Reads flags in their order, repeated ones included. Quotes are a shell's where they are balanced; one that is not is
 * text: `-e MSG=it's`.
 * @throws FlagError naming the position and the rule
 */
export function parseEnvFlags(text: string): EnvFlag[] {
  const flags: EnvFlag[] = [];
  const words = splitLooseWords(text).values();
  for (const flag of words) {
    if (flag.text !== '-e' && flag.text !== '-p') throw new FlagError(flag.position, unknownFlag(flag.text));
    const next = words.next();
    if (next.done) {
      throw new FlagError(flag.position, flag.text === '-e' ? VARIABLE_RULE : PORT_RULE);
    }
    flags.push(flag.text === '-e' ? readVariable(next.value) : readPort(next.value));
  }
  return flags;
}

/** The flags as text, in their order: what `parseEnvFlags` reads. */
export function printEnvFlags(flags: readonly EnvFlag[]): string {
  return flags
    .map((flag) =>
      flag.kind === 'port'
        ? `-p ${flag.mapping}`
        : `-e ${flag.name}=${flag.value === '' ? '' : quoteWord(flag.value)}`,
    )
    .join(' ');
}

/** The map of §2.3: name → value, and `-p host:container` → `1`. Of a repeated name the last value counts. */
export function envMapOf(flags: readonly EnvFlag[]): Record<string, string> {
  return Object.fromEntries(
    flags.map((flag) => (flag.kind === 'port' ? [`-p ${flag.mapping}`, '1'] : [flag.name, flag.value])),
  );
}

/** The rule of §2.3 that an entry of such a map breaks; undefined for a good one. */
export function envEntryProblem(key: string, value: unknown): string | undefined {
  if (key.startsWith('-p')) {
    if (!MAPPING.test(key.replace(/^-p /, ''))) return 'a port mapping is a key "-p host:container"';
    return String(value) === '1' ? undefined : 'the value of a port mapping is 1';
  }
  // `-h` is the host name.
  return /^(?:-h|[^=\s-][^=\s]*)$/.test(key)
    ? undefined
    : 'a name is not empty, has no = and no blank, and does not begin with -';
}

function readVariable({ text, position }: ShellWord): EnvFlag {
  const [, name, value] = VARIABLE.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new FlagError(position, VARIABLE_RULE);
  return { kind: 'variable', name, value };
}

function readPort({ text, position }: ShellWord): EnvFlag {
  if (!MAPPING.test(text)) throw new FlagError(position, PORT_RULE);
  return { kind: 'port', mapping: text };
}

function unknownFlag(word: string): string {
  if (/^-[ep]./.test(word)) return `a space belongs between ${word.slice(0, 2)} and what it takes`;
  // A word that is no flag may be part of a secret.
  const flag = /^-[\w-]*$/.test(word) ? `, not ${word}` : '';
  return `-e or -p belongs here${flag}; a value with spaces needs quotes`;
}

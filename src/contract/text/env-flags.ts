/**
 * Environment, ports and host name in container-flag format (§2.2), `-e NAME=value -p 8000:8000 -h host`, and the map
 * that an instance request takes in its place (§2.3). The forms are those of the vendor's command line. Pure; reading what was printed gives the same flags.
 */
import { FlagError, quoteWord, splitLooseWords } from './shell-words.ts';

/** One flag of a container: a variable (`-e`), a port (`-p`), or the host name (`-h`). */
export type EnvFlag =
  /** Without a value it is not set. */
  | { readonly kind: 'variable'; readonly name: string; readonly value: string | undefined }
  /** `host:container`, or one port; with `/tcp` or `/udp` after it where it was written. */
  | { readonly kind: 'port'; readonly mapping: string }
  | { readonly kind: 'hostname'; readonly name: string };

const VARIABLE = /^([A-Za-z_][A-Za-z0-9_.-]*)(?:=([^]*))?$/;
/** Up to 99999 rather than 65535: the public service takes ports above 70000 for mappings onto themselves. */
const MAPPING = /^[1-9]\d{0,4}(?::[1-9]\d{0,4})?(?:\/(?:tcp|udp))?$/;
const HOSTNAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

const VARIABLE_RULE =
  '-e takes NAME=value or NAME, a name of letters, digits, _ . and - that begins with a letter or _';
const PORT_RULE = '-p takes host:container, two port numbers, or one port; perhaps with /udp after it';
const HOSTNAME_RULE = '-h takes a host name of letters, digits, . and -';

/**
 * Reads flags in their order, repeated ones included. Quotes are a shell's where they are balanced; one that is not is
 * text: `-e MSG=it's`.
 * @throws FlagError naming the position and the rule
 */
export function parseEnvFlags(text: string): EnvFlag[] {
  const flags: EnvFlag[] = [];
  const words = splitLooseWords(text).values();
  for (const flag of words) {
    const taken = Object.hasOwn(FLAGS, flag.text) ? FLAGS[flag.text] : undefined;
    if (!taken) throw new FlagError(flag.position, unknownFlag(flag.text));
    const next = words.next();
    if (next.done) throw new FlagError(flag.position, taken.rule);
    const read = taken.read(next.value.text);
    if (!read) throw new FlagError(next.value.position, taken.rule);
    flags.push(read);
  }
  return flags;
}

/** The flags as text, in their order: what `parseEnvFlags` reads. */
export function printEnvFlags(flags: readonly EnvFlag[]): string {
  return flags.map(printFlag).join(' ');
}

function printFlag(flag: EnvFlag): string {
  if (flag.kind === 'port') return `-p ${flag.mapping}`;
  if (flag.kind === 'hostname') return `-h ${flag.name}`;
  const { name, value } = flag;
  return value === undefined ? `-e ${name}` : `-e ${name}=${value === '' ? '' : quoteWord(value)}`;
}

/**
 * The map of §2.3: name → value, `-p host:container` → `1`, and `-h` → the host name. Of a repeated name the last value
 * counts; a variable without a value is left out.
 */
export function envMapOf(flags: readonly EnvFlag[]): Record<string, string> {
  return Object.fromEntries(
    flags.flatMap((flag) => {
      if (flag.kind === 'port') return [[`-p ${flag.mapping}`, '1']];
      if (flag.kind === 'hostname') return [['-h', flag.name]];
      return flag.value === undefined ? [] : [[flag.name, flag.value]];
    }),
  );
}

/** The rule of §2.3 that an entry of such a map breaks; undefined for a good one. */
export function envEntryProblem(key: string, value: unknown): string | undefined {
  if (key.startsWith('-p')) {
    if (!MAPPING.test(key.replace(/^-p /, '')))
      return 'a port mapping is a key "-p host:container", or "-p port"';
    return String(value) === '1' ? undefined : 'the value of a port mapping is 1';
  }
  // `-h` is the host name.
  return /^(?:-h|[^=\s-][^=\s]*)$/.test(key)
    ? undefined
    : 'a name is not empty, has no = and no blank, and does not begin with -';
}

interface FlagForm {
  readonly rule: string;
  /** Undefined for a text that is not in its form. */
  readonly read: (text: string) => EnvFlag | undefined;
}

const FLAGS: Readonly<Record<string, FlagForm>> = {
  '-e': {
    rule: VARIABLE_RULE,
    read(text) {
      const [, name, value] = VARIABLE.exec(text) ?? [];
      return name === undefined ? undefined : { kind: 'variable', name, value };
    },
  },
  '-p': {
    rule: PORT_RULE,
    read: (text) => (MAPPING.test(text) ? { kind: 'port', mapping: text } : undefined),
  },
  '-h': {
    rule: HOSTNAME_RULE,
    read: (text) => (HOSTNAME.test(text) ? { kind: 'hostname', name: text } : undefined),
  },
};

function unknownFlag(word: string): string {
  if (/^-[eph]./.test(word)) return `a space belongs between ${word.slice(0, 2)} and what it takes`;
  // A word that is no flag may be part of a secret.
  const flag = /^-[\w-]*$/.test(word) ? `, not ${word}` : '';
  return `-e, -p or -h belongs here${flag}; a value with spaces needs quotes`;
}

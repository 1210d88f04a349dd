/** Container flags (§2.2), as the vendor's command line has them, and their map (§2.3). */
import { FlagError, quoteWord, splitLooseWords, splitWords } from './shell-words.ts';

/** One flag of a container: a variable (`-e`), a port (`-p`), or the host name (`-h`). */
export type EnvFlag =
  /** Not set if it has no value. */
  | { readonly kind: 'variable'; readonly name: string; readonly value: string | undefined }
  /** `host:container`, or one port, perhaps with `/tcp` or `/udp`. */
  | { readonly kind: 'port'; readonly mapping: string }
  | { readonly kind: 'hostname'; readonly name: string };

const VARIABLE = /^([A-Za-z_][A-Za-z0-9_.-]*)(?:=([^]*))?$/;
const MAPPING = /^[1-9]\d{0,4}(?::[1-9]\d{0,4})?(?:\/(?:tcp|udp))?$/;
const HOSTNAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/**
 * Reads container flags in order. A quote that is not balanced is text: `-e MSG=it's`.
 * @throws FlagError with the position and the rule
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

/** Prints flags as text that `parseEnvFlags` reads. */
export function printEnvFlags(flags: readonly EnvFlag[]): string {
  return flags.map(printFlag).join(' ');
}

function printFlag(flag: EnvFlag): string {
  if (flag.kind === 'port') return `-p ${flag.mapping}`;
  if (flag.kind === 'hostname') return `-h ${flag.name}`;
  const { name, value } = flag;
  return value === undefined ? `-e ${name}` : `-e ${name}=${value === '' ? '' : quoteWord(value)}`;
}

/** The map of §2.3. The last of a repeated name counts; a variable without a value is left out. */
export function envMapOf(flags: readonly EnvFlag[]): Record<string, string> {
  return Object.fromEntries(
    flags.flatMap((flag) => {
      if (flag.kind === 'port') return [[`-p ${flag.mapping}`, '1']];
      if (flag.kind === 'hostname') return [['-h', flag.name]];
      return flag.value === undefined ? [] : [[flag.name, flag.value]];
    }),
  );
}

export function envEntryProblem(key: string, value: unknown): string | undefined {
  if (key.startsWith('-p')) {
    if (!MAPPING.test(key.replace(/^-p /, '')))
      return 'a port mapping is a key "-p host:container", or "-p port"';
    return String(value) === '1' ? undefined : 'the value of a port mapping is 1';
  }
  return /^(?:-h|[^=\s-][^=\s]*)$/.test(key)
    ? undefined
    : 'a name is not empty, has no = and no blank, and does not begin with -';
}

interface FlagForm {
  readonly rule: string;
  readonly read: (text: string) => EnvFlag | undefined;
}

const FLAGS: Readonly<Record<string, FlagForm>> = {
  '-e': {
    rule: '-e takes NAME=value or NAME, a name of letters, digits, _ . and - that begins with a letter or _',
    read(text) {
      const [, name, value] = VARIABLE.exec(text) ?? [];
      return name === undefined ? undefined : { kind: 'variable', name, value };
    },
  },
  '-p': {
    rule: '-p takes host:container, two port numbers, or one port; perhaps with /udp after it',
    read: (text) => (MAPPING.test(text) ? { kind: 'port', mapping: text } : undefined),
  },
  '-h': {
    rule: '-h takes a host name of letters, digits, . and -',
    read: (text) => (HOSTNAME.test(text) ? { kind: 'hostname', name: text } : undefined),
  },
};

function unknownFlag(word: string): string {
  if (/^-[eph]./.test(word)) return `a space belongs between ${word.slice(0, 2)} and what it takes`;
  // Another word may be part of a secret.
  const flag = /^-[\w-]*$/.test(word) ? `, not ${word}` : '';
  return `-e, -p or -h belongs here${flag}; a value with spaces needs quotes`;
}

/** The login of a private registry as an instance request carries it (public dialect). */
interface RegistryLogin {
  readonly registry: string;
  readonly user: string;
  readonly token: string;
}

const LOGIN_RULE = 'a registry login is -u <user> -p <token> <registry>';

export function parseRegistryLogin(text: string): RegistryLogin {
  const found: { registry?: string; user?: string; token?: string } = {};
  const words = splitWords(text).values();
  for (const word of words) {
    const field = word.text === '-u' ? 'user' : word.text === '-p' ? 'token' : 'registry';
    const value = field === 'registry' ? word : words.next().value;
    if (!value || found[field] !== undefined) throw new FlagError(word.position, LOGIN_RULE);
    found[field] = value.text;
  }
  const { registry = '', user, token } = found;
  if (user === undefined || token === undefined) throw new FlagError(1, LOGIN_RULE);
  return { registry, user, token };
}

export function printRegistryLogin({ registry, user, token }: RegistryLogin): string {
  const words = ['-u', quoteWord(user), '-p', quoteWord(token)];
  return [...words, ...(registry === '' ? [] : [quoteWord(registry)])].join(' ');
}

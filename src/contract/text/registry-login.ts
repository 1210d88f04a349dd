/** The login of a private registry as an instance request carries it (public dialect). */
import { FlagError, quoteWord, splitWords } from './shell-words.ts';

export interface RegistryLogin {
  readonly registry: string;
  readonly user: string;
  readonly token: string;
}

const RULE = 'a registry login is -u <user> -p <token> <registry>';

export function parseRegistryLogin(text: string): RegistryLogin {
  const found: { registry?: string; user?: string; token?: string } = {};
  const words = splitWords(text).values();
  for (const word of words) {
    const field = word.text === '-u' ? 'user' : word.text === '-p' ? 'token' : 'registry';
    const value = field === 'registry' ? word : words.next().value;
    if (!value || found[field] !== undefined) throw new FlagError(word.position, RULE);
    found[field] = value.text;
  }
  const { registry = '', user, token } = found;
  if (user === undefined || token === undefined) throw new FlagError(1, RULE);
  return { registry, user, token };
}

export function printRegistryLogin({ registry, user, token }: RegistryLogin): string {
  const words = ['-u', quoteWord(user), '-p', quoteWord(token)];
  return [...words, ...(registry === '' ? [] : [quoteWord(registry)])].join(' ');
}

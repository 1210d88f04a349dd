/** The way to the service of commands that people run by hand: by the environment, else by what `login` has stored. */
import { Option, InvalidArgumentError } from 'commander';
import {
  hasOwnKey,
  loadConnection,
  type Connection,
  type LoadedConnection,
} from '../../config/command-settings.ts';
import { describeProblem } from '../../config/problem.ts';
import { InputError } from '../command-error.ts';
import { printError, type Console } from '../console.ts';
import { DEFAULT_PROFILE, Logins } from './logins.ts';

export interface ProfileFlag {
  readonly profile?: string;
}

/** `--profile` */
export function profileOption(): Option {
  return new Option('--profile <name>', 'use the key that login stored under this name').argParser(
    (text: string) => {
      if (/^\w[\w.-]*$/.test(text)) return text;
      throw new InvalidArgumentError('a name of letters, digits, _ . and -.');
    },
  );
}

/** @throws InputError for a profile that is not stored, or not needed */
export function commandConnection(
  { environment = process.env }: Pick<Console, 'environment'>,
  { profile }: ProfileFlag,
  needsKey = true,
): LoadedConnection {
  if (hasOwnKey(environment)) {
    if (profile === undefined) return loadConnection(environment, { needsKey });
    throw new InputError(
      `--profile ${profile} and PILOTLIGHT_API_KEY are both given; unset the variable to use the profile`,
    );
  }
  const logins = new Logins(environment);
  const login = logins.read(profile ?? DEFAULT_PROFILE);
  if (profile !== undefined && !login) throw notStored(profile, logins);
  return loadConnection(environment, { needsKey, login });
}

export function notStored(profile: string, logins: Logins): InputError {
  const known = logins.profiles().join(', ') || 'none';
  return new InputError(
    `no key is stored as ${profile} (stored: ${known}); pilotlight login --profile ${profile}`,
  );
}

/** Undefined if something is wrong with it, which has been said. @throws as commandConnection does */
export function usableConnection(
  console: Pick<Console, 'environment' | 'err'>,
  flags: ProfileFlag,
  needsKey = true,
): Connection | undefined {
  const { connection, problems } = commandConnection(console, flags, needsKey);
  if (connection) return connection;
  for (const problem of problems) printError(console, describeProblem(problem));
  const lacksKey = problems.some(
    ({ variable, got }) => variable === 'PILOTLIGHT_API_KEY' && got === undefined,
  );
  if (lacksKey) printError(console, 'Or store a key once: pilotlight login --base-url URL');
  return undefined;
}

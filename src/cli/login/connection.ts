/** The way to the service of commands that people run by hand: by the environment, else by what `login` has stored. */
import { Option, InvalidArgumentError } from 'commander';
import { hasOwnKey, loadConnection, type LoadedConnection } from '../../config/command-settings.ts';
import { describeProblem, type ConfigProblem } from '../../config/problem.ts';
import { printError, type Console } from '../console.ts';
import { InputError } from '../input-error.ts';
import { DEFAULT_PROFILE, loginsPath, readLogins } from './logins.ts';

export interface ProfileFlag {
  readonly profile?: string;
}

/** `--profile` */
export function profileOption(): Option {
  return new Option('--profile <name>', 'use the key that login stored under this name').argParser(
    (text: string) => {
      if (/^[\w.-]+$/.test(text)) return text;
      throw new InvalidArgumentError('a name of letters, digits, _ . and -');
    },
  );
}

export function printConnectionProblems(
  problems: readonly ConfigProblem[],
  console: Pick<Console, 'err'>,
): void {
  for (const problem of problems) printError(console, describeProblem(problem));
  const lacksKey = problems.some(
    ({ variable, got }) => variable === 'PILOTLIGHT_API_KEY' && got === undefined,
  );
  if (lacksKey) printError(console, 'Or store a key once: pilotlight login --base-url URL');
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
  const path = loginsPath(environment);
  const logins = path === undefined ? {} : readLogins(path);
  const login = Object.hasOwn(logins, profile ?? DEFAULT_PROFILE)
    ? logins[profile ?? DEFAULT_PROFILE]
    : undefined;
  if (profile !== undefined && !login) {
    const known = Object.keys(logins).join(', ') || 'none';
    throw new InputError(
      `no login is stored as ${profile} (stored: ${known}); pilotlight login --profile ${profile}`,
    );
  }
  return loadConnection(environment, { needsKey, login });
}

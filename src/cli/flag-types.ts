/** Flags that several commands have, and the types of their values. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { LONGEST_MS } from '../client/delay.ts';
import { localUrl } from '../config/command-settings.ts';
import { parseDuration } from '../config/types/value-types.ts';
import { InputError } from './command-error.ts';
import type { Console } from './console.ts';
import { profileOption } from './login/connection.ts';

/** Milliseconds of `500ms`, `20s`, `5m`, `1h`. */
export function milliseconds(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('a duration is 500ms, 20s, 5m or 1h.');
  return ms;
}

/** The same, above 0 and no longer than a timer of Node takes, which would fire at once. */
export function timerMilliseconds(text: string): number {
  const ms = milliseconds(text) || milliseconds('');
  if (ms > LONGEST_MS) throw new InvalidArgumentError('at most 596h.');
  return ms;
}

export function seconds(text: string): number {
  return milliseconds(text) / 1000;
}

export function atLeastZero(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || value < 0) throw new InvalidArgumentError('a number of at least 0.');
  return value;
}

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('a whole number from 1 on.');
  return value;
}

export function aboveZero(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Infinity)) throw new InvalidArgumentError('a number above 0.');
  return value;
}

/** Those that every command of operations has, `call` too. */
export function addCallOptions(command: Command): Command {
  return command
    .optionsGroup('Options:')
    .option('--dry-run', 'print the request instead of sending it; keys and passwords are hidden, env is not')
    .option('--curl', 'print the equivalent curl line instead; secrets are shell variables in it')
    .option('--show-keys', 'print the keys of endpoints that the answer has, which are hidden otherwise')
    .addOption(profileOption())
    .option('--timeout <duration>', 'longest time for one attempt; default 30s', timerMilliseconds);
}

/** `--url`; without it commands go by the environment. */
export function daemonUrlOption(): Option {
  return new Option(
    '--url <url>',
    'address of the daemon; default: this machine, at the port of PILOTLIGHT_LISTEN',
  ).argParser(daemonUrl);
}

/** The address that a command asks the daemon at. @throws InputError if the environment has none */
export function daemonAddress(
  console: Pick<Console, 'environment'>,
  { url }: { readonly url?: string },
  key: 'listen' | 'adminListen' = 'listen',
): string {
  if (url !== undefined) return url;
  const local = localUrl(key, console.environment);
  if ('problem' in local) throw new InputError(local.problem);
  return local.url;
}

function daemonUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('It is an address such as http://127.0.0.1:9847.');
  // Paths are put behind it.
  return text.replace(/\/+$/, '');
}

/** Flags that several commands have, the types of their values, and how their help ends. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { LONGEST_MS } from '../client/retry.ts';
import { localToken, localUrl } from '../config/command-settings.ts';
import { parseDuration } from '../config/value-types.ts';
import { InputError, type Console } from './console.ts';
import type { DaemonAddress } from './fleet/daemon.ts';

function milliseconds(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('a duration is 500ms, 20s, 5m or 1h.');
  return ms;
}

/** Above 0, and at most what a timer of Node takes: it fires a longer one at once. */
export function timerMilliseconds(text: string): number {
  const ms = milliseconds(text) || milliseconds('');
  if (ms > LONGEST_MS) throw new InvalidArgumentError('at most 596h.');
  return ms;
}

export function seconds(text: string): number {
  return milliseconds(text) / 1000;
}

export function someSeconds(text: string): number {
  const some = seconds(text);
  if (some === 0) throw new InvalidArgumentError('a duration above 0, such as 500ms, 20s, 5m or 1h.');
  return some;
}

function numbers(allowed: string, form: RegExp, takes: (value: number) => boolean) {
  return (text: string): number => {
    const value = form.test(text) ? Number(text) : Number.NaN;
    if (!takes(value)) throw new InvalidArgumentError(allowed);
    return value;
  };
}

export function wholeNumber(least: number, most: number, allowed: string) {
  return numbers(allowed, /^\d+$/, (value) => value >= least && value <= most);
}

export const positiveInteger = wholeNumber(1, Infinity, 'a whole number from 1 on.');
export const atLeastZero = numbers(
  'a number of at least 0.',
  /\S/,
  (value) => value >= 0 && value < Infinity,
);
export const atLeastOne = numbers('a number of at least 1.', /\S/, (value) => value >= 1 && value < Infinity);
export const aboveZero = numbers('a number above 0.', /\S/, (value) => value > 0 && value < Infinity);

export interface ProfileFlag {
  readonly profile?: string;
}

export function profileOption(): Option {
  return new Option('--profile <name>', 'use the key that login stored under this name').argParser(
    (text: string) => {
      if (/^\w[\w.-]*$/.test(text)) return text;
      throw new InvalidArgumentError('a name of letters, digits, _ . and -.');
    },
  );
}

export function addCallOptions(command: Command): Command {
  return command
    .optionsGroup('Options:')
    .option('--dry-run', 'print the request instead of sending it; keys and passwords are hidden, env is not')
    .option('--show-keys', 'print the keys of endpoints that the answer has, which are hidden otherwise')
    .addOption(profileOption())
    .option('--timeout <duration>', 'longest time for one attempt; default 30s', timerMilliseconds);
}

export interface DaemonFlags {
  readonly url?: string;
}

export function daemonUrlOption(): Option {
  return new Option(
    '--url <url>',
    'address of the daemon; default: this machine, at the port of PILOTLIGHT_LISTEN',
  ).argParser(daemonUrl);
}

export function daemonOf(console: Pick<Console, 'environment'>, flags: DaemonFlags): DaemonAddress {
  return { url: daemonAddress(console, flags), token: localToken(console.environment) };
}

export function daemonAddress(
  console: Pick<Console, 'environment'>,
  { url }: DaemonFlags,
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
  // Paths are appended to it.
  return text.replace(/\/+$/, '');
}

export function examples(...lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  pilotlight ${line}`)].join('\n');
}

export const CONNECTION = '\nUses PILOTLIGHT_API_KEY, PILOTLIGHT_BASE_URL and PILOTLIGHT_SERVERLESS_URL.';

/** Heart, daemon and command line all end with these codes. */
import { constants } from 'node:os';

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  unauthorized: 4,
  interrupted: 130,
} as const;

export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'done',
  failed: 'the service answered, and said no',
  usage: 'wrong usage, input or configuration; nothing was sent',
  unreachable: 'no answer from the service or the daemon',
  unauthorized: 'the key is missing, wrong, or may not do this',
  interrupted: 'Ctrl-C',
};

export function exitCodesText(): string {
  const names = Object.keys(EXIT) as (keyof typeof EXIT)[];
  return ['Exit codes:', ...names.map((name) => `  ${EXIT[name]}  ${EXIT_MEANINGS[name]}`)].join('\n');
}

/** As a shell reports a process that a signal ended. */
export function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

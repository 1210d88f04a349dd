/** Exit codes of the program, the same for every command. */
import { ApiError, CallError, TimeoutError, TransportError } from '../client/errors.ts';

export const EXIT = {
  ok: 0,
  refused: 1,
  usage: 2,
  unreachable: 3,
  unauthorized: 4,
  interrupted: 130,
} as const;

export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'done',
  refused: 'the service answered, and said no',
  usage: 'wrong usage, input or configuration; nothing was sent',
  unreachable: 'no answer from the service or the daemon',
  unauthorized: 'the key is missing, wrong, or may not do this',
  interrupted: 'Ctrl-C',
};

/** For the help of a command. */
export function exitCodesText(): string {
  const names = Object.keys(EXIT) as (keyof typeof EXIT)[];
  return ['Exit codes:', ...names.map((name) => `  ${EXIT[name]}  ${EXIT_MEANINGS[name]}`)].join('\n');
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof TransportError || error instanceof TimeoutError) return EXIT.unreachable;
  if (error instanceof ApiError) {
    return error.status === 401 || error.status === 403 ? EXIT.unauthorized : EXIT.refused;
  }
  if (!(error instanceof CallError)) return EXIT.refused;
  return error.code === 'invalid_request'
    ? EXIT.usage
    : error.code === 'aborted'
      ? EXIT.interrupted
      : EXIT.refused;
}

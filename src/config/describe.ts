/** Settings and their problems in words, with every secret left out. */
import type { ConfigProblem } from './problem.ts';
import { OPTIONS, OPTION_KEYS, PREFIX, type Option, type Settings } from './options.ts';

/** One problem as one line: variable, what it got, what is allowed, what to do. */
export function describeProblem({ severity, variable, got, allowed, message }: ConfigProblem): string {
  const parts = [
    got === undefined ? 'is not set' : `got ${got}`,
    // Of what is allowed but unwise, rules say what they advise.
    allowed.startsWith('advised') ? allowed : `allowed: ${allowed}`,
    ...(message ? [message] : []),
  ];
  return `${severity}: ${variable}: ${parts.join('; ')}`;
}

/** Variable → value as `/-/config` shows it. Values are shown by allow-list: a secret is only told to be set. */
export function redactedSettings(settings: Settings): Record<string, unknown> {
  return Object.fromEntries(
    OPTION_KEYS.map((key) => {
      const option: Option = OPTIONS[key];
      const value = settings[key];
      return [
        PREFIX + option.variable,
        option.secret ? (value === undefined ? null : '(set)') : (value ?? null),
      ];
    }),
  );
}

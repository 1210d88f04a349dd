/** Settings for people to read, without the secrets. */
import { OPTIONS, OPTION_KEYS, PREFIX, type Option, type Settings } from './options/options.ts';

/** Variable → value as `/-/config` shows it. Values are shown by allow-list: of a secret only that it is set. */
export function redactedSettings(settings: Settings): Record<string, unknown> {
  return Object.fromEntries(
    OPTION_KEYS.map((key) => {
      const option: Option = OPTIONS[key];
      const value = settings[key];
      return [
        PREFIX + option.variable,
        option.secret ? (value === undefined ? null : '(set)') : shown(option, value),
      ];
    }),
  );
}

function shown(option: Option, value: unknown): unknown {
  return typeof value === 'string' && option.shown ? option.shown(value) : (value ?? null);
}

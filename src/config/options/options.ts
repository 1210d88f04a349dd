/**
 * THE table of environment variables: name, type, default and documentation of each. Configuration, its error
 * messages, `/-/config` and the table of deploy/README.md all read it. Names are fixed: others' scripts depend on them.
 */
import { DAEMON_OPTIONS, type DaemonSettings } from './daemon-options.ts';
import { HEART_OPTIONS, type HeartSettings } from './heart-options.ts';

export { PREFIX, type Option } from './option.ts';

export const OPTIONS = { ...HEART_OPTIONS, ...DAEMON_OPTIONS } as const;

export type OptionKey = keyof typeof OPTIONS;
export const OPTION_KEYS = Object.keys(OPTIONS) as OptionKey[];

type SecretKey = { [K in OptionKey]: (typeof OPTIONS)[K] extends { secret: true } ? K : never }[OptionKey];
export const SECRET_KEYS = OPTION_KEYS.filter((key) => 'secret' in OPTIONS[key]) as SecretKey[];

/** Every option's value. Frozen; secrets are in it, so it is never logged as it is. */
export type Settings = HeartSettings & DaemonSettings;
export type Secrets = Partial<Pick<Settings, SecretKey>>;

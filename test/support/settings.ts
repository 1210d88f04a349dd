import { loadConfig } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/options.ts';

const LEAST_ENVIRONMENT = {
  PILOTLIGHT_API_KEY: 'a-key',
  PILOTLIGHT_BASE_URL: 'https://service.example',
  PILOTLIGHT_WORKER_GROUPS: '7',
};

/** Names get the prefix of our variables. */
export function prefixed(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [`PILOTLIGHT_${name}`, value]));
}

export function settingsOf(more: Readonly<Record<string, string>> = {}): Settings {
  const { settings } = loadConfig({ ...LEAST_ENVIRONMENT, ...more });
  if (!settings) throw new Error('the configuration is invalid');
  return settings;
}

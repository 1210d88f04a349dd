import { loadConfig } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/options.ts';

const LEAST_ENVIRONMENT = {
  PILOTLIGHT_API_KEY: 'a-key',
  PILOTLIGHT_BASE_URL: 'https://service.example',
  PILOTLIGHT_WORKER_GROUPS: '7',
};

export function settingsOf(more: Readonly<Record<string, string>> = {}): Settings {
  const { settings } = loadConfig({ ...LEAST_ENVIRONMENT, ...more });
  if (!settings) throw new Error('the configuration is invalid');
  return settings;
}

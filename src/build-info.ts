/** The running version: filled in by the build, or read from package.json if the sources run as they are. */
import { readFileSync } from 'node:fs';

declare const PILOTLIGHT_VERSION: string | undefined;
declare const PILOTLIGHT_REVISION: string | undefined;

export interface BuildInfo {
  readonly version: string;
  /** Commit of the build, `unknown` when it was not told. */
  readonly revision: string;
}

export function buildInfo(): BuildInfo {
  return {
    version: typeof PILOTLIGHT_VERSION === 'string' ? PILOTLIGHT_VERSION : versionOfSources(),
    revision: typeof PILOTLIGHT_REVISION === 'string' ? PILOTLIGHT_REVISION : 'unknown',
  };
}

function versionOfSources(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

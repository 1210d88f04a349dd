/** What the build provides: the version, and uPlot's files. A clone has them in package.json and node_modules. */
import { existsSync, readFileSync } from 'node:fs';

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

const INSTALLED = {
  'uPlot.min.css': () => import.meta.resolve('uplot/dist/uPlot.min.css'),
  'uPlot.iife.min.js': () => import.meta.resolve('uplot/dist/uPlot.iife.min.js'),
} as const;
export type PlotFile = keyof typeof INSTALLED;

export function plotFile(name: PlotFile): string {
  const copied = new URL(name, import.meta.url);
  return readFileSync(existsSync(copied) ? copied : new URL(INSTALLED[name]()), 'utf8');
}

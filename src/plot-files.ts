/** uPlot's files, as pages load them. */
import { existsSync, readFileSync } from 'node:fs';

const INSTALLED = {
  'uPlot.min.css': () => import.meta.resolve('uplot/dist/uPlot.min.css'),
  'uPlot.iife.min.js': () => import.meta.resolve('uplot/dist/uPlot.iife.min.js'),
} as const;
export type PlotFile = keyof typeof INSTALLED;

/** The build copies them beside the bundle; in a clone they are where npm put them. */
export function plotFile(name: PlotFile): string {
  const copied = new URL(name, import.meta.url);
  return readFileSync(existsSync(copied) ? copied : new URL(INSTALLED[name]()), 'utf8');
}

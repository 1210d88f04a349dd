/** The parts that a report is made of: its own style and script, and uPlot's. */
import { existsSync, readFileSync } from 'node:fs';

export interface ReportAssets {
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
}

export function reportAssets(): ReportAssets {
  return {
    styles: [
      fromPackage('uPlot.min.css', () => import.meta.resolve('uplot/dist/uPlot.min.css')),
      beside('plan-report.css'),
    ],
    scripts: [
      fromPackage('uPlot.iife.min.js', () => import.meta.resolve('uplot/dist/uPlot.iife.min.js')),
      beside('plan-report.js'),
    ],
  };
}

function beside(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

/** The build copies uPlot's files beside the bundle; in a clone they are where npm put them. */
function fromPackage(name: string, installed: () => string): string {
  const copied = new URL(name, import.meta.url);
  return readFileSync(existsSync(copied) ? copied : new URL(installed()), 'utf8');
}

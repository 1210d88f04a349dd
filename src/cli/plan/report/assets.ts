/** The parts that a report is made of: its own style and script, and uPlot's. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface ReportAssets {
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
}

export function reportAssets(): ReportAssets {
  return {
    styles: [fromUplot('uPlot.min.css'), beside('plan-report.css')],
    scripts: [fromUplot('uPlot.iife.min.js'), beside('plan-report.js')],
  };
}

function beside(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

/** The build copies uPlot's files beside the bundle; in a clone they are where npm put them. */
function fromUplot(name: string): string {
  const copied = new URL(name, import.meta.url);
  return readFileSync(
    existsSync(copied) ? copied : fileURLToPath(import.meta.resolve(`uplot/dist/${name}`)),
    'utf8',
  );
}

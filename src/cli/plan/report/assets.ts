/** The parts that a report is made of: its own style and script, and uPlot's. */
import { readFileSync } from 'node:fs';
import { plotFile } from '../../../plot-files.ts';

export interface ReportAssets {
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
}

export function reportAssets(): ReportAssets {
  return {
    styles: [plotFile('uPlot.min.css'), beside('plan-report.css')],
    scripts: [plotFile('uPlot.iife.min.js'), beside('plan-report.js')],
  };
}

function beside(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

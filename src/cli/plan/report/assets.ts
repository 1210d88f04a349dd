/** The parts that a report is made of: its own style and script, and uPlot's. */
import { readFileSync } from 'node:fs';
import { plotFile } from '../../../plot-files.ts';

export interface ReportAssets {
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
}

/** @param own The script with the plots of the page; without it those of a plan. */
export function reportAssets(own = beside('plan-report.js')): ReportAssets {
  return {
    styles: [plotFile('uPlot.min.css'), beside('plan-report.css')],
    scripts: [plotFile('uPlot.iife.min.js'), beside('plots.js'), own],
  };
}

function beside(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

/** The parts that the page of an advice is made of: those of a plan's page, with plots of its own. */
import { readFileSync } from 'node:fs';
import { reportAssets, type ReportAssets } from '../../plan/report/assets.ts';

export function adviceAssets(): ReportAssets {
  return reportAssets(readFileSync(new URL('advice-report.js', import.meta.url), 'utf8'));
}

/** One self-contained page of a plan: its plots, and what the terminal shows. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pageFile } from '../../../daemon/status/page/assets.ts';
import { plotFile } from '../../../build-info.ts';
import type { PlanReport } from '../run-plan.ts';
import { loadSentence, planTable } from '../table.ts';

/** Its own style and script, those of the status page, and uPlot's. */
export function reportAssets() {
  return {
    styles: [plotFile('uPlot.min.css'), pageFile('status.css') + beside('plan-report.css')],
    scripts: [plotFile('uPlot.iife.min.js'), pageFile('plot.js'), beside('plan-report.js')],
  };
}

function beside(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

/** Its policy allows its own scripts and styles by their hashes, and no address at all. */
export function planPage(report: PlanReport, { styles, scripts } = reportAssets()): string {
  const { plans, load } = report;
  const drawn = {
    seconds: Math.max(...plans.map((plan) => plan.seconds)),
    plans: plans.map(({ label, series }) => ({ label, series })),
  };
  const policy = [
    "default-src 'none'",
    `style-src ${styles.map(sourceHash).join(' ')}`,
    `script-src ${scripts.map(sourceHash).join(' ')}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${escaped(policy)}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Plan: ${escaped(load.name)}</title>
    <link rel="icon" href="data:," />
    ${styles.map((style) => `<style>${style}</style>`).join('')}
  </head>
  <body>
    <h1>What these parameters will do</h1>
    <p>${escaped(loadSentence(report))}</p>
    <main>
      <h2>Over time</h2>
      <div class="plots" id="plots"></div>
      <h2>In figures</h2>
      <pre tabindex="0" role="region" aria-label="In figures">${escaped(planTable(report).join('\n'))}</pre>
      <h2>How it reads the interface</h2>
      <ul class="plain">${report.model.map((line) => `<li>${escaped(line)}</li>`).join('')}</ul>
    </main>
    <script type="application/json" id="plan-data">${embeddedJson(drawn)}</script>
    ${scripts.map((script) => `<script>${script}</script>`).join('')}
  </body>
</html>
`;
}

function sourceHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Labels, file and column names come from outside. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
}

/** No `</script>` in a label can end it. Numbers have no more digits than a plot shows. */
function embeddedJson(value: unknown): string {
  const rounded = (_: string, each: unknown) =>
    typeof each === 'number' && !Number.isInteger(each) ? Number(each.toPrecision(6)) : each;
  return JSON.stringify(value, rounded).replaceAll('<', String.raw`\u003c`);
}

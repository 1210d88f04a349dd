/** One self-contained page of a plan: figures, plots, and everything it assumes. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { plotFile } from '../../../plot-files.ts';
import type { SearchResult } from '../../../scaling/planner/search/search.ts';
import type { LabelledPlan, PlanReport } from '../run-plan.ts';
import {
  adviceLines,
  cellsOf,
  estimateRows,
  loadSentence,
  parameterRows,
  RESULT_ROWS,
  searchCounts,
  searchRows,
  searchSentence,
  type Row,
} from '../table.ts';

/** Its own style and script, and uPlot's. */
export function reportAssets() {
  return {
    styles: [plotFile('uPlot.min.css'), beside('plan-report.css')],
    scripts: [plotFile('uPlot.iife.min.js'), beside('plan-report.js')],
  };
}

function beside(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

/** Its policy allows its own scripts and styles by their hashes, and no address at all. */
export function planPage(report: PlanReport, { styles, scripts } = reportAssets()): string {
  const { plans, search, load } = report;
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
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Plan: ${load.name}</title>
        <link rel="icon" href="data:," />
        ${styles.map((style) => new Markup(`<style>${style}</style>`))}
      </head>
      <body>
        <header>
          <h1>What these parameters will do</h1>
          <p>${loadSentence(report)}</p>
          <p class="quiet">
            Work of a request: ${load.work}${load.workGuessed ? ' (assumed)' : ''}. A model of the service,
            made from its documentation; the figures are for comparing, not for billing.
          </p>
        </header>
        <main>
          ${search ? searchSection(search) : ''}
          <section>
            <h2>Over time</h2>
            <div class="plots">${plots(plans)}</div>
          </section>
          ${ofPlans('Figures', [...RESULT_ROWS, ...estimateRows(plans)], plans)}
          ${ofPlans(plans.length > 1 ? 'Parameters that differ' : 'Parameters', parameterRows(plans), plans)}
          ${list('What the check says', adviceLines(plans))} ${assumptionSection(report.assumptions)}
          ${list('How it reads the interface', report.model)}
          ${list('What it leaves out', report.notModelled)}
        </main>
        <script type="application/json" id="plan-data">
          ${new Markup(embeddedJson(drawn))}
        </script>
        ${scripts.map((script) => new Markup(`<script>${script}</script>`))}
      </body>
    </html> `.text;
}

function sourceHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function plots(plans: readonly LabelledPlan[]): Markup[] {
  const many = plans.length > 1;
  const captions = {
    load: 'Load and capacity, units of work a second',
    workers: many ? 'Hot workers' : 'Workers by state',
    queue: many ? 'Queue time, p99' : 'Queue time of the requests that arrived then',
    cost: 'Cost since the start',
  };
  return Object.entries(captions).map(
    ([name, caption]) =>
      html`<figure>
        <figcaption>${caption}</figcaption>
        <div
          class="plot"
          data-plot="${name}"
          role="img"
          aria-label="${caption}; the figures are in the table below"
        ></div>
      </figure>`,
  );
}

function ofPlans(title: string, rows: readonly Row[], plans: readonly LabelledPlan[]): Markup | string {
  if (rows.length === 0) return '';
  return html`<section>
    <h2>${title}</h2>
    ${table(title, cellsOf(rows, plans), plans.length > 1)}
  </section>`;
}

/** The first cell of a row is its name. A wide table scrolls. */
function table(label: string, lines: readonly (readonly string[])[], hasHead = true): Markup {
  const [head = [], ...rows] = hasHead ? lines : [[], ...lines];
  return html`<figure class="wide" tabindex="0" role="region" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${head.map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([name = '', ...cells]) =>
            html`<tr>
              <th scope="row">${name}</th>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </figure>`;
}

function searchSection(search: SearchResult): Markup {
  const verdict = searchSentence(search);
  return html`<section>
    <h2>Cost against waiting</h2>
    ${verdict === undefined ? '' : html`<p class="verdict ${search.best ? 'good' : 'warn'}">${verdict}</p>`}
    <p class="quiet">${searchCounts(search)}.</p>
    ${table('Sets that no other beats', searchRows(search))}
  </section>`;
}

function list(title: string, lines: readonly string[]): Markup | string {
  if (lines.length === 0) return '';
  return html`<section>
    <h2>${title}</h2>
    <ul>
      ${lines.map((line) => html`<li>${line}</li>`)}
    </ul>
  </section>`;
}

function assumptionSection(assumptions: PlanReport['assumptions']): Markup {
  return html`<section>
    <h2>What it assumes</h2>
    <dl class="assumptions">
      ${assumptions.map(
        ({ flag, value, given, measured, doc }) =>
          html`<div>
            <dt>
              <code>${flag} ${value}</code>
              <span class="quiet">${given ? 'given' : measured ? 'measured' : 'assumed'}</span>
            </dt>
            <dd>${doc}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}

/** Known to be safe. */
class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | readonly Markup[];

/** Escapes all values: labels, file and column names come from outside. */
function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(parts.reduce((text, part, index) => text + rendered(values[index - 1] ?? '') + part));
}

function rendered(value: Value): string {
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('\n');
  return String(value).replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
}

/** No `</script>` in a label can end it. Numbers have no more digits than a plot shows. */
function embeddedJson(value: unknown): string {
  const rounded = (_: string, each: unknown) =>
    typeof each === 'number' && !Number.isInteger(each) ? Number(each.toPrecision(6)) : each;
  return JSON.stringify(value, rounded).replaceAll('<', String.raw`\u003c`);
}

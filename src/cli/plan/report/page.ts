/** One self-contained page of a plan: figures, plots, and everything it assumes. */
import type { SearchResult } from '../../../scaling/planner/search/search.ts';
import type { LabelledPlan, PlanReport } from '../plan-report.ts';
import {
  adviceOf,
  estimateRows,
  loadSentence,
  parameterRows,
  RESULT_ROWS,
  searchCounts,
  searchRows,
  searchVerdict,
  type Row,
} from '../rows.ts';
import { embeddedJson, html, pageOf, plotBox, type Markup, type ReportAssets } from './shell.ts';

export function planPage(report: PlanReport, assets: ReportAssets): string {
  const { plans, search } = report;
  return pageOf(
    {
      title: `Plan: ${report.load.name}`,
      header: html`<h1>What these parameters will do</h1>
        <p>${loadSentence(report)}</p>
        <p class="quiet">
          Work of a request: ${report.load.work}${report.load.workGuessed ? ' (assumed)' : ''}. A model of the
          service, made from its documentation; the figures are for comparing, not for billing.
        </p>`,
      main: html`${search ? searchSection(search) : ''}
        <section>
          <h2>Over time</h2>
          <div class="plots">${plots(plans).map(([name, caption]) => plotBox(name, caption))}</div>
        </section>
        ${ofPlans('Figures', [...RESULT_ROWS, ...estimateRows(plans)], plans)}
        ${ofPlans(plans.length > 1 ? 'Parameters that differ' : 'Parameters', parameterRows(plans), plans)}
        ${advice(plans)} ${assumptions(report)}`,
      data: embeddedJson(drawn(report)),
    },
    assets,
  );
}

function plots(plans: readonly LabelledPlan[]): readonly (readonly [name: string, caption: string])[] {
  const many = plans.length > 1;
  return [
    ['load', 'Load and capacity, units of work a second'],
    ['workers', many ? 'Hot workers' : 'Workers by state'],
    ['queue', many ? 'Queue time, p99' : 'Queue time of the requests that arrived then'],
    ['cost', 'Cost since the start'],
  ];
}

/** A row for each of the figures, a column for each plan. */
function ofPlans(title: string, rows: readonly Row[], plans: readonly LabelledPlan[]): Markup | string {
  if (rows.length === 0) return '';
  const head = plans.length > 1 ? ['', ...plans.map(({ label }) => label)] : [];
  const cells = rows.map((row) => [row.name, ...plans.map((plan) => row.value(plan))]);
  return html`<section>
    <h2>${title}</h2>
    ${table(title, head, cells)}
  </section>`;
}

/** The first cell of a row is its name. A table of many columns scrolls. */
function table(label: string, head: readonly string[], rows: readonly (readonly string[])[]): Markup {
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
  const verdict = searchVerdict(search);
  const [head = [], ...rows] = searchRows(search);
  return html`<section>
    <h2>Cost against waiting</h2>
    ${verdict === undefined ? '' : html`<p class="verdict ${search.best ? 'good' : 'warn'}">${verdict}</p>`}
    <p class="quiet">${searchCounts(search)}.</p>
    ${table('Sets that no other beats', head, rows)}
  </section>`;
}

function advice(plans: readonly LabelledPlan[]): Markup | string {
  const lines = plans.flatMap((plan) =>
    adviceOf(plan).map((line) => html`<li>${plans.length > 1 ? `${plan.label}: ` : ''}${line}</li>`),
  );
  return lines.length === 0
    ? ''
    : html`<section>
        <h2>What the check says</h2>
        <ul>
          ${lines}
        </ul>
      </section>`;
}

function assumptions({ assumptions: all, model, notModelled }: PlanReport): Markup {
  return html`<section>
    <h2>What it assumes</h2>
    <dl class="assumptions">
      ${all.map(
        ({ flag, value, given, doc }) =>
          html`<div>
            <dt><code>${flag} ${value}</code> <span class="quiet">${given ? 'given' : 'assumed'}</span></dt>
            <dd>${doc}</dd>
          </div>`,
      )}
    </dl>
    <h2>How it reads the interface</h2>
    <ul>
      ${model.map((line) => html`<li>${line}</li>`)}
    </ul>
    <h2>What it leaves out</h2>
    <ul>
      ${notModelled.map((line) => html`<li>${line}</li>`)}
    </ul>
  </section>`;
}

/** What the script draws. */
function drawn({ plans }: PlanReport): unknown {
  return {
    seconds: Math.max(...plans.map((plan) => plan.seconds)),
    plans: plans.map(({ label, series }) => ({ label, series })),
  };
}

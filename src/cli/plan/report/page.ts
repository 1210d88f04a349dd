/** One self-contained page of a plan: figures, plots, and everything it assumes. */
import { spreadOver, type Candidate } from '../../../scaling/planner/search/search-space.ts';
import type { SearchResult } from '../../../scaling/planner/search/search.ts';
import { money, percent, seconds } from '../../text/numbers.ts';
import type { LabelledPlan, PlanReport } from '../plan-report.ts';
import {
  adviceOf,
  estimateRows,
  loadSentence,
  parameterRows,
  RESULT_ROWS,
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
      main: html`${search ? searchSection(search) : ''} ${plans.length === 1 ? plans.map(cards) : ''}
        <section aria-labelledby="plots-title">
          <h2 id="plots-title">Over time</h2>
          <div class="plots">${plots(plans).map(([name, caption]) => plotBox(name, caption))}</div>
        </section>
        <div class="plots ${plans.length > 3 ? 'stacked' : ''}">
          ${tableSection('figures', 'Figures', [...RESULT_ROWS, ...estimateRows(plans)], plans)}
          ${tableSection(
            'parameters',
            plans.length > 1 ? 'Parameters that differ' : 'Parameters',
            parameterRows(plans),
            plans,
          )}
        </div>
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

function cards({ queueTime, cost, utilisation, share, parameters }: LabelledPlan): Markup {
  const late = `waited over ${seconds(parameters.target_queue_time)}`;
  const facts = [
    ['queue time, p99', seconds(queueTime.p99)],
    [late, percent(share.overTargetQueueTime)],
    ['utilisation', percent(utilisation)],
    ['cost an hour', money(cost.perHour)],
  ] as const;
  return html`<dl class="cards">
    ${facts.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

function tableSection(
  id: string,
  title: string,
  rows: readonly Row[],
  plans: readonly LabelledPlan[],
): Markup | string {
  if (rows.length === 0) return '';
  return html`<section aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    <figure class="wide" tabindex="0" role="region" aria-labelledby="${id}-title">
      ${table(rows, plans)}
    </figure>
  </section>`;
}

function table(rows: readonly Row[], plans: readonly LabelledPlan[]): Markup {
  return html`<table class="figures">
    ${
      plans.length === 1
        ? ''
        : html`<thead>
            <tr>
              <td></td>
              ${plans.map(({ label }) => html`<th scope="col">${label}</th>`)}
            </tr>
          </thead>`
    }
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            <th scope="row">${row.name}</th>
            ${plans.map((plan) => html`<td>${row.value(plan)}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function searchSection(search: SearchResult): Markup {
  const head = ['cost', 'p99', 'target_util', 'cold_mult', 'cold_workers', 'min_load'];
  const cells = (one: Candidate) => [
    money(one.cost),
    seconds(one.p99Seconds),
    one.target_util,
    one.cold_mult,
    one.cold_workers,
    one.min_load,
  ];
  const verdict = searchVerdict(search);
  return html`<section aria-labelledby="search-title">
    <h2 id="search-title">Cost against waiting</h2>
    ${verdict === undefined ? '' : html`<p class="verdict ${search.best ? 'good' : 'warn'}">${verdict}</p>`}
    <p class="quiet">
      ${search.tried.length + search.givenUp} sets tried, ${search.tried.length} of them to the end;
      ${search.frontier.length} no other beats in both cost and p99.
    </p>
    <figure class="wide" tabindex="0" role="region" aria-label="Sets that no other beats">
      <table class="figures">
        <thead>
          <tr>
            ${head.map((name) => html`<th scope="col">${breakable(name)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${spreadOver(search.frontier, 10).map(
            (one) =>
              html`<tr>
                ${cells(one).map((cell) => html`<td>${cell}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </figure>
  </section>`;
}

/** A name that may go on in the next line after each underscore. */
function breakable(name: string): Markup {
  const [first = '', ...rest] = name.split('_');
  return rest.reduce((before, part) => html`${before}_<wbr />${part}`, html`${first}`);
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
  return html`<section aria-labelledby="assumptions-title">
    <h2 id="assumptions-title">What it assumes</h2>
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

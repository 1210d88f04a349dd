/** One self-contained page of an advice: the backtest, both sets side by side, and what the answer hangs on. */
import { ADVISED_PARAMETERS, type SetPrediction } from '../../../scaling/advice/advice.ts';
import type { AdviceReport } from '../../../scaling/advice/report.ts';
import { NOT_MODELLED } from '../../../scaling/planner/settings.ts';
import type { ReportAssets } from '../../plan/report/assets.ts';
import { html, type Markup } from '../../plan/report/markup.ts';
import { embeddedJson, pageOf, plotBox } from '../../plan/report/shell.ts';
import { money, number, percent, seconds } from '../../text/numbers.ts';
import { goneBy } from '../lines.ts';

const HOURS_A_DAY = 24;
const TONES = { keep: 'good', change: 'good', dearer: 'warn', declined: 'warn' } as const;

export function advicePage(report: AdviceReport, assets: ReportAssets): string {
  const { endpoint, sentence, verdict } = report;
  return pageOf(
    {
      title: `Advice: ${endpoint}`,
      header: html`<h1>What other parameters of ${endpoint} would have done</h1>
        <p class="verdict ${TONES[verdict]}">${sentence}</p>
        <p class="quiet">
          ${goneBy(report)} Queue times and the sizes of requests are not recorded by the service: every queue
          time is modelled.
        </p>`,
      main: html`${cards(report)} ${backtestSection(report)} ${setsSection(report)}
      ${sensitivitySection(report)} ${assumptionsSection(report)}`,
      data: embeddedJson(drawn(report)),
    },
    assets,
  );
}

function cards({ today, best, gain, backtest }: AdviceReport): Markup | string {
  if (!today || !best) return '';
  const facts = [
    ['cost a day, today', money(today.costPerHour.mean * HOURS_A_DAY)],
    ...(gain
      ? ([
          ['cost a day, advised', money(best.costPerHour.mean * HOURS_A_DAY)],
          ['p99 wait as modelled', `${seconds(today.p99Seconds.mean)} → ${seconds(best.p99Seconds.mean)}`],
        ] as const)
      : ([['p99 wait as modelled', seconds(today.p99Seconds.mean)]] as const)),
    ['backtest off by', percent(backtest?.errorRatio ?? 0)],
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

function backtestSection({ backtest }: AdviceReport): Markup | string {
  if (!backtest) return '';
  const { errors, held } = backtest;
  return html`<section aria-labelledby="backtest-title">
    <h2 id="backtest-title">The model beside the truth</h2>
    <p class="${held ? '' : 'warn'}">
      The parameters that were set, run over the recorded load: hot workers ${signed(errors.hot)}, worker
      hours ${signed(errors.workers)}, cost ${signed(errors.cost)}.
      ${held ? '' : 'That is too much to advise anything; the plots show where the two part.'}
    </p>
    <div class="plots">
      ${plotBox('backtest-hot', 'Hot workers, hour by hour')} ${plotBox('backtest-cost', 'Cost an hour')}
    </div>
  </section>`;
}

function setsSection({ today, best, series, gain }: AdviceReport): Markup | string {
  if (!today || !best || !series) return '';
  const sets = gain ? [today, best] : [today];
  return html`<section aria-labelledby="sets-title">
    <h2 id="sets-title">${gain ? 'Both sets side by side, on the same requests' : 'What you have'}</h2>
    <div class="plots">
      ${plotBox('load', 'Load and capacity, units of work a second')} ${plotBox('hot', 'Hot workers')}
      ${plotBox('queue', 'Queue time p99, as modelled')} ${plotBox('cost', 'Cost since the start')}
    </div>
    <figure class="wide" tabindex="0" role="region" aria-labelledby="sets-title">
      <table class="figures">
        <thead>
          <tr>
            <td></td>
            ${sets.map((set) => html`<th scope="col">${set === today ? 'today' : 'advised'}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows().map(
            ([name, of]) =>
              html`<tr>
                <th scope="row">${name}</th>
                ${sets.map((set) => html`<td>${of(set)}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </figure>
  </section>`;
}

function rows(): readonly (readonly [name: string, of: (set: SetPrediction) => string])[] {
  const within = ({ low, high }: SetPrediction['costPerHour'], words: (value: number) => string) =>
    `${words(Math.max(0, low))} and ${words(Math.max(0, high))}`;
  return [
    ...ADVISED_PARAMETERS.map(
      (name) => [name, (set: SetPrediction) => number(set.parameters[name])] as const,
    ),
    ['cost a day', ({ costPerHour }) => money(costPerHour.mean * HOURS_A_DAY)],
    ['… 95% between', ({ costPerHour }) => within(costPerHour, (value) => money(value * HOURS_A_DAY))],
    ['p99 wait, as modelled', ({ p99Seconds }) => seconds(p99Seconds.mean)],
    ['… 95% between', ({ p99Seconds }) => within(p99Seconds, seconds)],
    ['hot workers, mean', ({ meanHotWorkers }) => number(meanHotWorkers)],
    ['hot workers, at most', ({ peakHotWorkers }) => number(peakHotWorkers)],
  ];
}

function sensitivitySection({ sensitivity, gain, hangsOn }: AdviceReport): Markup | string {
  if (sensitivity.length === 0) return '';
  return html`<section aria-labelledby="sensitivity-title">
    <h2 id="sensitivity-title">What the answer hangs on</h2>
    <p class="quiet">
      Each of what is assumed, half and double.
      ${hangsOn === undefined ? 'None moves the answer by 1%.' : `Most: the ${hangsOn}.`}
    </p>
    <figure class="wide" tabindex="0" role="region" aria-labelledby="sensitivity-title">
      <table class="figures">
        <thead>
          <tr>
            <td></td>
            <th scope="col">times</th>
            <th scope="col">cost a day, today</th>
            <th scope="col">p99, today</th>
            ${gain ? [html`<th scope="col">p99, advised</th>`, html`<th scope="col">cheaper by</th>`] : []}
          </tr>
        </thead>
        <tbody>
          ${sensitivity.map(
            (one) =>
              html`<tr>
                <th scope="row">${one.assumption}</th>
                <td>${one.factor === 1 ? '' : one.factor}</td>
                <td>${money(one.todayPerHour * HOURS_A_DAY)}</td>
                <td>${seconds(one.todayP99Seconds)}</td>
                ${
                  gain
                    ? [html`<td>${seconds(one.bestP99Seconds)}</td>`, html`<td>${percent(one.gain)}</td>`]
                    : []
                }
              </tr>`,
          )}
        </tbody>
      </table>
    </figure>
  </section>`;
}

function assumptionsSection({ assumptions }: AdviceReport): Markup {
  return html`<section aria-labelledby="assumptions-title">
    <h2 id="assumptions-title">What it goes by</h2>
    <dl class="assumptions">
      ${assumptions.map(
        ({ name, value, from }) =>
          html`<div>
            <dt>${name} <span class="quiet">${from}</span></dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <h2>What it leaves out</h2>
    <ul>
      ${NOT_MODELLED.map((line) => html`<li>${line}</li>`)}
    </ul>
  </section>`;
}

function signed(share: number): string {
  return `${share < 0 ? '−' : '+'}${percent(Math.abs(share))}`;
}

function drawn({ backtest, series, load }: AdviceReport): unknown {
  const firstMs = backtest?.hours[0]?.fromMs ?? 0;
  return {
    seconds: load.seenSeconds,
    backtest: {
      hours: (backtest?.hours ?? []).map(({ fromMs, seconds: length, recorded, predicted }) => ({
        at: (fromMs - firstMs) / 1000,
        seconds: length,
        recorded,
        predicted,
      })),
    },
    series: series ?? null,
  };
}

/** The page of a plan in its words; what a browser makes of it: test/browser/plan-page.test.ts. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { planPage, reportAssets } from '../../../../src/cli/plan/report/page.ts';
import { givenPlan, givenReport, givenSearch } from '../../../support/given-plan.ts';
import { dataOf, pieces, plotsOf, wordsOf } from '../../../support/page-words.ts';

const ASSETS = { styles: ['p{}'], scripts: ['let a;', 'let b;'] };
const finding = {
  rule: 'r',
  severity: 'warning',
  parameter: 'p',
  got: 1,
  allowed: 'more',
  message: '<b>',
} as const;

function pageOf(...of: Parameters<typeof givenReport>): string {
  return planPage(givenReport(...of), ASSETS);
}

describe('one set', () => {
  const load = { name: 'a<b.csv', work: 'in & out', workGuessed: true };
  const assumptions = [
    { flag: '--slots', value: '1', given: true, measured: false, doc: 'side by side' },
    { flag: '--seed', value: '7', given: false, measured: false, doc: 'of chance' },
  ];
  const page = pageOf([givenPlan({ findings: [finding] })], {
    load,
    assumptions,
    model: ['as it reads'],
    notModelled: ['the network'],
  });

  test('is told from its headline to what it leaves out', () => {
    const words = wordsOf(page);
    expect(words.slice(0, 13)).toEqual([
      'What these parameters will do',
      'a<b.csv: 1,200 requests in 20 min, 50 units/s on average',
      'Work of a request: in & out (assumed). A model of the service, made from its documentation; the figures are for comparing, not for billing.',
      ...pieces('Over time | Load and capacity, units of work a second | Workers by state'),
      ...pieces('Queue time of the requests that arrived then | Cost since the start'),
      ...pieces('Figures | queue time, mean | 0.5 s | queue time, p50 | 50 ms'),
    ]);
    const parameters = words.indexOf('Parameters');
    expect(words.slice(parameters, parameters + 3)).toEqual(pieces('Parameters | min_load | 0'));
    expect(words.slice(words.indexOf('What the check says'))).toEqual([
      ...pieces('What the check says | warning: p: <b> | What it assumes'),
      ...pieces('--slots 1 | given | side by side | --seed 7 | assumed | of chance'),
      ...pieces('How it reads the interface | as it reads | What it leaves out | the network'),
    ]);
    expect(page).toContain('<title>Plan: a&#60;b.csv</title>');
  });

  test('has a plot of each of four things', () => {
    expect(plotsOf(page)).toEqual([
      'load: Load and capacity, units of work a second',
      'workers: Workers by state',
      'queue: Queue time of the requests that arrived then',
      'cost: Cost since the start',
    ]);
    expect(dataOf(page)).toEqual({ seconds: 1500, plans: [{ label: 'given' }] });
  });

  test('loads nothing, and runs no script but its own', () => {
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1];
    expect(policy?.replaceAll('&#39;', "'")).toBe(
      `default-src 'none'; style-src ${hash('p{}')}; script-src ${hash('let a;')} ${hash('let b;')}; ` +
        "img-src data:; base-uri 'none'; form-action 'none'",
    );
    expect(page.match(/<script>.*?<\/script>/g)).toEqual([
      '<script>let a;</script>',
      '<script>let b;</script>',
    ]);
    expect(page).toContain('<style>p{}</style>');
  });
});

test('several sets have a column each, and whose advice it is', () => {
  const labels = ['lean', 'rich', 'third'];
  const plans = labels.map((label, index) => givenPlan({ label, seconds: index, findings: [finding] }));
  const page = pageOf(plans);
  expect(plotsOf(page).slice(1, 3)).toEqual(['workers: Hot workers', 'queue: Queue time, p99']);
  const words = wordsOf(page);
  expect(words).toContain('lean: warning: p: <b>');
  const figures = words.indexOf('Figures');
  expect(words.slice(figures, figures + 8)).toEqual([
    ...pieces('Figures | lean | rich | third'),
    ...pieces('queue time, mean | 0.5 s | 0.5 s | 0.5 s'),
  ]);
  expect(words).not.toContain('utilisation of');
  // All have the same parameters.
  expect(words.join('\n')).not.toMatch(/Parameters|Work of a request: GeneratedTokens \(assumed/);
  expect(dataOf(page)).toMatchObject({ seconds: 2, plans: [{ label: 'lean' }, {}, { label: 'third' }] });
});

describe('a search', () => {
  test('is told with its verdict and its sets', () => {
    const page = pageOf([givenPlan(), givenPlan()], { search: givenSearch() });
    const words = wordsOf(page);
    const begins = words.indexOf('Cost against waiting');
    expect(words.slice(begins, begins + 15)).toEqual([
      'Cost against waiting',
      'Cheapest with p99 at most 5 s: target_util 0.8, cold_mult 2, cold_workers 3, min_load 40 (p99 1 s, cost 20.00, 10.00 an hour)',
      '6 sets tried, 4 of them completely; 3 that no other beats in both cost and p99.',
      ...pieces('cost | p99 | target_util | cold_mult | cold_workers | min_load'),
      ...pieces('10.00 | 100 s | 0.8 | 2 | 3 | 40'),
    ]);
    expect(page).toContain('<p class="verdict good">');
  });

  test('that found nothing, or was asked for no limit, says so', () => {
    const none = pageOf([givenPlan()], { search: givenSearch({ best: undefined }) });
    expect(none).toContain('<p class="verdict warn">');
    const open = pageOf([givenPlan()], { search: givenSearch({ p99LimitSeconds: undefined }) });
    expect(open).not.toContain('class="verdict');
  });
});

test('no label ends the script that has it, and numbers have six digits', () => {
  const page = pageOf([givenPlan({ label: '</script><b>', seconds: 1 / 3 })]);
  expect(page).not.toContain('</script><b>');
  expect(dataOf(page)).toMatchObject({ seconds: 0.333_333, plans: [{ label: '</script><b>' }] });
});

test('its own parts are the styles and scripts of this folder, and those of the plots', () => {
  const { styles, scripts } = reportAssets();
  expect([styles.length, scripts.length]).toEqual([2, 2]);
  expect(styles[0]).toContain('.uplot');
  expect(styles[1]).toContain('.verdict');
  expect(scripts[1]).toContain('PLOTS');
});

/** The page of a plan in its words; what a browser makes of it: test/browser/plan-page.test.ts. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { planPage, reportAssets } from '../../../../src/cli/plan/report/page.ts';
import { planTable } from '../../../../src/cli/plan/table.ts';
import { givenPlan, givenReport } from '../../../support/given-plan.ts';
import { dataOf, pieces, wordsOf } from '../../../support/page-words.ts';

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
  const report = givenReport([givenPlan({ findings: [finding] })], {
    load,
    assumptions,
    model: ['as it reads'],
    notModelled: ['the network'],
  });
  const page = () => planPage(report, ASSETS);

  test('is told from its headline to what it leaves out', () => {
    const words = wordsOf(page());
    expect(words).toEqual([
      'What these parameters will do',
      'a<b.csv: 1,200 requests in 20 min, 50 units/s on average',
      ...pieces('Over time | In figures'),
      planTable(report).join(' ').replaceAll(/\s+/g, ' '),
      ...pieces('How it reads the interface | as it reads'),
    ]);
    expect(page()).toContain('<title>Plan: a&#60;b.csv</title>');
  });

  test('has the data of its plots', () => {
    expect(dataOf(page())).toEqual({ seconds: 1500, plans: [{ label: 'given' }] });
  });

  test('loads nothing, and runs no script but its own', () => {
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page())?.[1];
    expect(policy?.replaceAll('&#39;', "'")).toBe(
      `default-src 'none'; style-src ${hash('p{}')}; script-src ${hash('let a;')} ${hash('let b;')}; ` +
        "img-src data:; base-uri 'none'; form-action 'none'",
    );
    expect(page().match(/<script>.*?<\/script>/g)).toEqual([
      '<script>let a;</script>',
      '<script>let b;</script>',
    ]);
    expect(page()).toContain('<style>p{}</style>');
  });
});

test('several sets are all in the data; no label ends the script that has it, and numbers have six digits', () => {
  const labels = ['lean', '</script><b>', 'third'];
  const page = pageOf(labels.map((label, index) => givenPlan({ label, seconds: index / 3 })));
  expect(dataOf(page)).toMatchObject({ seconds: 0.666_667, plans: labels.map((label) => ({ label })) });
  expect(page).not.toContain('</script><b>');
});

test('its own parts are the styles and scripts of this folder, and those of the plots', () => {
  const { styles, scripts } = reportAssets();
  expect([styles.length, scripts.length]).toEqual([2, 3]);
  expect(styles[0]).toContain('.uplot');
  expect(styles[1]).toContain('--series-1');
  expect(scripts[1]).toContain('createPlot');
  expect(scripts[2]).toContain('PLOTS');
});

/** An advice in the terminal and on its page, in their words. */
import { describe, expect, test } from 'vitest';
import { adviceLines, goneBy } from '../../../../src/cli/advise/lines.ts';
import { adviceAssets } from '../../../../src/cli/advise/report/assets.ts';
import { advicePage } from '../../../../src/cli/advise/report/page.ts';
import { givenAdviceReport } from '../../../support/given-advice-report.ts';
import { dataOf, pieces, plotsOf, wordsOf } from '../../../support/page-words.ts';

const NOTHING = {
  today: undefined,
  best: undefined,
  backtest: undefined,
  series: undefined,
  sensitivity: [],
};
const UNSEEN = { seenSeconds: 0, holes: [], meanRate: 0, peakRate: 0, requests: 0 };
const GONE_BY =
  'By 6 h of its load, 2026-11-14T00:00Z to 2026-11-21T00:00Z; 2 holes of 2 h in it left out: ' +
  '45 units/s in the mean, 90 at the most.';

describe('in the terminal', () => {
  test('both sets side by side, what it goes by, and how far the model was off', () => {
    const report = givenAdviceReport({ sentence: 'take this: it is cheaper', endpoint: 'a\u001B[2Jb' });
    expect(adviceLines(report, 200)).toEqual([
      'ab: take this: it is cheaper',
      '',
      '                       today  advised',
      'target_util              0.6      0.8',
      'cold_mult                2.5      2.5',
      'cold_workers               5        5',
      'min_load                   0        0',
      'min_cold_load              0        0',
      'cost a day             24.00    18.00',
      'p99 wait, as modelled    2 s    4.1 s',
      'hot workers, mean          4        4',
      'hot workers, at most       6        6',
      '',
      GONE_BY,
      'Backtest: hot workers +10%, worker hours −4%, cost +0% against what was recorded, over 2 h.',
      '  start time: 300 s (assumed)',
      '',
    ]);
  });

  test('one set where it stays as it is, and no table where there is none', () => {
    const { today } = givenAdviceReport();
    // What was computed apart, and is the same set, is no advice either.
    for (const best of [today, today && { ...today }]) {
      expect(adviceLines(givenAdviceReport({ today, best }), 200).slice(2, 4)).toEqual([
        '                       today',
        'target_util              0.6',
      ]);
    }
    const declined = { ...NOTHING, load: UNSEEN, assumptions: [], sentence: 'declined' };
    expect(adviceLines(givenAdviceReport(declined))).toEqual(['chat: declined', '']);
  });

  test('lines are broken between words, a hundred columns wide unless told', () => {
    const report = givenAdviceReport({
      ...NOTHING,
      load: UNSEEN,
      assumptions: [],
      sentence: 'aaaa '.repeat(40).trim(),
    });
    expect(adviceLines(report).slice(0, 2)).toEqual([
      `chat:${' aaaa'.repeat(19)}`,
      'aaaa '.repeat(20).trim(),
    ]);
    expect(adviceLines(report, 10).slice(0, 2)).toEqual(['chat: aaaa', 'aaaa aaaa']);
    const assumed = adviceLines({ ...report, assumptions: givenAdviceReport().assumptions }, 20);
    expect(assumed.slice(-3)).toEqual(['  start time: 300 s', '    (assumed)', '']);
  });

  test('holes are counted', () => {
    const { load, toMs } = givenAdviceReport();
    const one = { ...load, holes: [{ fromMs: toMs - 90_000, toMs }] };
    expect(goneBy(givenAdviceReport({ load: one }))).toContain('Z; a hole of 90 s in it left out: 45');
    expect(goneBy(givenAdviceReport({ load: { ...load, holes: [] } }))).toContain('T00:00Z: 45 units/s');
  });
});

describe('on its page', () => {
  test('from what it says to what it leaves out', () => {
    const page = advicePage(givenAdviceReport({ endpoint: '<chat>' }), { styles: [], scripts: [] });
    expect(page).toContain('<title>Advice: &#60;chat&#62;</title>');
    expect(page).toContain('<p class="verdict good">');
    const words = wordsOf(page);
    expect(words.slice(0, words.indexOf('What it leaves out'))).toEqual([
      'What other parameters of <chat> would have done',
      givenAdviceReport().sentence,
      `${GONE_BY} Queue times and the sizes of requests are not recorded by the service: every queue time is modelled.`,
      ...pieces('cost a day, today | 24.00 | cost a day, advised | 18.00'),
      ...pieces('p99 wait as modelled | 2 s → 4.1 s | backtest off by | 10%'),
      'The model beside the truth',
      'The parameters that were set, run over the recorded load: hot workers +10%, worker hours −4%, cost +0%.',
      'Hot workers, hour by hour',
      'Cost an hour',
      'Both sets side by side, on the same requests',
      ...pieces('Load and capacity, units of work a second | Hot workers | Queue time p99, as modelled'),
      'Cost since the start',
      ...pieces('today | advised'),
      ...pieces('target_util | 0.6 | 0.8 | cold_mult | 2.5 | 2.5 | cold_workers | 5 | 5'),
      ...pieces('min_load | 0 | 0 | min_cold_load | 0 | 0 | cost a day | 24.00 | 18.00'),
      ...pieces('… 95% between | 0.00 and 36.00 | 18.00 and 18.00 | p99 wait, as modelled | 2 s | 4.1 s'),
      ...pieces('… 95% between | 2 s and 2 s | 4.1 s and 4.1 s | hot workers, mean | 4 | 4'),
      ...pieces('hot workers, at most | 6 | 6'),
      'What the answer hangs on',
      'Each of what is assumed, half and double. Most: the start time.',
      ...pieces('times | cost a day, today | p99, today | p99, advised | cheaper by'),
      ...pieces('start time | 2 | 36.00 | 3 s | 5 s | 20% | lists differ | 24.00 | 2 s | 4 s | 10%'),
      'What it goes by',
      ...pieces('start time | assumed | 300 s'),
    ]);
    expect(words.at(-1)).toContain('other groups that share the endpoint');
    expect(plotsOf(page)).toEqual([
      'backtest-hot: Hot workers, hour by hour',
      'backtest-cost: Cost an hour',
      'load: Load and capacity, units of work a second',
      'hot: Hot workers',
      'queue: Queue time p99, as modelled',
      'cost: Cost since the start',
    ]);
    expect(dataOf(page)).toMatchObject({
      seconds: 21_600,
      backtest: {
        hours: [
          { at: 0, seconds: 3600, recorded: { hot: 5 }, predicted: { hot: 5.5 } },
          { at: 7200, seconds: 3600 },
        ],
      },
      series: { today: { cost: [1] }, best: { cost: [0.75] } },
    });
  });

  test('what stays as it is stands alone', () => {
    const { today } = givenAdviceReport();
    const over = { gain: undefined, today, best: today, verdict: 'keep', hangsOn: undefined } as const;
    const words = wordsOf(advicePage(givenAdviceReport(over), { styles: [], scripts: [] }));
    const cards = words.indexOf('cost a day, today');
    expect(words.slice(cards, cards + 4)).toEqual([
      'cost a day, today',
      '24.00',
      'p99 wait as modelled',
      '2 s',
    ]);
    expect(words).toContain('What you have');
    expect(words).toContain('Each of what is assumed, half and double. None moves the answer by 1%.');
    expect(words.join('\n')).not.toMatch(/advised|cheaper by/);
  });

  test('a model that did not hold says so, and what is not there has no section', () => {
    const { backtest } = givenAdviceReport();
    if (!backtest) throw new Error('there is none');
    const off = { backtest: { ...backtest, held: false }, verdict: 'declined' as const };
    const page = advicePage(givenAdviceReport(off), { styles: [], scripts: [] });
    expect(wordsOf(page)).toContain(
      'The parameters that were set, run over the recorded load: hot workers +10%, worker hours −4%, cost +0%. ' +
        'That is too much to advise anything; the plots show where the two part.',
    );
    expect(page.match(/class="(verdict )?warn"/g)).toEqual(['class="verdict warn"', 'class="warn"']);
    const none = advicePage(givenAdviceReport(NOTHING), { styles: [], scripts: [] });
    expect(none.match(/<h2/g)).toHaveLength(2);
    expect(none).not.toContain('class="cards"');
    expect(dataOf(none)).toEqual({ seconds: 21_600, backtest: { hours: [] }, series: null });
  });

  test('its script is its own', () => {
    expect(adviceAssets().scripts[2]).toContain('backtest');
  });
});

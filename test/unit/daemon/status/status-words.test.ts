/** What the page says of a finding, enough to put it right, and of a log. */
import { expect, test } from 'vitest';
import { findingInWords, logName, lostLines } from '../../../../src/daemon/status/page/status-words.js';
import { checkEndpointGroup } from '../../../../src/scaling/rules/check.ts';

test.each([
  [{ target_util: 1.7 }, /^target_util is 1\.7; allowed: [^:]+: \S/],
  [{ target_util: 'much' }, /^target_util is "much"; allowed: /],
  [{ target_util: 1, cold_workers: 1 }, /^target_util is 1; advised: at most 0\.95: leaves almost no spare/],
])('a finding has its value and what is allowed: %j', (parameters, words) => {
  const finding = checkEndpointGroup(parameters).findings.find(({ severity }) => severity !== 'note');
  if (!finding) throw new Error('nothing was found');
  expect(findingInWords(finding)).toMatch(words);
});

test('one without a value says so', () => {
  const finding = {
    rule: 'a',
    severity: 'error',
    parameter: 'b',
    got: undefined,
    allowed: 'c',
    message: 'd',
  } as const;
  expect(findingInWords(finding)).toBe('b is not set; allowed: c: d');
});

test('a loss of unknown size is not told as none', () => {
  const told = [0, 350].flatMap((lost_lines_estimate) =>
    [0, 2].map((unknown_gaps) => lostLines({ lost_lines_estimate, unknown_gaps })),
  );
  expect(told).toEqual([
    'about 0 lines lost',
    'how many lines were lost is unknown',
    'about 350 lines lost',
    'at least about 350 lines lost',
  ]);
});

test('a log is of a worker group or of an endpoint, whose name may turn the text around', () => {
  const names = ['chat', 'ch\u061Cat'].map((endpoint_group) => logName({ endpoint_group }));
  expect([logName({ workergroup_id: 7 }), ...names]).toEqual([
    'Worker group 7',
    'Endpoint chat',
    'Endpoint ch·at',
  ]);
});

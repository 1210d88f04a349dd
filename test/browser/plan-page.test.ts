import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planPage, reportAssets } from '../../src/cli/plan/report/page.ts';
import { describeWithBrowser, drawn } from '../support/browser-suite.ts';
import { planCommandLine } from '../support/plan-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HOSTILE = '</script><img src=x onerror="window.hacked = true">';

describeWithBrowser('the page of a plan in a real browser', (open) => {
  /** For both screens: it takes seconds. */
  let searched: ReturnType<typeof planned> | undefined;
  test.each([
    ['a phone in the dark', 375, 'dark', 1],
    ['a desk in daylight', 1440, 'light', 3],
    ['a search on a phone in daylight', 375, 'light', 'search'],
    ['a search at a desk in the dark', 1440, 'dark', 'search'],
  ] as const)(
    'draws every plot for %s, and asks nobody for anything',
    async (_, width, colorScheme, kind) => {
      using folder = temporaryFolder();
      const outcome = await (kind === 'search' ? (searched ??= planned(kind)) : planned(kind));
      const file = join(folder.path, 'plan.html');
      writeFileSync(file, planPage(outcome, reportAssets()));

      const { page, problems, asked } = await open(`file://${file}`, { width, colorScheme });
      const plots = page.getByRole('slider');
      expect(await plots.count()).toBe(4);
      for (const plot of await plots.all()) expect((await drawn(plot)).colours).toBeGreaterThan(10);
      // The keys choose a moment, and the legend has its values.
      const cost = page.getByRole('slider', { name: 'Cost since the start: time' });
      await cost.focus();
      const last = await cost.getAttribute('aria-valuetext');
      await page.keyboard.press('Home');
      expect(await cost.getAttribute('aria-valuetext')).not.toBe(last);
      expect(await page.locator('figure', { has: cost }).locator('.legend').innerText()).toMatch(/\d/);
      const text = await page.locator('body').innerText();
      for (const part of ['queue time, p99', '--load-window', 'Not in the model'])
        expect(text).toContain(part);
      if (kind === 3) expect(text).toContain(HOSTILE);
      if (kind === 'search') expect(text).toContain('p99 at most 30 s');
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      // Nothing is wider than the screen.
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(asked.filter((url) => !/^(file|data):/.test(url))).toEqual([]);
      expect(problems).toEqual([]);
    },
  );
});

/** @param kind How many sets are compared, or a search. */
async function planned(kind: 1 | 3 | 'search') {
  using folder = temporaryFolder();
  const set = join(folder.path, 'set.json');
  const group = (max_workers: number, name: string) => ({
    max_workers,
    cold_workers: 2,
    endpoint_name: name,
  });
  const groups =
    kind === 'search' ? [group(12, 'a')] : [group(4, HOSTILE), group(6, 'b'), group(9, 'c')].slice(0, kind);
  writeFileSync(set, JSON.stringify(groups));
  const asked =
    kind === 'search'
      ? ['--search', '--p99', '30s', '--duration', '10m', '--seeds', '2', '--params', set]
      : ['--compare', set];
  return await planCommandLine('--load', 'bursts', '--rate', '40', '--performance', '10', ...asked);
}

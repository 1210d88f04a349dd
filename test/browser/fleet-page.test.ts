import { expect, test } from 'vitest';
import type { FleetView } from '../../src/fleet/view.ts';
import { axeViolations } from '../support/axe.ts';
import { describeWithBrowser, drawn, SCREENS } from '../support/browser-suite.ts';
import { until } from '../support/daemon.ts';
import { listenWithFleet } from '../support/fleet-listener.ts';
import {
  endpointView,
  fleetView,
  morning,
  recordedFleet,
  sampleAt,
  SPENT,
  UNSEEN,
  WATCH_ALL,
} from '../support/recorded-fleet.ts';

const HOSTILE = '<img src=x onerror="window.hacked = true">\u001B[31m\u202Eevil';
const MINUTES = 360;

function troubled(nowMs: number): FleetView {
  return fleetView(
    [
      endpointView({}, nowMs),
      endpointView({
        endpoint: HOSTILE,
        id: 32,
        sample: sampleAt(nowMs, { load: 130, load_average: 128 }),
        drift: [{ parameter: 'target_util', actual: 0.8, wanted: 0.9 }],
        findings: [
          {
            rule: 'a-rule',
            severity: 'warning',
            parameter: 'cold_mult',
            got: 1,
            allowed: 'more',
            message: 'a burst waits for new workers',
          },
        ],
        stuckWorkers: 1,
        failingWorkers: 2,
        troubles: { churn: { severity: 'warning', sinceMs: nowMs, says: 'replaced 3 workers' } },
      }),
      endpointView({ endpoint: 'new', id: 33, ...UNSEEN }),
    ],
    { spend: SPENT },
  );
}

/** Each with its six hours, half a minute of which is yet to come: the first row stays within what the page asks for. */
function serve(view: () => FleetView) {
  const rows = morning(Date.now() - MINUTES * 60_000 + 30_000, MINUTES);
  return listenWithFleet(recordedFleet(view, { chat: rows, [HOSTILE]: rows }), {
    ...WATCH_ALL,
    budgetPerHour: 5,
    budgetPerMonth: 2000,
  });
}

describeWithBrowser('endpoints on the status page, in a real browser', (open) => {
  test.each(SCREENS)(
    'at %d px, %s: shows each with its plots, and is accessible',
    async (width, colorScheme) => {
      await using listener = await serve(() => troubled(Date.now()));
      const { page, problems } = await open(listener.url, { width, colorScheme });
      await page.locator('.plot canvas').nth(3).waitFor();
      const text = await page.locator('body').innerText();
      for (const part of [
        '3.20 an hour',
        '6 idle, 2 model loading, 10 stopped',
        '<img src=x onerror="window.hacked = true">',
        'is not as configured: target_util is 0.8, not 0.9',
        'cold_mult is 1; allowed: more: a burst waits for new workers',
        'What is wrong',
        'replaced 3 workers',
        'Not as configured: target_util is 0.8, not 0.9',
        ': 2 workers err again and again',
        ': 1 worker has been loading far longer than the others',
        'is asked for more than its ready workers can do: 128 of 60',
        'The endpoints cost 6.40 an hour, above PILOTLIGHT_BUDGET_PER_HOUR (5)',
        'Nothing is recorded of these hours yet.',
        'WHAT ENDPOINTS COST',
        '3.20 (estimated) an hour; 4.20 (told) today; 61.00 (estimated) this month',
        '61.00 (estimated); 2112.50 at its end, above the budget of 2000.00',
        '1 instance, 0.40 an hour',
        'The key lacks the permission billing_read',
        'The endpoints come to 2112.50 this month, above PILOTLIGHT_BUDGET_PER_MONTH (2000)',
      ]) {
        expect(text).toContain(part);
      }
      for (const control of ['\u001B', '\u202E']) expect(text).not.toContain(control);
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      for (const [name, least] of [
        ['Load and capacity of chat: time', 0.1],
        ['Workers of chat by status: time', 0.3],
      ] as const)
        expect((await drawn(page.getByRole('slider', { name }))).share).toBeGreaterThan(least);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(await axeViolations(page)).toEqual([]);
      expect(problems).toEqual([]);
    },
  );

  test('the arrow keys choose a moment, and a screen reader hears its figures', async () => {
    await using listener = await serve(() => troubled(Date.now()));
    const { page } = await open(listener.url);
    const plot = page.getByRole('slider', { name: 'Load and capacity of chat: time' });
    await plot.focus();
    const said = (): Promise<string | null> => plot.getAttribute('aria-valuetext');
    const chosen = async (): Promise<number> => Number(await plot.getAttribute('aria-valuenow'));
    const last = Number(await plot.getAttribute('aria-valuemax'));
    expect(await chosen()).toBe(last);
    expect(await said()).toMatch(
      /^\d\d:\d\d: asked [\d.]+, ready workers can do \d+, with the stopped ones \d+$/,
    );
    await page.keyboard.press('ArrowLeft');
    expect(await chosen()).toBe(last - 1);
    await page.keyboard.press('PageDown');
    expect(await chosen()).toBe(last - 11);
    await page.keyboard.press('End');
    expect(await chosen()).toBe(last);
    await page.keyboard.press('Home');
    expect(await chosen()).toBe(0);
    await page.keyboard.press('ArrowLeft');
    expect(await chosen()).toBe(0);
    const legend = page.locator('figure', { has: plot }).locator('.legend');
    const figures = (await legend.innerText()).replaceAll(/\s+/g, ' ');
    expect(await said()).toContain(`asked ${/asked ([\d.]+)/.exec(figures)?.[1]},`);
  });

  test('a hole in what was recorded stays a hole, and says that nothing is known of it', async () => {
    await using listener = await serve(() => troubled(Date.now()));
    const { page } = await open(listener.url);
    const plot = page.getByRole('slider', { name: 'Load and capacity of chat: time' });
    await plot.focus();
    await page.keyboard.press('Home');
    // Fifteen minutes are missing after 55 of a hundred.
    const hole = Math.ceil(MINUTES * 0.55);
    for (let pages = 0; pages < Math.floor(hole / 10); pages++) await page.keyboard.press('PageUp');
    for (let rest = 0; rest < hole % 10; rest++) await page.keyboard.press('ArrowRight');
    expect(await plot.getAttribute('aria-valuetext')).toMatch(
      /: asked not known, ready workers can do not known/,
    );
  });

  test('what a reader has focused and chosen stays through new samples, and the hours can be chosen', async () => {
    let price = 3.2;
    await using listener = await serve(() => {
      const sample = sampleAt(Date.now(), { spend_per_hour: price });
      return fleetView([endpointView({ sample })]);
    });
    const { page } = await open(listener.url);
    const plot = page.getByRole('slider', { name: 'Workers of chat by status: time' });
    await plot.focus();
    await page.keyboard.press('Home');
    price = 7;
    await page.getByText('7.00 an hour', { exact: true }).waitFor();
    expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe('slider');
    expect(await plot.getAttribute('aria-valuenow')).toBe('0');
    await page.getByLabel('Plots of the last').selectOption('hour');
    await until(async () => Number(await plot.getAttribute('aria-valuemax')) < 60);
  });

  test('without an endpoint nothing of it is loaded', async () => {
    await using listener = await listenWithFleet(
      recordedFleet(() => fleetView([], { samples: false })),
      { endpoints: [], fleetInterval: 15_000, budgetPerHour: undefined, budgetPerMonth: undefined },
    );
    const { page, asked } = await open(listener.url);
    await page.getByText('all is well').waitFor();
    await page.getByText('None configured (PILOTLIGHT_ENDPOINTS).').waitFor();
    const loaded = asked.map((url) => new URL(url).pathname);
    expect(loaded).toContain('/status.js');
    expect(loaded.filter((path) => /plot|endpoints|api\/fleet/i.test(path))).toEqual([]);
    expect(await page.getByLabel('Plots of the last').isVisible()).toBe(false);
  });

  test.each([
    [false, 'The daemon has not looked at them yet.'],
    [true, 'None found (PILOTLIGHT_ENDPOINTS).'],
  ])('endpoints that are configured and not there are told of: looking is %s', async (samples, words) => {
    await using listener = await serve(() => fleetView([], { samples }));
    const { page } = await open(listener.url);
    await page.getByText(words).waitFor();
  });
});

import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { startTestDaemon, until } from '../support/daemon.ts';
import { describeWith } from '../support/optional.ts';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

describeWith(
  'a browser',
  existsSync(CHROMIUM),
  'apt-get install chromium, or set CHROMIUM to its path',
)('the status page in a real browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    });
  });
  afterAll(() => browser?.close());

  test.each([
    ['a phone in the dark', 375, 'dark'],
    ['a desk in daylight', 1440, 'light'],
  ] as const)(
    'shows deployments, logs and warnings on %s, hostile lines as text',
    async (_, width, colorScheme) => {
      await using emulator = await startEmulator({
        seed: { workergroups: [{ id: 7, lines_per_second: 0 }], deployments: [{ id: 42, ttl: 30 }] },
      });
      emulator.workergroups.append(7, [
        '<script>window.hacked = true</script>',
        '\u001B[31mred\u001B[0m',
        'ready',
      ]);
      await using daemon = await startTestDaemon({
        API_KEY: emulator.apiKey,
        BASE_URL: emulator.url,
        DEPLOYMENTS: '42@30s,99',
        WORKER_GROUPS: '7',
        MACHINES: '11',
        ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.97}]',
      });
      await until(
        async () => daemon.lines(7).length === 3 && (await daemon.daemon.status()).account !== null,
      );
      await using page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('console', (message) => problems.push(message.text()));
      await page.goto(daemon.url);
      await page.getByRole('region', { name: 'worker group 7' }).getByText('ready').waitFor();
      const text = await page.locator('body').innerText();
      for (const part of [
        'Deployment 42',
        'healthy',
        'Deployment 99',
        '<script>window.hacked = true</script>',
        'red',
        'target_util',
        'Machine 11',
      ]) {
        expect(text).toContain(part);
      }
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      // Nothing is wider than the screen.
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      const meter = page.getByRole('meter', { name: 'Remaining TTL of deployment 42' });
      const before = Number(await meter.getAttribute('aria-valuenow'));
      expect(before).toBeGreaterThan(20);
      expect(problems).toEqual([]);
    },
  );

  test('says so when the daemon has gone', async () => {
    await using emulator = await startEmulator();
    const daemon = await startTestDaemon({
      API_KEY: emulator.apiKey,
      BASE_URL: emulator.url,
      DEPLOYMENTS: '42@300s',
    });
    await using page = await browser.newPage();
    await page.goto(daemon.url);
    await page.getByText('All 1 deployment lit').waitFor();
    await daemon.daemon.stop();
    await page.getByText('The daemon does not answer').waitFor();
  });
});

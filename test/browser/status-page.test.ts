import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { axeViolations } from '../support/axe.ts';
import { describeWithBrowser, SCREENS } from '../support/browser-suite.ts';
import { serviceOf, startTestDaemon, until } from '../support/daemon.ts';
import { serve } from '../support/local-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SEED = { deployments: [{ id: 42, ttl: 300 }], workergroups: [{ id: 7, lines_per_second: 0 }] };

const HOSTILE = [
  '<script>window.hacked = true</script><img src=x onerror="window.hacked = true">',
  '\u001B[31mred\u001B[0m\u0007 bell \u202Ereversed',
  'm'.repeat(2 ** 20),
  'ready',
];

describeWithBrowser('the status page in a real browser', (open) => {
  test.each(SCREENS)(
    'at %d px, %s: shows everything, hostile lines as text, and is accessible',
    async (width, colorScheme) => {
      await using emulator = await startEmulator({ seed: SEED });
      emulator.workergroups.append(7, HOSTILE);
      await using daemon = await startTestDaemon({
        ...serviceOf(emulator),
        DEPLOYMENTS: '42@300s,99',
        WORKER_GROUPS: '7',
        PUBLIC_STATUS: 'true',
        MACHINES: '11',
        ENDPOINTS: 'all',
        ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.97}]',
      });
      await until(
        async () => daemon.lines(7).length === HOSTILE.length && daemon.daemon.status().account !== null,
      );
      const { page, problems } = await open(daemon.url, { width, colorScheme });
      await page.getByRole('region', { name: 'worker group 7' }).getByText('ready').waitFor();
      await page.getByRole('article', { name: 'Service' }).getByText('A log is one text.').waitFor();
      const text = await page.locator('body').innerText();
      for (const part of [
        'Deployment 42',
        'healthy',
        'Deployment 99',
        '<script>window.hacked = true</script>',
        'red· bell ·reversed',
        '(1048576 characters)',
        'target_util',
        'Machine 11',
        'Log sink stdout',
      ]) {
        expect(text).toContain(part);
      }
      expect(text.length).toBeLessThan(10_000);
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      // Nothing is wider than the screen.
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      const meter = page.getByRole('meter', { name: 'Remaining TTL of deployment 42' });
      expect(Number(await meter.getAttribute('aria-valuenow'))).toBeGreaterThan(200);
      expect(await axeViolations(page)).toEqual([]);
      expect(problems).toEqual([]);
    },
  );

  test('says in one sentence that all is well, and when the daemon has gone', async () => {
    await using emulator = await startEmulator();
    const daemon = await startTestDaemon({ ...serviceOf(emulator), DEPLOYMENTS: '42@300s' });
    const { page } = await open(daemon.url);
    const sentence = page.getByRole('status');
    await sentence.getByText('The deployment is alive, all is well.').waitFor();
    await daemon.stop();
    await sentence.getByText('The daemon does not answer.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
  });

  test('behind a reverse proxy, under a sub-path', async () => {
    await using emulator = await startEmulator({ dialect: 'public' });
    await using daemon = await startTestDaemon({
      ...serviceOf(emulator),
      DEPLOYMENTS: '42@300s',
      ENDPOINTS: 'all',
    });
    await using proxy = await serve(async ({ url = '' }, response) => {
      if (!url.startsWith('/pilot/')) return response.writeHead(404).end();
      const answer = await fetch(new URL(url.slice('/pilot'.length), daemon.url)).catch(() => undefined);
      if (answer === undefined) return response.writeHead(502).end();
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      return response.end(await answer.text());
    });
    const { page } = await open(`${proxy.url}/pilot/`);
    await page.getByRole('status').getByText('The deployment is alive').waitFor();
    await page.locator('.plots figure').first().waitFor({ state: 'attached' });
  });

  test('names what is wrong, worst first', async () => {
    await using emulator = await startEmulator({ seed: SEED });
    await using daemon = await startTestDaemon({
      ...serviceOf(emulator),
      DEPLOYMENTS: '42@300s,43@300s',
      WORKER_GROUPS: '7',
      ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.97}]',
    });
    await until(async () => daemon.daemon.status().deployments[1]?.state === 'gone');
    const { page } = await open(daemon.url);
    await page.getByText('1 of 2 deployments alive, 2 things to look at.').waitFor();
    const troubles = await page.locator('#troubles li').allInnerTexts();
    expect(troubles).toEqual([
      'Deployment 43 is gone: the service does not know this deployment; it is asked again at a slow pace, and at once at a reload',
      expect.stringMatching(/^Endpoint group chat: \d warnings?$/),
    ]);
  });

  test('names what is off or at risk while the heartbeats go on', async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'no folder');
    writeFileSync(file, '');
    await using emulator = await startEmulator({ seed: SEED });
    await using daemon = await startTestDaemon({
      ...serviceOf(emulator),
      DEPLOYMENTS: '42@300s',
      WORKER_GROUPS: '7',
      STATE_DIR: file,
      LOG_FILE_MAX_FILES: 'many',
      ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":1.5}]',
    });
    const { page } = await open(daemon.url);
    await page.getByText('The deployment is alive, 3 things to look at.').waitFor();
    expect(await page.locator('#troubles li').allInnerTexts()).toEqual([
      expect.stringMatching(/^A feature is off: PILOTLIGHT_LOG_FILE_MAX_FILES: got many; allowed: /),
      'Endpoint group chat: 1 error',
      'Log records are in memory alone: PILOTLIGHT_STATE_DIR cannot be used, and is tried again',
    ]);
    expect(await axeViolations(page)).toEqual([]);
  });

  test('new lines leave the reader where they are: focus, selection and place', async () => {
    await using emulator = await startEmulator({ seed: SEED });
    emulator.workergroups.append(
      7,
      Array.from({ length: 40 }, (_, index) => `line ${index} ${'x '.repeat(60)}`),
    );
    await using daemon = await startTestDaemon({
      ...serviceOf(emulator),
      WORKER_GROUPS: '7',
      PUBLIC_STATUS: 'true',
    });
    const { page } = await open(daemon.url, { width: 375 });
    const lines = page.getByRole('region', { name: 'worker group 7' });
    await lines.getByText('line 39').waitFor();
    const place = (): Promise<unknown> =>
      page.evaluate(
        "({ focused: document.activeElement.tagName, top: document.querySelector('pre').scrollTop > 40 })",
      );
    await lines.focus();
    expect(await place()).toEqual({ focused: 'PRE', top: true });
    await page.evaluate("document.querySelector('pre').scrollTop = 10");
    emulator.workergroups.append(7, ['one more']);
    await lines.getByText('one more').waitFor();
    expect(await place()).toEqual({ focused: 'PRE', top: false });
  });
});

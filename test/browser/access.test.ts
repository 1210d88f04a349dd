/** What a page of another site can do to a daemon by way of a real browser, and who may look at the status page. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/index.ts';
import { axeViolations } from '../support/axe.ts';
import { describeWithBrowser } from '../support/browser-suite.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon-process.ts';
import { serviceOf, startTestDaemon, until } from '../support/daemon.ts';
import { serve } from '../support/local-server.ts';

/** Ways of a page to send a request to `target` that no permission is asked for, or that is sent all the same. */
const ATTACKS = {
  'a fetch without CORS': `void fetch(target, { method: 'POST', mode: 'no-cors' }).catch(() => {})`,
  'a fetch of text, about which nothing is asked first': `void fetch(target, { method: 'POST', body: 'quit' }).catch(() => {})`,
  'a fetch that is asked about first': `void fetch(target, { method: 'POST', headers: { 'x-any': '1' } }).catch(() => {})`,
  'a beacon': `navigator.sendBeacon(target, 'quit')`,
  'a form': `{
    const frame = Object.assign(document.createElement('iframe'), { name: 'target' });
    const form = Object.assign(document.createElement('form'), { method: 'post', action: target, target: 'target' });
    document.body.append(frame, form);
    form.submit();
  }`,
  'a form in the place of the page': `{
    const form = Object.assign(document.createElement('form'), { method: 'post', action: target });
    document.body.append(form);
    form.submit();
  }`,
  'an image': `new Image().src = target`,
} as const;

describeWithBrowser('a daemon and a real browser', (open) => {
  describe('a page of another origin', () => {
    let emulator: Emulator;
    let daemon: DaemonProcess;
    let evil: Awaited<ReturnType<typeof serve>>;
    beforeAll(async () => {
      emulator = await startEmulator();
      daemon = await startDaemonProcess(serviceOf(emulator));
      evil = await serve((_, response) =>
        response.setHeader('content-type', 'text/html').end('<!doctype html><title>evil</title>'),
      );
    });
    afterAll(async () => {
      await evil.close();
      await daemon[Symbol.asyncDispose]();
      await emulator.close();
    });

    // By name too: what is of the same machine is of another site for a browser then, and not only of another origin.
    const cases = Object.keys(ATTACKS).flatMap((attack) =>
      ['127.0.0.1', 'localhost'].map((host) => [attack, host] as const),
    );
    test.each(cases)('does not end the daemon by %s, from %s', async (attack, host) => {
      const { page } = await open(evil.url.replace('127.0.0.1', host));
      const target = `${daemon.adminUrl}/-/quit`;
      const isIt = (request: { url(): string }): boolean => request.url() === target;
      const tried = Promise.race([
        page.waitForEvent('response', isIt).then((answer) => answer.status()),
        page.waitForEvent('requestfailed', isIt).then(() => 403),
      ]);
      await page.evaluate(
        `{ const target = ${JSON.stringify(target)}; ${ATTACKS[attack as keyof typeof ATTACKS]} }`,
      );
      expect(await tried).toBe(403);
      expect((await fetch(`${daemon.url}/livez`)).status).toBe(200);
    });

    test('learns nothing of its configuration', async () => {
      const { page } = await open(evil.url);
      const target = JSON.stringify(`${daemon.adminUrl}/-/config`);
      const read = `fetch(${target}).then((answer) => answer.text(), (error) => String(error))`;
      expect(await page.evaluate(read)).toBe('TypeError: Failed to fetch');
    });

    test('has not ended it: that takes a program', async () => {
      expect(daemon.child.exitCode).toBeNull();
      expect((await fetch(`${daemon.url}/livez`)).status).toBe(200);
      expect((await fetch(`${daemon.adminUrl}/-/quit`, { method: 'POST' })).status).toBe(202);
      expect(await daemon.exit).toBe(0);
    });
  });

  test('the configuration can be opened in the address bar', async () => {
    await using emulator = await startEmulator();
    await using daemon = await startTestDaemon(serviceOf(emulator));
    const { page } = await open('about:blank');
    const answer = await page.goto(`${daemon.adminUrl}/-/config`);
    expect(answer?.status()).toBe(200);
  });

  test.each([
    [375, 'dark'],
    [1440, 'light'],
  ] as const)(
    'at %d px, %s: the page asks for the token once in a tab, and shows nothing before',
    async (width, colorScheme) => {
      const TOKEN = 'page token 12345';
      await using emulator = await startEmulator();
      await using daemon = await startTestDaemon({
        ...serviceOf(emulator),
        DEPLOYMENTS: '42@300s',
        WORKER_GROUPS: '7',
        METRICS_TOKEN: TOKEN,
      });
      await until(() => daemon.lines(7).length > 0);
      const { page, problems } = await open(daemon.url, { width, colorScheme });
      await page.getByText('This page needs a token.').waitFor();
      const field = page.getByLabel('Token (PILOTLIGHT_METRICS_TOKEN)');
      expect(await page.locator('body').innerText()).not.toContain('Deployment 42');
      expect(await axeViolations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);

      for (const wrong of ['another token', 'tökén']) {
        await field.fill(wrong);
        await field.press('Enter');
        await page.getByRole('alert').getByText('does not take this token').waitFor();
      }
      await field.fill(`${TOKEN} `);
      await page.getByRole('button', { name: 'Show' }).click();
      await page.getByText('Deployment 42').waitFor();
      await page.getByRole('region', { name: 'worker group 7' }).waitFor();
      expect(await field.isVisible()).toBe(false);
      expect(await axeViolations(page)).toEqual([]);

      await page.reload();
      await page.getByText('Deployment 42').waitFor();
      expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).toBe('{}');
      const other = await page.context().newPage();
      await other.goto(daemon.url);
      await other.getByText('This page needs a token.').waitFor();

      // Where the network changes while it is fetched, it is clicked again.
      await until(async () => {
        await page.getByRole('link', { name: 'Metrics' }).click();
        const shown = page.getByText('pilotlight_build_info').waitFor({ timeout: 12_000 });
        return (await shown.catch(String)) === undefined;
      });
      // The browser's own word for each answer with 401.
      expect(problems.filter((text) => !text.includes('a status of 401'))).toEqual([]);
    },
  );
});

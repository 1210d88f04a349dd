import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { hasBrowser, launchBrowser } from './browser.ts';
import { describeWith } from './optional.ts';

/** Width and colour scheme. */
export const SCREENS = ([375, 1440] as const).flatMap((width) =>
  (['dark', 'light'] as const).map((scheme) => [width, scheme] as const),
);

/** All tests of the suite share one browser. */
export function describeWithBrowser(
  title: string,
  tests: (browser: Pick<Browser, 'newPage' | 'newContext'>) => void,
): void {
  describeWith(
    'a browser',
    hasBrowser,
    'apt-get install chromium, or set CHROMIUM to its path',
  )(title, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterAll(() => browser?.close());
    tests({
      newPage: (options) => browser.newPage(options),
      newContext: (options) => browser.newContext(options),
    });
  });
}

import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { hasBrowser, launchBrowser } from './browser.ts';
import { describeWith } from './optional.ts';

/** Width and colour scheme. */
export const SCREENS = ([375, 1440] as const).flatMap((width) =>
  (['dark', 'light'] as const).map((scheme) => [width, scheme] as const),
);

interface OpenedPage {
  readonly page: Page;
  /** What it threw, and what it said on the console: of a page that is well, nothing. */
  readonly problems: readonly string[];
  /** The addresses that it asked for. */
  readonly asked: readonly string[];
}

interface Screen {
  readonly width: number;
  readonly colorScheme?: 'dark' | 'light';
}

type Open = (url: string, screen?: Screen) => Promise<OpenedPage>;

/** All tests of the suite share one browser. A page that one of them opens is closed with it. */
export function describeWithBrowser(title: string, tests: (open: Open) => void): void {
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
    tests(async (url, { width, colorScheme = 'light' } = { width: 1280 }) => {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      onTestFinished(() => context.close());
      const opened = watched(await context.newPage());
      await opened.page.goto(url);
      return opened;
    });
  });
}

/** A container that starts on this machine has a network of its own, for which Chromium drops what it is connecting for. */
const NETWORK_CHANGED = 'net::ERR_NETWORK_CHANGED';

/** If the test fails, what the page did is printed: a timeout alone says nothing. */
function watched(page: Page): OpenedPage {
  // A test ends at its own time; a busy machine takes longer than the usual half minute.
  page.setDefaultTimeout(0);
  const from = performance.now();
  const story: string[] = [];
  const problems: string[] = [];
  const asked: string[] = [];
  const tell = (text: string): void => {
    story.push(`${((performance.now() - from) / 1_000).toFixed(1)} s: ${text}`);
  };
  const blame = (text: string): void => {
    if (!text.includes(NETWORK_CHANGED)) problems.push(text);
    tell(text);
  };
  page.on('pageerror', ({ message }) => blame(message));
  page.on('console', (message) => blame(message.text()));
  page.on('crash', () => blame('it crashed'));
  page.on('request', (request) => {
    asked.push(request.url());
    tell(`${request.method()} ${request.url()}`);
  });
  page.on('response', (response) => tell(`${response.status()} for ${response.url()}`));
  page.on('requestfailed', (request) => tell(`${request.failure()?.errorText} for ${request.url()}`));
  onTestFinished(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    const shown = await page.locator('body').innerText({ timeout: 5_000 }).catch(String);
    console.error([...story, `It shows: ${shown}`].join('\n'));
  });
  return { page, problems, asked };
}

interface Canvas {
  readonly width: number;
  readonly height: number;
  getContext(kind: '2d'): { getImageData(...box: number[]): { readonly data: Uint8ClampedArray } };
}

/** Of the pixels of a plot: which share is drawn upon, and how many colours there are. */
export function drawn(plot: Locator): Promise<{ readonly share: number; readonly colours: number }> {
  return plot.locator('canvas').evaluate((node) => {
    const canvas = node as unknown as Canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const pixels = Array.from(new Uint32Array(data.buffer));
    const inked = pixels.filter((pixel) => pixel >>> 24 > 0);
    return { share: inked.length / pixels.length, colours: new Set(pixels).size };
  });
}

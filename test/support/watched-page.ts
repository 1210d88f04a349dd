/** A page of a browser until the test ends. Where that fails, what the page did is printed: a timeout alone says nothing. */
import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

export interface WatchedPage {
  readonly page: Page;
  /** What it threw, and what it said on the console: of a page that is well, nothing. */
  readonly problems: readonly string[];
}

/** A container that starts on this machine has a network of its own, for which Chromium drops what it is connecting for. */
const NETWORK_CHANGED = 'net::ERR_NETWORK_CHANGED';

export function watched(page: Page): WatchedPage {
  // A test ends at its own time; a busy machine takes longer than the usual half minute.
  page.setDefaultTimeout(0);
  const from = performance.now();
  const story: string[] = [];
  const problems: string[] = [];
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
  page.on('request', (request) => tell(`${request.method()} ${request.url()}`));
  page.on('response', (response) => tell(`${response.status()} for ${response.url()}`));
  page.on('requestfailed', (request) => tell(`${request.failure()?.errorText} for ${request.url()}`));
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') {
      const shown = await page.locator('body').innerText({ timeout: 5_000 }).catch(String);
      console.error([...story, `It shows: ${shown}`].join('\n'));
    }
    await page.close();
  });
  return { page, problems };
}

import { expect, test } from 'vitest';
import { OPERATION_IDS } from '../../src/contract/operations.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import { describeWithBrowser } from '../support/browser-suite.ts';

describeWithBrowser("the interface's page of the emulator in a real browser", (open) => {
  test.each([
    ['a phone in the dark', 375, 'dark'],
    ['a desk in daylight', 1440, 'light'],
  ] as const)('shows every operation and sends its example on %s', async (_, width, colorScheme) => {
    await using emulator = await startEmulator();
    const address = `${emulator.url}/docs#/deployments/deployments.heartbeat`;
    const { page, problems } = await open(address, { width, colorScheme });
    const operation = page.locator('.opblock', { hasText: '/api/v0/deployment/{id}/heartbeat' });
    await operation.getByRole('button', { name: 'Execute' }).click();
    await operation.locator('.live-responses-table').getByText('"deployment_id": 42').waitFor();
    expect(await page.locator('.opblock').count()).toBe(OPERATION_IDS.length);
    expect(emulator.journal.count({ operation: 'deployments.heartbeat', status: 200 })).toBe(1);
    const text = await operation.innerText();
    for (const part of ['POST', '§4.6', 'not_found', 'deployment id']) expect(text).toContain(part);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(problems).toEqual([]);
  });
});

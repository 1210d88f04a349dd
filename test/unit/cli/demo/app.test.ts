import { expect, test } from 'vitest';
import { startDemoApp } from '../../../../src/cli/demo/app.ts';
import type { Screen } from '../../../../src/cli/demo/screen.ts';
import { until } from '../../../support/daemon.ts';

function screenInto(lines: string[]): Screen {
  return {
    heading() {},
    event: (subject, text) => void lines.push(`${subject} ${text}`),
    record() {},
  };
}

async function isWell(url: string): Promise<boolean> {
  return await fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

test('it dies, waits until all are withheld, and comes back; who is healthy then has survived', async () => {
  const lines: string[] = [];
  const ending = new AbortController();
  await using app = await startDemoApp(screenInto(lines), 20, 0);
  expect(await isWell(app.url)).toBe(true);
  const over = app.run(ending.signal);
  await until(async () => !(await isWell(app.url)));
  expect(app.report().deaths).toBe(1);
  app.look([]);
  app.look([{ state: 'withheld' }, { state: 'urgent' }]);
  expect(await isWell(app.url)).toBe(false);
  app.look([{ state: 'withheld' }, { state: 'withheld' }]);
  await until(() => isWell(app.url));
  expect(app.report()).toEqual({ deaths: 1, survived: 0 });
  app.look([{ state: 'healthy' }, { state: 'gone' }]);
  await until(() => app.report().survived === 1);
  expect(lines).toEqual([expect.stringMatching(/^app dies/), 'app is back']);
  ending.abort();
  await over;
});

test('whoever ends the demo while it is dead brings it back, so that nothing lapses meanwhile', async () => {
  const ending = new AbortController();
  await using app = await startDemoApp(screenInto([]), 0, 0);
  const over = app.run(ending.signal);
  await until(async () => !(await isWell(app.url)));
  ending.abort();
  await over;
  expect(await isWell(app.url)).toBe(true);
});

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generateLoad, plan, planSettings, resolveDefaults, type PlanResult } from '../../../../src/index.ts';
import { root } from '../../../support/optional.ts';

const FLAGS = ['--load', 'poisson', '--rate', '50', '--duration', '10m', '--performance', '10', '--json'];

test('--json prints one document, to the byte the same each time, and the library reckons the same', () => {
  const run = () =>
    spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), 'plan', ...FLAGS], {
      encoding: 'utf8',
      env: {},
    }).stdout;
  const text = run();
  expect(run()).toBe(text);
  const { plans, assumptions } = JSON.parse(text) as {
    readonly plans: readonly PlanResult[];
    readonly assumptions: readonly { readonly flag: string; readonly value: string }[];
  };
  const settings = planSettings({ performance: { least: 10, most: 10 } });
  const load = generateLoad({ shape: 'poisson', unitsPerSecond: 50, seconds: 600 });
  const { queueTime, work, cost } = plan({ parameters: resolveDefaults({}), settings }, load);
  expect(plans[0]).toMatchObject({ queueTime, work, cost });
  // JSON has no word for it.
  expect(plans[0]?.settings.giveUpSeconds).toBe('Infinity');
  expect(assumptions).toContainEqual(expect.objectContaining({ flag: '--give-up', value: 'never' }));
});

/** Each rule of steering, broken on purpose: what is asked of the worlds notices. */
import { expect, test } from 'vitest';
import { BROKEN, RECKLESS } from './broken.ts';
import type { Kind } from './world.ts';
import { PATIENCE_MS, tally } from './worlds.ts';

test.each<[keyof typeof BROKEN, Kind, readonly number[], RegExp]>([
  ['no rollback', 'truthful', [4], /cost [\d.]+ of the twin's/],
  ['no trial', 'truthful', [14], /it saved nothing in six hours/],
  // Six hours pass by the trial alone; what nobody waits for any more is the day after a rollback.
  ['no pause', 'truthful', [4], /within a day of a rollback/],
  ['no backtest gate', 'lies', [4], /whose backtest did not hold/],
  ['factor 10', 'truthful', [4], /is too far/],
])('%s is noticed', { timeout: PATIENCE_MS }, async (name, kind, seeds, what) => {
  const { broken, foreseen, unseen } = await tally(seeds, BROKEN[name], kind);
  expect([...broken, ...foreseen.worse, ...unseen.worse].join('\n')).toMatch(what);
});

test('advice that does harm is taken back within the hour', { timeout: PATIENCE_MS }, async () => {
  const { broken, foreseen, unseen } = await tally([4], RECKLESS, 'truthful');
  expect([...broken, ...foreseen.worse, ...unseen.worse]).toEqual([]);
});

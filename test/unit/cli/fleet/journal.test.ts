import { expect, test } from 'vitest';
import { journalText } from '../../../../src/cli/autotune/journal.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import { decide } from '../../../../src/scaling/autotune/decide.ts';
import { NEVER_STEERED } from '../../../../src/scaling/autotune/state.ts';
import { endpointView, fleetView } from '../../../support/recorded-fleet.ts';
import { NOON, PARAMETERS, seenOf } from '../../../support/steering.ts';

const SETTINGS = { endpoints: [{ by: 'all' as const }], fleetInterval: 15_000, budgetPerHour: undefined };

function endpoints(isSteered: boolean) {
  const { change } = decide({ ...NEVER_STEERED, baseline: PARAMETERS }, seenOf()).state;
  const steering = {
    holds: 'a change is being sent',
    pausedUntilMs: NOON,
    wanted: {},
    journal: change ? [change] : [],
  };
  return fleetStatus(fleetView([endpointView(isSteered ? { steering } : {})]), SETTINGS).endpoints;
}

test('each change is told: when, what, why, what was expected, what came', () => {
  expect(journalText(endpoints(true))).toBe(
    [
      'chat: now: a change is being sent',
      `${new Date(NOON).toISOString().slice(0, 16).replace('T', ' ')} UTC  target_util 0.9 → 0.8, cold_workers 5 → 4`,
      '  why       cheaper (cold_workers 4 is as far as one step goes)',
      '  expected  cost an hour 10.00 → 8.00 (95% between 8.00 and 8.00); p99 wait 3 s as modelled, limit 5 s; the backtest was off by 4%',
      '  came      it is being sent',
    ].join('\n'),
  );
});

test('where nothing is steered there is no journal', () => {
  expect(journalText(endpoints(false))).toBeUndefined();
});

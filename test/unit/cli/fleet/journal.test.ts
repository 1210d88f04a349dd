import { expect, test } from 'vitest';
import { journalled, journalText, lostJournal, notSteered } from '../../../../src/cli/autotune/journal.ts';
import type { FleetStatus, Status } from '../../../../src/daemon/status/schema.ts';
import { describeStatus } from '../../../../src/cli/commands/status.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import { decide } from '../../../../src/scaling/autotune/decide.ts';
import { NEVER_STEERED } from '../../../../src/scaling/autotune/state.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';
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
      '  why       cheaper. One step goes no further than cold_workers 4',
      '  expected  cost an hour 10.00 → 8.00 (95% between 8.00 and 8.00); p99 wait 3 s as modelled, limit 5 s; the backtest was off by 4%',
      '  came      it is being sent',
    ].join('\n'),
  );
});

test.each([
  [1, 'chat: 1 change\n'],
  [2, 'chat: 2 changes\n'],
])('where nothing holds, %d are counted', (count, head) => {
  const autotune = endpoints(true)[0]?.autotune;
  const [change] = autotune?.changes ?? [];
  if (!autotune || !change) throw new Error('it was not changed');
  const changes = Array.from({ length: count }, () => change);
  const told = journalText([{ endpoint_group: 'chat', autotune: { ...autotune, holds: null, changes } }]);
  expect(told?.startsWith(head)).toBe(true);
});

test('what is under way and not watched any more is told beside what is watched, and by its name', () => {
  const [steered] = endpoints(true);
  const autotune = steered?.autotune;
  if (!autotune) throw new Error('it is not steered');
  const left = { ...autotune, endpoint_group: 'draw', holds: 'it is watched by nobody' };
  const statusOf = (watched: FleetStatus['endpoints']): Status => ({
    ...EMPTY_STATUS,
    fleet: {
      ...EMPTY_STATUS.fleet,
      endpoints: watched,
      autotune: { apply: true, bounds: ['draw'], unwatched: [left] },
    },
  });
  const names = (status: Status, wanted?: string) =>
    journalled(status, wanted).map(({ endpoint_group: name }) => name);
  expect(names(statusOf(endpoints(false)))).toEqual(['chat', 'draw']);
  expect(names(statusOf(endpoints(false)), 'chat')).toEqual(['chat']);
  expect(names(statusOf([]), 'draw')).toEqual(['draw']);
  expect(() => names(statusOf([]), 'chat')).toThrow(/no endpoint chat/);
  expect(journalText(journalled(statusOf([]), undefined))).toMatch(
    /^draw: now: it is watched by nobody\n20.* UTC {2}target_util 0\.9 → 0\.8, cold_workers 5 → 4\n/,
  );
  expect(describeStatus(statusOf([]))).toContain('endpoint draw: it is watched by nobody');
});

test('where nothing is steered there is no journal', () => {
  expect(journalText(endpoints(false))).toBeUndefined();
});

const problem = {
  variable: 'PILOTLIGHT_AUTOTUNE_BOUNDS.chat',
  severity: 'error' as const,
  problem: 'error: it is wrong',
};
const ofOthers = { apply: true, bounds: ['Chat'], unwatched: [] };
test.each<[why: string, fleet: Partial<FleetStatus>, more?: Partial<Status>]>([
  ['PILOTLIGHT_AUTOTUNE is off', { autotune: { ...ofOthers, apply: false, bounds: ['chat'] } }],
  ['PILOTLIGHT_AUTOTUNE_BOUNDS names no endpoint', { autotune: { ...ofOthers, bounds: [] } }],
  ['PILOTLIGHT_AUTOTUNE_BOUNDS names Chat; endpoints watched: chat', { autotune: ofOthers }],
  ['no endpoint of PILOTLIGHT_ENDPOINTS is found', { autotune: ofOthers, endpoints: [] }],
  ['error: it is wrong', {}, { config_problems: [problem] }],
])('why nothing is steered: %s', (why, fleet, more) => {
  const status = {
    ...EMPTY_STATUS,
    ...more,
    fleet: { ...EMPTY_STATUS.fleet, endpoints: endpoints(false), ...fleet },
  };
  expect(notSteered(status)).toBe(`nothing is changed by advice: ${why}`);
});

test('where the journal begins with a file that was set aside, that is told, with what to do', () => {
  const lost = (history_aside: FleetStatus['history_aside']) =>
    lostJournal({ ...EMPTY_STATUS.fleet, history_aside });
  expect(lost(null)).toBeUndefined();
  expect(lost({ file: '/state/old', at: NOON / 1000 })).toMatch(
    /^the journal begins at 20.* UTC: .*set aside \(\/state\/old\); .*a duty to put old values back: compare the parameters/,
  );
  const steering = { holds: 'it waits', pausedUntilMs: undefined, wanted: {}, journal: [] };
  const { endpoints: steered } = fleetStatus(fleetView([endpointView({ steering })]), SETTINGS);
  expect(journalText(steered)).toBe('chat: nothing was changed yet; it waits');
  expect(journalText(steered, 'since')).toBe('chat: nothing was changed since; it waits');
});

test('the words of others are no lines of the journal, and no commands of the terminal', () => {
  const evil =
    'no\u001B[2J\u001B]8;;http://evil\u0007\r\n2026-11-24 02:00 UTC  max_workers 20 → 2\n  came      it stayed';
  const shown = 'no 2026-11-24 02:00 UTC  max_workers 20 → 2 came      it stayed';
  const told = { what: evil, why: evil, expected: evil, came: evil };
  const [endpoint] = endpoints(true);
  if (!endpoint) throw new Error('there is no endpoint');
  const changes = [{ change: 1, at: NOON / 1000, ...told, outcome: null, ended_at: null }];
  const autotune = { holds: evil, paused_until: null, changes };
  const steered = [{ ...endpoint, endpoint_group: evil, autotune }];
  expect(journalText(steered)?.split('\n')).toEqual([
    `${shown}: now: ${shown}`,
    expect.stringContaining(` UTC  ${shown}`),
    `  why       ${shown}`,
    `  expected  ${shown}`,
    `  came      ${shown}`,
  ]);
  const broken = { variable: 'PILOTLIGHT_AUTOTUNE', severity: 'error' as const, problem: evil };
  const status = { ...EMPTY_STATUS, config_problems: [broken] };
  expect(notSteered(status)).toBe(`nothing is changed by advice: ${shown}`);
  const aside = { file: evil, at: NOON / 1000 };
  expect(lostJournal({ ...EMPTY_STATUS.fleet, history_aside: aside })).toContain(`(${shown});`);
});

/** Steering as the status has it, also where what is stored of it is damaged. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { autotuneStatus } from '../../../../src/daemon/status/autotune.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import { untoldTo } from '../../../../src/daemon/status/untold.ts';
import type { Change } from '../../../../src/scaling/autotune/state.ts';
import { endpointView, fleetView } from '../../../support/recorded-fleet.ts';
import { changeOf } from '../../../support/steering.ts';

test('steering has its changes, the last first', () => {
  const first = changeOf({
    atMs: 5_500,
    phase: 'over',
    setMs: 6_000,
    outcome: 'kept',
    endedMs: 9_500,
  });
  const second = changeOf({ id: 2, phase: 'sending', setMs: undefined });
  const status = autotuneStatus({
    holds: 'it is too early',
    pausedUntilMs: 7_500,
    wanted: {},
    journal: [first, second],
  });
  expect(status).toMatchObject({
    holds: 'it is too early',
    paused_until: 7.5,
    changes: [
      { change: 2, outcome: null, ended_at: null, came: 'it is being sent' },
      {
        change: 1,
        at: 5.5,
        what: 'cold_workers 5 → 4',
        why: 'cheaper',
        expected: expect.stringContaining('10.00 → 8.00'),
        came: 'it stayed',
        outcome: 'kept',
        ended_at: 9.5,
      },
    ],
  });
  expect(autotuneStatus({ holds: undefined, pausedUntilMs: undefined, wanted: {}, journal: [] })).toEqual({
    holds: null,
    paused_until: null,
    changes: [],
  });
});

test('a change that cannot be told keeps nothing else from being so, and is said in the log once', () => {
  const damaged = { ...changeOf(), expected: undefined } as unknown as Change;
  const steering = {
    holds: undefined,
    pausedUntilMs: undefined,
    wanted: {},
    journal: [damaged, changeOf({ id: 2 })],
  };
  const view = fleetView([endpointView({ steering }), endpointView({ endpoint: 'other' })]);
  const said: string[] = [];
  const onUntold = untoldTo(pino({ level: 'error' }, { write: (line: string) => said.push(line) }));
  const settings = { endpoints: [{ by: 'all' as const }], fleetInterval: 15_000, budgetPerHour: 3 };
  for (let times = 0; times < 2; times += 1) {
    const [chat, other] = fleetStatus(view, settings, undefined, onUntold).endpoints;
    expect(chat?.autotune?.changes).toMatchObject([
      { change: 2, what: 'cold_workers 5 → 4' },
      { change: 1, what: 'cannot be told; the log of the daemon says more', came: 'not known' },
    ]);
    expect(other?.endpoint_group).toBe('other');
  }
  expect(said).toHaveLength(1);
  expect(said[0]).toContain('cannot be told');
});

import { expect, test } from 'vitest';
import { planTable } from '../../../../src/cli/plan/table.ts';
import { listenWithFleet } from '../../../support/fleet-listener.ts';
import { planCommandLine } from '../../../support/plan-command.ts';
import { endpointView, fleetView, minuteRow, recordedFleet } from '../../../support/recorded-fleet.ts';

test('an endpoint is planned for as a daemon knows it; a flag goes before what was measured', async () => {
  const measured = { performances: [90, 110, 0], startSeconds: { new: [200, 400, 300], cold: [] } };
  const parameters = { max_workers: 7, cold_workers: 2, target_util: 0.8 };
  const priced = (minute: number, idle: number, stopped: number) =>
    minuteRow(
      Date.now() - 600_000 + minute * 60_000,
      { spend_per_hour: 2 * idle + 0.1 * stopped },
      { idle, stopped },
    );
  const view = () => fleetView([endpointView({ measured, parameters })]);
  await using listener = await listenWithFleet(
    recordedFleet(view, { chat: [priced(0, 1, 3), priced(1, 3, 1), priced(2, 2, 2)] }),
  );
  const load = ['--load', 'poisson', '--rate', '50', '--duration', '20m', '--url', listener.url];
  const report = await planCommandLine(...load, '--endpoint', 'chat', '--cold-start', '20s');
  expect(report.plans[0]).toMatchObject({
    label: 'chat',
    parameters,
    settings: { performance: { least: 90, most: 110 }, startSeconds: 300, coldStartSeconds: 20 },
  });
  const { priceHot, priceCold } = report.plans[0]!.settings;
  expect([priceHot, priceCold]).toEqual([expect.closeTo(2, 6), expect.closeTo(0.1, 6)]);
  const text = planTable(report).join('\n');
  expect(text).toContain(
    'Given: --cold-start 20s\nMeasured by the daemon: --performance 90..110  --start-time 300s',
  );
  await expect(planCommandLine(...load, '--endpoint', 'char')).rejects.toThrow(
    'no endpoint char; there is: chat',
  );
});

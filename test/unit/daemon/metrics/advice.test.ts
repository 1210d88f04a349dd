/** Metrics and status of advice. */
import { expect, test } from 'vitest';
import { createMetrics } from '../../../../src/daemon/metrics/metrics.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import type { Status } from '../../../../src/daemon/status/schema.ts';
import type { FleetView } from '../../../../src/fleet/view.ts';
import type { Advice } from '../../../../src/scaling/advice/advice.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';
import { expositionOf } from '../../../support/exposition.ts';
import { givenAdvice, prediction } from '../../../support/given-advice.ts';
import { endpointView, fleetView } from '../../../support/recorded-fleet.ts';

const SETTINGS = { endpoints: [], fleetInterval: 15_000, budgetPerHour: undefined };

function fleetOf(advice: Advice | undefined, over: Partial<FleetView> = {}): Status['fleet'] {
  return fleetStatus(fleetView([endpointView()], over), SETTINGS, () => advice);
}

async function seriesOf(fleet: Status['fleet']): Promise<string[]> {
  const metrics = createMetrics((): Status => ({ ...EMPTY_STATUS, fleet }), []);
  const text = await expositionOf(metrics);
  return text.split('\n').filter((line) => line.startsWith('pilotlight_advice_'));
}

test('an advice says what it would save, how far the model was off, and when', async () => {
  const advice = givenAdvice();
  expect(await seriesOf(fleetOf(advice))).toEqual([
    'pilotlight_advice_gain_ratio{endpoint_group="chat"} 0.25',
    'pilotlight_advice_backtest_error_ratio{endpoint_group="chat"} 0.04',
    `pilotlight_advice_last_success_timestamp_seconds{endpoint_group="chat"} ${advice.atMs / 1000}`,
  ]);
});

test('what is kept saves nothing; what is dearer saves less than nothing', async () => {
  const kept = givenAdvice({ verdict: 'keep', best: prediction(1, 2, 0.6) });
  expect((await seriesOf(fleetOf(kept)))[0]).toBe('pilotlight_advice_gain_ratio{endpoint_group="chat"} 0');
  const dearer = givenAdvice({ verdict: 'dearer', best: prediction(1.5, 2, 0.4) });
  expect((await seriesOf(fleetOf(dearer)))[0]).toBe(
    'pilotlight_advice_gain_ratio{endpoint_group="chat"} -0.5',
  );
});

test('declined, there is no gain, and the backtest says how far it was off', async () => {
  const declined = givenAdvice({
    verdict: 'declined',
    today: undefined,
    best: undefined,
    backtest: { errorRatio: 0.6, held: false },
  });
  expect(await seriesOf(fleetOf(declined))).toMatchObject([
    'pilotlight_advice_backtest_error_ratio{endpoint_group="chat"} 0.6',
    expect.stringContaining('last_success'),
  ]);
  expect(fleetOf(declined).endpoints[0]?.advice).toMatchObject({ gain_ratio: null, parameters: {} });
});

test('before the first there is a time of zero, and nothing of what another replica looks at', async () => {
  expect(await seriesOf(fleetOf(undefined))).toEqual([
    'pilotlight_advice_last_success_timestamp_seconds{endpoint_group="chat"} 0',
  ]);
  expect(fleetOf(undefined).endpoints[0]?.advice).toBeNull();
  expect(await seriesOf(fleetOf(givenAdvice(), { samples: false }))).toEqual([]);
});

test('the status has the sentence and the advised set', () => {
  expect(fleetOf(givenAdvice()).endpoints[0]?.advice).toMatchObject({
    verdict: 'change',
    limit_seconds: 5,
    sentence: expect.stringContaining('as modelled') as string,
    parameters: { target_util: 0.8, cold_workers: 5 },
  });
});

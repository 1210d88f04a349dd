/** Advice that nobody looks at before it is carried out. */
import { expect, test } from 'vitest';
import { advise } from '../../../../src/scaling/advice/advise.ts';
import { RecordedLoad } from '../../../../src/scaling/planner/load/load.ts';
import { Simulation } from '../../../../src/scaling/planner/model/simulation.ts';
import { planSettings } from '../../../../src/scaling/planner/settings.ts';
import { recordedEndpoint } from '../../../support/recorded-endpoint.ts';

const LIMIT_SECONDS = 60;
const COLD_START_SECONDS = 30;
const DELAYS = { scaleDownSeconds: 60, loadWindowSeconds: 60 };
const RECORDED = recordedEndpoint(3);

/** Two minutes in each twenty, of four requests a second. */
const TRACE = RecordedLoad.of(
  Array.from({ length: 9 }, (_, burst) =>
    Array.from({ length: 240 }, (_unused, index) => ({ atSeconds: burst * 1200 + index / 2, work: 80 })),
  ).flat(),
);

/** p99 of the advised set, seconds, where a start takes twice as long as it was measured to. */
async function slowly(isCautious: boolean): Promise<number> {
  const report = await advise(
    RECORDED,
    { nowMs: 0, limitSeconds: LIMIT_SECONDS, requestSize: 80, assumed: DELAYS },
    {
      trace: TRACE,
      isCautious,
      bounds: { target_util: [0.5, 0.5], cold_workers: [2, 2], cold_mult: [1, 1] },
    },
  );
  expect(report.sentence).toContain('cheaper');
  const parameters = { ...RECORDED.parameters, ...report.best?.parameters };
  const settings = planSettings({
    performance: { least: 100, most: 100 },
    coldStartSeconds: 2 * COLD_START_SECONDS,
    startSeconds: 600,
    initialWorkers: 3,
  });
  const simulation = new Simulation({ parameters, settings, series: false });
  TRACE.replay((atSeconds, work) => simulation.arrive(atSeconds, work));
  return simulation.finish(TRACE.seconds).queueTime.p99;
}

test('keeps the limit should starts take twice as long, which other advice need not', async () => {
  expect(await slowly(true)).toBeLessThanOrEqual(LIMIT_SECONDS);
  expect(await slowly(false)).toBeGreaterThan(LIMIT_SECONDS);
});

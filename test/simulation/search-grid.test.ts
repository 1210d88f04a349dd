/** No set of the grid that keeps the limit is cheaper by more than a fiftieth. `npm run test:long` tries all of the grid. */
import { expect, test } from 'vitest';
import { openTrace } from '../../src/cli/plan/trace.ts';
import { RecordedLoad } from '../../src/scaling/planner/load.ts';
import {
  pointOf,
  SEARCH_AXES,
  searchParameters,
  searchSpace,
} from '../../src/scaling/planner/search/search.ts';
import { runTrial } from '../../src/scaling/planner/search/trial.ts';
import { isLong } from '../support/long.ts';
import { describeWithRealData, realData } from '../support/real-data.ts';
import { scenarioOf } from '../support/plans.ts';

const [LIMITS, EVERY] = isLong ? [[1, 5, 30], 1] : [[5], 40];

describeWithRealData('under an hour of a real LLM service', () => {
  test.each(LIMITS)(
    'p99 at most %i s',
    async (limitSeconds) => {
      // A token read counts a tenth of one written, on workers of 250 units/s.
      const weight = new Map([
        ['ContextTokens', 0.1],
        ['GeneratedTokens', 1],
      ]);
      const { arrivals } = await openTrace(`${realData}azure-llm-2023-conv.csv`, { weight });
      const loads = [await RecordedLoad.from(arrivals)];
      const { parameters: base, settings } = scenarioOf({}, { speed: 250 });
      const space = searchSpace(base, settings.performance);
      let grid = [pointOf(base)];
      for (const axis of SEARCH_AXES)
        grid = grid.flatMap((point) =>
          space[axis].map((value) => Object.assign({}, point, { [axis]: value })),
        );
      const { best } = await searchParameters({ base, settings, loads, p99LimitSeconds: limitSeconds });
      const mostCost = best ? best.cost / 1.02 : Infinity;
      const cheaper = grid.filter((point, index) => {
        if (index % EVERY > 0) return false;
        const trial = { parameters: { ...base, ...point }, limitSeconds, mostCost, sampled: false };
        const { end, p99Seconds } = runTrial({ settings, loads }, trial);
        return end === 'whole' && p99Seconds <= limitSeconds;
      });
      expect(cheaper).toEqual([]);
    },
    3_600_000,
  );
});

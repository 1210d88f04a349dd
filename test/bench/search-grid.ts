/**
 * The search against all sets of its space, on an hour whose peak is ten times its mean: how much dearer its result is,
 * and how many times less CPU it takes. Trying all sets stops a trial as soon as it costs more than the cheapest so far.
 * Run: node test/bench/search-grid.ts
 */
import { generateLoad, RecordedLoad } from '../../src/scaling/planner/load.ts';
import { searchParameters, searchSpace, type SearchPoint } from '../../src/scaling/planner/search/search.ts';
import { runTrial } from '../../src/scaling/planner/search/trial.ts';
import { planSettings } from '../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../src/scaling/rules/check.ts';
import { ensure, report } from './figures.ts';

const LIMIT_SECONDS = 5;
const base = resolveDefaults({ max_workers: 16 });
const settings = planSettings({ performance: { least: 10, most: 10 }, startSeconds: 200 });
const load = RecordedLoad.of(
  generateLoad({
    shape: 'bursts',
    burstRatio: 18,
    burstEverySeconds: 500,
    burstSeconds: 45,
    unitsPerSecond: 12,
    unitsPerRequest: 2,
    seconds: 3600,
  }),
);

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function grid(): SearchPoint[] {
  const space = searchSpace(base, settings.performance);
  return space.target_util.flatMap((target_util) =>
    space.cold_mult.flatMap((cold_mult) =>
      space.cold_workers.flatMap((cold_workers) =>
        space.min_load.map((min_load) => ({ target_util, cold_mult, cold_workers, min_load })),
      ),
    ),
  );
}

const request = { base, settings, loads: [load], p99LimitSeconds: LIMIT_SECONDS };
// Once to warm up, as the grid is by its size.
await searchParameters(request);
const began = cpuSeconds();
const { best } = await searchParameters(request);
const searchSeconds = cpuSeconds() - began;
if (!best) throw new Error('the search found nothing');

const endless = { limitSeconds: Infinity, mostCost: Infinity, sampled: false };
const points = grid();
const named = runTrial({ settings, loads: [load] }, { ...endless, parameters: { ...base, ...best } });
ensure(
  Math.abs(named.cost / best.cost - 1) < 1e-9,
  `the cost that the search names, ${best.cost}; it is ${named.cost}`,
);
ensure(named.p99Seconds <= LIMIT_SECONDS, `what it names keeps the limit; its p99 is ${named.p99Seconds} s`);
let cheapest = Infinity;
const gridBegan = cpuSeconds();
for (const point of points) {
  const trial = {
    ...endless,
    limitSeconds: LIMIT_SECONDS,
    mostCost: cheapest,
    parameters: { ...base, ...point },
  };
  const { end, cost, p99Seconds } = runTrial({ settings, loads: [load] }, trial);
  if (end === 'whole' && p99Seconds <= LIMIT_SECONDS) cheapest = Math.min(cheapest, cost);
}
const gridSeconds = cpuSeconds() - gridBegan;
const note = `${points.length} sets, ${load.length} requests, p99 at most ${LIMIT_SECONDS} s`;
report('search-excess', (best.cost / cheapest - 1) * 100, note);
report(
  'search-faster',
  gridSeconds / searchSeconds,
  `${searchSeconds.toFixed(2)} s of CPU against ${gridSeconds.toFixed(0)} s`,
);

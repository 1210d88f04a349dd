/** The search that search.ts measures, in its own process: one line of JSON. */
import { peakMebibytes } from '../../src/daemon/advice/peak-memory.ts';
import { openRunner } from '../../src/scaling/parallel/thread-runner.ts';
import { RateLoad } from '../../src/scaling/planner/load/rate-load.ts';
import { searchParameters } from '../../src/scaling/planner/search/search.ts';
import { planSettings } from '../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../src/scaling/rules/check.ts';

const DAYS = 7;
const PER_DAY = 1_700_000;
const UNITS = 100;

/** Days with a night, a weekend that is quieter, and twelve minutes of twice the load every few hours. */
function rateAt(minute: number): number {
  const hour = (minute % 1440) / 60;
  const weekend = Math.floor(minute / 1440) >= 5 ? 0.6 : 1.1;
  const burst = minute % 397 < 12 ? 1.9 : 1;
  return (
    ((PER_DAY * UNITS) / 86_400) * weekend * burst * (1 - 0.75 * Math.cos((2 * Math.PI * (hour - 3)) / 24))
  );
}

const unitsPerSecond = new Float32Array(new SharedArrayBuffer(DAYS * 1440 * 4)).map((_, minute) =>
  rateAt(minute),
);
const load = new RateLoad({
  unitsPerSecond,
  stepSeconds: 60,
  unitsPerRequest: UNITS,
  sizes: 'exponential',
  seed: 1,
});
const began = performance.now();
const { best, tried, givenUp } = await searchParameters(
  {
    base: resolveDefaults({ max_workers: 100 }),
    settings: planSettings({ performance: { least: 100, most: 100 } }),
    loads: [load],
    p99LimitSeconds: 5,
  },
  { openRunner },
);
const { user, system } = process.cpuUsage();
const searched = {
  seconds: (performance.now() - began) / 1000,
  cpuSeconds: (user + system) / 1e6,
  mib: peakMebibytes(),
  requests: load.length,
  sets: tried.length + givenUp,
  best,
};
process.stdout.write(`${JSON.stringify(searched)}\n`);

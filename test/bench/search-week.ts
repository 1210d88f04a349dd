/** The advice that search.ts measures, asked for as the daemon asks: one line of JSON. */
import { computeInChild } from '../../src/daemon/advice/compute.ts';
import { createRandom, exponential } from '../../src/scaling/planner/load/random.ts';
import { planSettings } from '../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../src/scaling/rules/check.ts';
import { Endpoint } from '../simulation/steering/endpoint.ts';
import { packedRecorded } from '../support/recorded-endpoint.ts';

const DAYS = 7;
const MINUTES = DAYS * 1440;
const PER_DAY = 1_700_000;
const UNITS = 100;
const PERFORMANCE = 100;

const parameters = resolveDefaults({ max_workers: 120, cold_workers: 40, target_util: 0.6 });
const settings = planSettings({ performance: { least: PERFORMANCE, most: PERFORMANCE } });

/** Of requests, a second. Days with a night, a weekend that is quieter, and twelve busier minutes every few hours. */
function rateAt(minute: number): number {
  const hour = (minute % 1440) / 60;
  const weekend = Math.floor(minute / 1440) >= 5 ? 0.6 : 1.1;
  const burst = minute % 397 < 12 ? 1.9 : 1;
  return (PER_DAY / 86_400) * weekend * burst * (1 - 0.75 * Math.cos((2 * Math.PI * (hour - 3)) / 24));
}

const random = createRandom(1);
const endpoint = new Endpoint(parameters, settings, { capacity: 1 });
let requests = 0;
const stretches = Array.from({ length: MINUTES }, (_, minute) => {
  const gap = 1 / rateAt(minute);
  for (let at = exponential(random, gap); at < 60; at += exponential(random, gap)) {
    endpoint.arrive(minute * 60 + at, exponential(random, UNITS));
    requests += 1;
  }
  return endpoint.endMinute((minute + 1) * 60).stretch;
});
const recorded = {
  endpoint: 'chat',
  stretches,
  starts: endpoint.starts,
  performances: Array.from({ length: 20 }, () => PERFORMANCE),
  parameters,
};
const wishes = { nowMs: MINUTES * 60_000, limitSeconds: 5, requestSize: UNITS };
const began = performance.now();
const question = { recorded: packedRecorded(recorded), wishes };
const { report, mebibytes } = await computeInChild(question, AbortSignal.timeout(600_000));
const seconds = (performance.now() - began) / 1000;
const { verdict, sentence, tried, load } = report;
process.stdout.write(
  `${JSON.stringify({ seconds, mebibytes, verdict, sentence, tried, requests, planned: load.requests })}\n`,
);

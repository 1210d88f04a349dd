/**
 * 10,000 deployments whose TTLs the service's list tells. Run: node test/bench/many-deployments.ts [seconds]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { deploymentBooks, scrape } from './books.ts';
import { report } from './figures.ts';
import { copyProgram, cpuPercent, secondsArgument, startEmulatorProcess, startProgram } from './processes.ts';

const SECONDS = secondsArgument(300);
const COUNT = 10_000;
const TTL_S = 60;
const IDS = Array.from({ length: COUNT }, (_, index) => index + 1);

using node = copyProgram(process.execPath);
await using emulator = await startEmulatorProcess({
  deployments: IDS.map((id) => ({ id, ttl: TTL_S })),
});
await using program = await startProgram(node, {
  ...emulator.settings,
  DEPLOYMENTS: IDS.join(','),
});
const settleMs = Math.min(20_000, SECONDS * 200);
await delay(settleMs);
const cpu = await cpuPercent(program, () => delay(SECONDS * 1_000 - settleMs));
const { mb } = program.memory();
const text = await scrape(program);
const books = await deploymentBooks(emulator, { seconds: SECONDS, ttlSeconds: TTL_S });
report(
  'many-lapses',
  books.lapses,
  `${COUNT} deployments, ${SECONDS} s, closest approach ${books.closestSeconds.toFixed(0)} s`,
);
const lag = lagQuantileMs(text, 0.99);
report(
  'many-lag',
  lag.ms,
  lag.beyond ? 'or more: it is in the last bucket of the histogram' : 'upper end of the histogram bucket',
);
report('many-memory', mb, `of it the heart ${program.heartMemory().anonymousMb.toFixed(0)} MB anonymous`);
report('many-cpu', cpu);

/** From the histogram that the daemon exposes: the upper end of the bucket, or `beyond` the last that has one. */
function lagQuantileMs(metrics: string, part: number): { readonly ms: number; readonly beyond: boolean } {
  const bucket = /^pilotlight_heartbeat_scheduling_lag_seconds_bucket\{le="([\d.]+)"\} (\d+)$/gm;
  const buckets = [...metrics.matchAll(bucket)].map(([, le, count]) => ({
    ms: Number(le) * 1000,
    count: Number(count),
  }));
  const total = Number(/^pilotlight_heartbeat_scheduling_lag_seconds_count (\d+)$/m.exec(metrics)?.[1]);
  const found = buckets.find(({ count }) => count >= total * part);
  return { ms: (found ?? buckets.at(-1))?.ms ?? Number.NaN, beyond: found === undefined };
}

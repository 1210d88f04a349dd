/** 10,000 deployments in one process. Run: node test/bench/many-deployments.ts [seconds] [deployments] */
import { setTimeout as delay } from 'node:timers/promises';
import { report } from './figures.ts';
import { secondsArgument, startBenchDaemon, startEmulatorProcess } from './processes.ts';

const SECONDS = secondsArgument(300);
const COUNT = Number(process.argv[3] ?? 10_000);
const TTL_S = 60;
const IDS = Array.from({ length: COUNT }, (_, index) => index + 1);
/** How many may be asked of the service at the start before the emulator's own TTL runs. */
await using emulator = await startEmulatorProcess({
  deployments: IDS.map((id) => ({ id, ttl: TTL_S })),
});
await using daemon = await startBenchDaemon({
  API_KEY: emulator.apiKey,
  BASE_URL: emulator.url,
  DEPLOYMENT_TTL: `${TTL_S}s`,
  DEPLOYMENTS: IDS.join(','),
});
await delay(Math.min(20_000, SECONDS * 200));
const [cpuBefore, from] = [daemon.cpuSeconds(), performance.now()];
await delay(SECONDS * 1000 - Math.min(20_000, SECONDS * 200));
const cpu = ((daemon.cpuSeconds() - cpuBefore) / (performance.now() - from)) * 100_000;
const { rssMb } = daemon.memory();
const text = await (await fetch(`${daemon.url}/metrics`)).text();
const state = await fetch(`${emulator.url}/_emulator/state`);
const { deployments } = (await state.json()) as { deployments: { lapses: number; minMarginMs: number }[] };
const closest = Math.min(...deployments.map(({ minMarginMs }) => minMarginMs)) / 1000;
report(
  'many-lapses',
  deployments.reduce((sum, { lapses }) => sum + lapses, 0),
  `${COUNT} deployments, ${SECONDS} s, closest approach ${closest.toFixed(0)} s`,
);
report('many-lag', lagQuantileMs(text, 0.99), 'upper end of the histogram bucket');
report('many-rss', rssMb);
report('many-cpu', cpu);

/** From the histogram that the daemon exposes. */
function lagQuantileMs(metrics: string, part: number): number {
  const bucket = /^pilotlight_heartbeat_scheduling_lag_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm;
  const buckets = [...metrics.matchAll(bucket)].map(([, le = '', count = '']) => [Number(le), Number(count)]);
  const total = Number(/^pilotlight_heartbeat_scheduling_lag_seconds_count (\d+)$/m.exec(metrics)?.[1]);
  const [seconds = Infinity] = buckets.find(([, count = 0]) => count >= total * part) ?? [];
  return seconds * 1000;
}

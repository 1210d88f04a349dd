/** What daemons say that loads mean, beside services whose workers report them in every way, with statuses that flicker or not. */
import { expect, test } from 'vitest';
import { startEmulator, type TraitsInput } from '../../../src/emulator/index.ts';
import { startTestDaemon, until } from '../../support/daemon.ts';

const SEED = {
  settings: { workerPerformanceLeast: 1000, workerPerformanceMost: 1000, instanceCreatedSeconds: 0 },
  instances: [501, 502].map((id) => ({
    id,
    machine_id: 11,
    dph_total: 0.4,
    statuses: [{ actual_status: 'running' as const }],
  })),
  workergroups: [{ id: 7, lines_per_second: 0, endpoint_id: 31, workers: [501, 502] }],
  endpoint_groups: [
    {
      id: 31,
      endpoint_name: 'chat',
      min_load: 1500,
      cold_workers: 0,
      max_workers: 2,
      load: { shape: 'poisson' as const, rate: 600, request_work: 150 },
    },
  ],
};
const LOADS = [
  'endpoint_load',
  'endpoint_load_in_flight',
  'endpoint_load_meaning',
  'endpoint_requests_working',
];

async function world(traits: TraitsInput, isDone: (metrics: string, because: string) => boolean) {
  await using emulator = await startEmulator({ dialect: 'public', seed: SEED, traits });
  await using daemon = await startTestDaemon({
    API_KEY: emulator.apiKey,
    BASE_URL: emulator.url,
    ENDPOINTS: 'chat',
    FLEET_INTERVAL: '5s',
  });
  const seen = new Set<string>();
  let metrics = '';
  await until(async () => {
    metrics = (await daemon.metrics())
      .split('\n')
      .filter((line) => LOADS.some((name) => line.startsWith(`pilotlight_${name}{`)))
      .join('\n');
    const [, meaning] = /meaning="([^"]*)",endpoint_group="chat"\} 1$/m.exec(metrics) ?? [];
    if (meaning === undefined) return false;
    seen.add(meaning);
    // A load is shown by what it means, and by nothing else.
    expect([meaning, metrics.includes('_endpoint_load{')]).toEqual([meaning, meaning === 'rate']);
    expect([meaning, metrics.includes('_load_in_flight{')]).toEqual([meaning, meaning === 'in flight']);
    expect(metrics).toContain('pilotlight_endpoint_requests_working{');
    return isDone(metrics, daemon.daemon.status().fleet.endpoints[0]?.load_because ?? '');
  });
  const all = await daemon.metrics();
  expect(all).toContain(`pilotlight_service_trait{trait="load_meaning",value="${traits.load_meaning}"} 1`);
  if (traits.status_flicker === 0) expect(all).not.toContain('trait="status_flicker"');
  expect(all).not.toMatch(/^pilotlight_endpoint_worker_errors_total\{.*\} [^0]/m);
  expect(all).not.toMatch(/^pilotlight_endpoint_worker_start_seconds_count\{.*\} [^0]/m);
  return [...seen];
}

const isKnown = (metrics: string) => !metrics.includes('meaning="unknown",endpoint_group="chat"} 1');

test.concurrent.for([
  ['in_flight', 0.3, ['unknown', 'in flight']],
  ['rate', 0, ['unknown', 'rate']],
  ['rate', 0.3, ['unknown', 'rate']],
  ['mixed', 0, ['unknown']],
] as const)(
  'workers that report %s and flicker with a probability of %d',
  { timeout: 180_000 },
  async ([load_meaning, status_flicker, expected], { expect: check }) => {
    const isMixed = load_meaning === 'mixed';
    const seen = await world({ load_meaning, status_flicker }, (shown, because) =>
      isMixed ? because.startsWith('its workers differ') : isKnown(shown),
    );
    check(seen).toEqual(expected);
  },
);

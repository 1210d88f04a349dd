/** What daemons say that loads mean, beside services whose workers report them in one way or the other, and flicker. */
import { expect, test } from 'vitest';
import { startEmulator, type TraitsInput } from '../../../src/emulator/index.ts';
import { serviceOf, startTestDaemon, until } from '../../support/daemon.ts';

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

/** What loads were said to mean, until that is known. */
async function world(traits: TraitsInput): Promise<string[]> {
  await using emulator = await startEmulator({ dialect: 'public', seed: SEED, traits });
  await using daemon = await startTestDaemon({
    ...serviceOf(emulator),
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
    return meaning !== 'unknown';
  });
  const all = await daemon.metrics();
  expect(all).toContain(`pilotlight_service_trait{trait="load_meaning",value="${traits.load_meaning}"} 1`);
  expect(all).not.toMatch(/^pilotlight_endpoint_worker_errors_total\{.*\} [^0]/m);
  expect(all).not.toMatch(/^pilotlight_endpoint_worker_start_seconds_count\{.*\} [^0]/m);
  return [...seen];
}

test.concurrent.for([
  ['in_flight', ['unknown', 'in flight']],
  ['rate', ['unknown', 'rate']],
] as const)('workers that report %s, and flicker', { timeout: 180_000 }, async ([load_meaning, expected]) => {
  expect(await world({ load_meaning, status_flicker: 0.3 })).toEqual(expected);
});

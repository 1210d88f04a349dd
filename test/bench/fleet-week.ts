/** A week of an endpoint in the emulator, on a clock that is moved on. Run: node test/bench/fleet-week.ts */
import { startEmulator } from '../../src/emulator/index.ts';
import { ensure, report } from './figures.ts';

const HOUR_MS = 3_600_000;
const HOURS = 7 * 24;
const LEAST_REQUESTS = 11e6;

await using emulator = await startEmulator({
  dialect: 'public',
  clock: { frozenAtMs: Date.UTC(2026, 0, 5) },
  seed: {
    endpoint_groups: [
      // 1.7 million requests a day.
      {
        id: 31,
        endpoint_name: 'chat',
        max_workers: 60,
        load: { shape: 'diurnal', rate: 1_968, request_work: 100 },
      },
    ],
    workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 0 }],
  },
});
const from = performance.now();
for (let hour = 0; hour < HOURS; hour += 1) await emulator.clock.advance(HOUR_MS);
const seconds = (performance.now() - from) / 1_000;
const { taken } = emulator.endpointGroups.get(31);
ensure(taken > LEAST_REQUESTS, `a week of 1.7 million requests a day; ${taken} were taken`);
report('fleet-week', seconds, `${(taken / 1e6).toFixed(1)} million requests`);

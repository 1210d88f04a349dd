import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { createRandom } from '../../src/scaling/planner/load.ts';
import { OUTAGES, runCell, VENDOR, type CellResult } from '../support/outages.ts';

const TTL_MS = 20_000;
const OUTAGE_MS = 11_000;
/** Offsets of the outage for each kind: 66 hearts, and 220 in `npm run test:long -- test/alone/outages`. */
const OFFSETS = Number(process.env['OUTAGE_OFFSETS'] ?? 6);
const SEED = Number(process.env['OUTAGE_SEED'] ?? Date.now() % 1_000_000);
/** The vendor's interval: an outage may begin anywhere in it. */
const LATEST_OFFSET_MS = TTL_MS / 2;
const START_SPREAD_MS = 4_000;

// Real sockets and real time: all cells at once, so that the whole takes as long as one.
describe('one outage of 11 s with a TTL of 20 s', () => {
  test(`loses nothing that had a window, whatever its kind and wherever it falls (seed ${SEED})`, async () => {
    const random = createRandom(SEED);
    const cells = Object.entries(OUTAGES).flatMap(([kind, outage], row) =>
      Array.from({ length: OFFSETS }, (_, column) => ({ kind, outage, id: 1 + row * OFFSETS + column })),
    );
    await using emulator = await startEmulator({
      seed: {
        deployments: cells.flatMap(({ id }) =>
          [id, id + VENDOR].map((each) => ({ id: each, ttl: TTL_MS / 1000 })),
        ),
      },
    });
    const results = await Promise.all(
      cells.map(async ({ kind, outage, id }) => {
        const startInMs = (START_SPREAD_MS * id) / cells.length;
        const offsetMs = LATEST_OFFSET_MS * random();
        await delay(startInMs);
        const cell = { emulator, id, ttlMs: TTL_MS, outage, outageMs: OUTAGE_MS, offsetMs };
        const result: Row = Object.assign(await runCell(cell), { kind, offsetMs });
        return result;
      }),
    );
    process.stdout.write(table(results));
    // Where this process stood still for seconds, the outage was longer than it was meant to be.
    expect(results.filter(({ window }) => window !== undefined)).toEqual([]);
    const saved = results.filter(({ lapsed }) => !lapsed);
    expect(saved).not.toEqual([]);
    expect(saved.filter(({ state }) => state !== 'healthy')).toEqual([]);
    // Else the outages were none.
    for (const kind of Object.keys(OUTAGES))
      expect(
        results.some((result) => result.kind === kind && result.failures > 0),
        kind,
      ).toBe(true);
    expect(results.some(({ vendorLapsed }) => vendorLapsed)).toBe(true);
  });
});

type Row = CellResult & { readonly kind: string; readonly offsetMs: number };

function table(results: readonly Row[]): string {
  const rows = Object.entries(Object.groupBy(results, ({ kind }) => kind)).map(([kind, of = []]) => [
    kind,
    `${of.filter(({ lapsed }) => lapsed).length}/${of.length}`,
    `${of.filter(({ vendorLapsed }) => vendorLapsed).length}/${of.length}`,
    `${(Math.min(...of.map(({ minMarginMs }) => minMarginMs)) / 1000).toFixed(1)} s`,
  ]);
  const head = ['outage of 11 s, TTL 20 s', 'pilotlight lapsed', 'vendor SDK lapsed', 'closest approach'];
  return [head, ...rows]
    .map(
      (row) =>
        `${row
          .map((text) => text.padEnd(24))
          .join(' ')
          .trimEnd()}\n`,
    )
    .join('');
}

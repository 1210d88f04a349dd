/**
 * Sixteen days, or four weeks in `npm run test:long`, of an endpoint under a daily load, on a clock that jumps: the bill
 * of the watch against what the emulator charged. The emulator has no bandwidth; of a real bill the estimates lack that.
 */
import { expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { listCharges } from '../../../src/client/flows/lists.ts';
import type { Gate } from '../../../src/client/gate.ts';
import { billAnswer, type BillAnswer } from '../../../src/daemon/http/bill.ts';
import { startFleet } from '../../../src/daemon/services/fleet.ts';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../../src/emulator/index.ts';
import type { EndpointSpend } from '../../../src/spend/hours.ts';
import { dayOf } from '../../../src/spend/bill.ts';
import type { PriceSource } from '../../../src/fleet/watch.ts';
import { createInstancesWatch } from '../../../src/watch/account.ts';
import { collectedLog } from '../../support/collected-log.ts';
import { isLong } from '../../support/long.ts';
import { VirtualClock } from '../../support/log-time.ts';
import { settingsOf } from '../../support/settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const DAY_MS = 86_400_000;
/** The last one has another of its weekday before it. */
const DAYS = isLong ? 28 : 16;
const LOOK_MS = isLong ? 900_000 : 1_800_000;
/** A Thursday. */
const START = Date.UTC(2026, 0, 1);

const OPTIONS: EmulatorOptions = {
  dialect: 'public',
  clock: { frozenAtMs: START },
  settings: { engineDecisionSeconds: 60, workerModelLoadingSeconds: 300 },
  seed: {
    instances: [],
    workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 0, retained_lines: 10 }],
    endpoint_groups: [
      {
        id: 31,
        endpoint_name: 'chat',
        max_workers: 6,
        cold_workers: 2,
        load: { shape: 'diurnal', rate: 1_500, request_work: 20_000, peak_ratio: 6, seed: 3 },
      },
    ],
  },
};

/** A client of which is known when nothing is under way. */
function countedClient({ url: baseUrl, apiKey }: Emulator) {
  const underWay = { requests: 0 };
  const over = (): void => void (underWay.requests -= 1);
  const gate: Gate = {
    async enter() {
      underWay.requests += 1;
      return { answered: over, lost: over };
    },
  };
  async function settled(): Promise<void> {
    do await new Promise(setImmediate);
    while (underWay.requests > 0);
  }
  return { client: createClient({ baseUrl, apiKey, gate }), settled };
}

/** The prices of instances as the daemon has them, on this clock. */
function pricesOf(client: Client, clock: VirtualClock): PriceSource {
  const instances = createInstancesWatch(client);
  let listedAtMs: number | undefined;
  return {
    known: () => instances.prices(),
    listedAtMs: () => listedAtMs,
    refresh(isLacking) {
      if (!isLacking && listedAtMs !== undefined && clock.now() - listedAtMs < 600_000) return;
      void instances.run(AbortSignal.timeout(5_000)).then(() => (listedAtMs = clock.now()));
    },
  };
}

interface Weeks {
  readonly bill: BillAnswer;
  readonly spends: readonly EndpointSpend[];
  /** What was charged, dollars. */
  readonly truth: number;
}

/** In dollars, by another way than the bill's: all days in one question. */
async function charged(client: Client): Promise<number> {
  const { rows } = await listCharges(client, { from: START / 1000, to: START / 1000 + DAYS * 86_400 - 1 });
  return sum(rows.map(({ amount }) => amount));
}

async function watchWeeks(emulator: Emulator, directory: string): Promise<Weeks> {
  const clock = new VirtualClock(START);
  const { client, settled } = countedClient(emulator);
  await using _ = client;
  const settings = {
    ...settingsOf({ PILOTLIGHT_ENDPOINTS: 'chat', PILOTLIGHT_STATE_DIR: directory }),
    fleetInterval: LOOK_MS,
  };
  const begin = async () => {
    const watch = startFleet({
      client,
      settings,
      logger: collectedLog().logger,
      prices: pricesOf(client, clock),
      onEvent() {},
      onTraits() {},
      clock,
      isReplica: false,
    });
    await watch.apply(settings);
    return watch;
  };
  let watch = await begin();
  for (let at = 0; at < DAYS * DAY_MS; at += LOOK_MS) {
    // A restart in the middle loses nothing.
    if (at === (DAYS / 2) * DAY_MS) {
      await watch.stop();
      watch = await begin();
    }
    await emulator.clock.advance(LOOK_MS);
    await clock.advance(LOOK_MS);
    await settled();
  }
  // Into the next day, so that the last one is asked for once more.
  await emulator.clock.advance(DAY_MS / 3);
  await clock.advance(DAY_MS / 3);
  for (let turn = 0; turn < 50; turn += 1) await settled();
  const [spends, view, truth] = [await watch.spends(), watch.view(), await charged(client)];
  await watch.stop();
  return { bill: billAnswer({ spends, now: new Date(clock.now()), since: DAYS, view }), spends, truth };
}

function sum(parts: readonly number[]): number {
  return parts.reduce((all, part) => all + part, 0);
}

test('the bill of days is what was charged: billed to a cent, told and estimated within 2%', async () => {
  using folder = temporaryFolder();
  await using emulator = await startEmulator(OPTIONS);
  const { bill, spends, truth } = await watchWeeks(emulator, folder.path);
  expect(truth).toBeGreaterThan(18 * DAYS);

  const end = dayOf(new Date(START + DAYS * DAY_MS));
  const days = bill.days.filter(({ day }) => day < end);
  expect(days).toHaveLength(DAYS);
  expect(new Set(days.map(({ source }) => source))).toEqual(new Set(['billed']));
  expect(sum(days.map(({ amount }) => amount))).toBeCloseTo(truth, 2);

  const counted = spends.flatMap(({ days: own }) =>
    [...own].filter(([day]) => day < end).map(([, all]) => all),
  );
  const uses = counted.map(({ working, idle, starting, stopped }) => [working, idle, starting, stopped]);
  const [told, byPrice] = [counted.map((day) => day.told), uses.map(sum)];
  expect(Math.abs(sum(told) / truth - 1), 'told').toBeLessThan(0.02);
  expect(Math.abs(sum(byPrice) / truth - 1), 'estimated').toBeLessThan(0.02);
  expect(Math.min(...uses.flat())).toBeGreaterThan(0);

  // The next day, and the month's end.
  expect(bill.month?.so_far.amount).toBeCloseTo(truth + (bill.today?.amount ?? 0), 2);
  expect(bill.month).toMatchObject({ days: DAYS - 1, unknown_days: 0 });
  expect(bill.month?.forecast ?? 0).toBeGreaterThan(truth);
  const { amount = 0, load = 0, price = 0, parameters = 0, starts = 0, other = 0 } = bill.yesterday ?? {};
  expect(load + price + parameters + starts + other).toBeCloseTo(amount, 2);
  const week = days.filter(({ day }) => day === bill.yesterday?.day || day === bill.yesterday?.before);
  expect((week[1]?.amount ?? 0) - (week[0]?.amount ?? 0)).toBeCloseTo(amount, 2);
}, 300_000);

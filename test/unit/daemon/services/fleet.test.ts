import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startFleet, type FleetOptions } from '../../../../src/daemon/services/fleet.ts';
import { systemClock } from '../../../../src/time/clock.ts';
import { settingsOf } from '../../../support/settings.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';
import { collectedLog } from '../../../support/collected-log.ts';

let asked: string[];
type FleetWatching = ReturnType<typeof startFleet>;
let fleet: FleetWatching | undefined;
beforeEach(() => {
  [asked, lines.length] = [[], 0];
});
afterEach(async () => {
  await fleet?.stop();
  vi.useRealTimers();
});

const { logger, lines } = collectedLog();
const client = {
  endpointGroups: {
    list: async (_input: object, { retry }: { retry: boolean }) => {
      asked.push(`list, repeated: ${retry}`);
      return { results: [{ id: 31, endpoint_name: 'chat', endpoint_state: 'active' }] };
    },
    workers: async () => ({ workers: [] }),
  },
  workergroups: { list: async () => ({ results: [] }) },
  serverless: { endpointsSpend: async () => ({ endpoints: [] }) },
  charges: { list: async () => ({ results: [] }) },
};

const WATCHING = { PILOTLIGHT_ENDPOINTS: 'chat' };

function start(more: Readonly<Record<string, string>>, options: Partial<FleetOptions> = {}): FleetWatching {
  fleet = startFleet({
    client: client as never,
    settings: settingsOf(more),
    logger,
    prices: { known: () => new Map(), listedAtMs: () => undefined, refresh() {} },
    onTraits: () => {},
    onEvent() {},
    clock: systemClock,
    isReplica: false,
    ...options,
  });
  return fleet;
}

const names = (): string[] => fleet?.view().endpoints.map(({ endpoint }) => endpoint) ?? [];

describe('alone', () => {
  test('nothing is asked where no endpoint is named', async () => {
    const own = start({});
    await own.apply(settingsOf());
    expect(own.view()).toMatchObject({
      endpoints: [],
      history: 'memory',
      historyTrouble: undefined,
      samples: false,
      isElsewhere: false,
    });
    expect(await own.history({ endpoint: 'chat', fromMs: 0, toMs: 1, maxRows: 5 })).toEqual([]);
    expect(asked).toEqual([]);
  });

  test('endpoints are asked for once for each look, and seen', async () => {
    start(WATCHING);
    await expect.poll(names, { interval: 2 }).toEqual(['chat']);
    expect(asked[0]).toBe('list, repeated: false');
    expect(fleet?.view()).toMatchObject({ history: 'memory', samples: true });
    expect(lines.map(({ msg }) => msg)).toContain(
      'no PILOTLIGHT_STATE_DIR: the history of endpoints is kept in memory for a day, and ends with the process',
    );
  });

  test('the history is on the disk where there is a folder', async () => {
    using folder = memoryFolder();
    const own = start({ ...WATCHING, PILOTLIGHT_STATE_DIR: folder.path });
    await own.apply(settingsOf(WATCHING));
    expect(own.view().history).toBe('disk');
    await own.stop();
    expect(own.view()).toMatchObject({ history: 'disk', endpoints: [], samples: false });
  });

  test('a reload that names an endpoint begins, and one that names none ends it', async () => {
    const own = start({});
    await own.apply(settingsOf(WATCHING));
    await expect.poll(names, { interval: 2 }).toEqual(['chat']);
    await own.apply(settingsOf({ PILOTLIGHT_ENDPOINTS: 'other' }));
    await expect.poll(names, { interval: 2 }).toEqual([]);
    expect(fleet?.view().samples).toBe(true);
    await own.apply(settingsOf());
    expect(fleet?.view().samples).toBe(false);
  });

  test('what is stopped does not begin again', async () => {
    const own = start({});
    await own.stop();
    await own.apply(settingsOf(WATCHING));
    expect(own.view().samples).toBe(false);
  });
});

describe('one of several replicas', () => {
  test('watches once it has taken over', async () => {
    const own = start(WATCHING, { isReplica: true });
    await own.apply(settingsOf(WATCHING));
    expect(own.view()).toMatchObject({
      endpoints: [],
      history: 'memory',
      historyTrouble: undefined,
      samples: false,
      isElsewhere: true,
    });
    await own.takeOver();
    expect(own.view()).toMatchObject({ samples: true, isElsewhere: false });
  });

  test('goes on for eight seconds after another was said to be the one, and no longer', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const own = start(WATCHING, { isReplica: true });
    await own.takeOver();
    const samplesAfter = async (ms: number): Promise<boolean> => {
      vi.advanceTimersByTime(ms);
      await own.standDown();
      return own.view().samples;
    };
    expect([await samplesAfter(0), await samplesAfter(7_999)]).toEqual([true, true]);
    await own.takeOver();
    // It counts anew.
    expect([await samplesAfter(0), await samplesAfter(7_999), await samplesAfter(1)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(await samplesAfter(1)).toBe(false);
  });

  test('has no history of what another watches, and names no other where nothing is watched', async () => {
    const own = start(WATCHING, { isReplica: true });
    expect(await own.history({ endpoint: 'chat', fromMs: 0, toMs: 1, maxRows: 16 })).toEqual([]);
    await own.apply(settingsOf());
    expect(own.view().isElsewhere).toBe(false);
  });
});

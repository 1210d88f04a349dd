/** Steering while the disk that keeps its journal is full: a real file system, and the emulator's endpoint over HTTP. */
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import type { History } from '../../../src/fleet/history/history.ts';
import { SqliteHistory } from '../../../src/fleet/history/places/sqlite-history.ts';
import { describeWith } from '../../support/optional.ts';
import { canMount, smallDisk } from '../../support/small-disk.ts';
import { MinuteClock, parametersOf, setByHand, steerEndpoint } from '../../support/steered-endpoint.ts';

/** Quiet ones, until nothing keeps steering from moving. */
const BEFORE = 62;
const QUIET = 100;
const CROWDED = 300;
/** Longer than steering waits for its journal, ms. */
const STORE_MS = 6_000;

describeWith(
  'mount',
  canMount,
  'run as root, where tmpfs can be mounted',
)('a journal on a full disk', () => {
  async function place() {
    const emulator = await startEmulator({ dialect: 'public', clock: 'frozen' });
    await setByHand(emulator, { cold_workers: 5 });
    const disk = smallDisk(16_384);
    const clock = new MinuteClock();
    const sent: unknown[] = [];
    let history: History | undefined;
    const steered = await steerEndpoint({
      emulator,
      clock,
      store: new SqliteHistory({
        directory: disk.path,
        now: () => clock.now(),
        onSetAside: () => expect.unreachable(),
        onHole: () => expect.unreachable(),
      }),
      best: { cold_workers: 4 },
      whileStoring: () => void (history?.trouble !== undefined && clock.advance(STORE_MS)),
      beforeSend: (values, journal) => void sent.push([values, journal.at(-1)?.id]),
    });
    history = steered.history;
    return {
      emulator,
      disk,
      steered,
      sent,
      coldWorkers: async () => (await parametersOf(emulator))['cold_workers'],
      async [Symbol.asyncDispose]() {
        await steered[Symbol.asyncDispose]();
        disk[Symbol.dispose]();
        await emulator[Symbol.asyncDispose]();
      },
    };
  }

  test('nothing new is sent that is not in it; once there is room, what was not sent is told as lost', async () => {
    await using here = await place();
    const { steered, disk, sent } = here;
    await steered.minutes(BEFORE - 3, QUIET);
    disk.fill();
    await steered.minutes(10, QUIET);
    expect(sent).toEqual([]);
    const said = steered.notices.map((notice) => ('error' in notice ? String(notice.error) : notice.kind));
    expect(said).toContain('Error: it could not be written down: database or disk is full');
    disk.free();
    await steered.minutes(1, QUIET);
    expect(await steered.history.journal('chat', 10)).toMatchObject([{ id: 1, outcome: 'lost' }]);
    await steered.minutes(6 * 60, QUIET);
    expect(sent).toEqual([[{ cold_workers: 4 }, 2]]);
    expect(await here.coldWorkers()).toBe(4);
  });

  test('old values go back all the same, and the journal has it once there is room', async () => {
    await using here = await place();
    const { steered, disk } = here;
    await steered.minutes(BEFORE, QUIET);
    expect(await here.coldWorkers()).toBe(4);
    disk.fill();
    await steered.minutes(6, CROWDED);
    expect(await here.coldWorkers()).toBe(5);
    expect(await steered.history.journal('chat', 10)).toMatchObject([{ phase: 'watching' }]);
    disk.free();
    await steered.minutes(2, QUIET);
    expect(await steered.history.journal('chat', 10)).toMatchObject([{ id: 1, outcome: 'rolled_back' }]);
  });
});

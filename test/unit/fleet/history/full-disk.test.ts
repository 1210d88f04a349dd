/** A history on a real file system that is full, or read-only, for a while. */
import { expect, test } from 'vitest';
import { History } from '../../../../src/fleet/history/history.ts';
import { SqliteHistory } from '../../../../src/fleet/history/places/sqlite-history.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';
import { describeWith } from '../../../support/optional.ts';
import { canMount, smallDisk } from '../../../support/small-disk.ts';

const rest = { load_average: 0, capacity_hot: 0, capacity_cold: 0, requests_working: 0, spend_per_hour: 0 };

describeWith(
  'mount',
  canMount,
  'run as root, where tmpfs can be mounted',
)('a history', () => {
  test.each(['full', 'read-only'])(
    'on a %s disk is held meanwhile, and goes on when it can',
    async (kind) => {
      using disk = smallDisk(1_024);
      const clock = new VirtualClock();
      const troubles: unknown[] = [];
      let again = 0;
      const open = () =>
        new History({
          store: new SqliteHistory({
            directory: disk.path,
            now: () => clock.now(),
            onSetAside: () => expect.unreachable(),
            onHole: () => expect.unreachable(),
          }),
          clock,
          lives: () => [],
          onTrouble: (error) => troubles.push(error),
          onStored: () => (again += 1),
        });
      const history = open();
      // What has a file open cannot be made read-only any more.
      if (kind === 'read-only') disk.readOnly();
      await history.open();
      let load = 0;
      const sample = async () => {
        await clock.advance(15_000);
        const measures = { load, ...rest };
        load += 1;
        // Long names take room, so that the disk is soon full.
        const label = 'chat'.repeat(100);
        history.record({
          label,
          sample: { atMs: clock.now(), measures, workers: {} },
          changed: [],
          gone: [],
          events: [],
        });
        await settled();
      };
      const loads = async () => {
        const query = { endpoint: 'chat'.repeat(100), fromMs: 0, toMs: Infinity, maxRows: 10_000 };
        return (await history.query(query)).map(({ measures }) => measures.load.sum);
      };
      const all = () => Array.from({ length: load }, (_, index) => index);
      await sample();
      if (kind === 'full') disk.fill();
      for (let count = 0; count < 100; count += 1) await sample();
      expect(history.trouble).toBeDefined();
      expect(troubles).toHaveLength(1);
      // What is held is shown too.
      expect(await loads()).toEqual(all());
      disk.free();
      if (kind === 'read-only') disk.writable();
      await sample();
      expect(history.trouble).toBeUndefined();
      expect(again).toBe(1);
      expect(await loads()).toEqual(all());
      await history.stop();
      const next = open();
      await next.open();
      const query = { endpoint: 'chat'.repeat(100), fromMs: 0, toMs: Infinity, maxRows: 10_000 };
      expect(await next.query(query)).toHaveLength(load);
      await next.stop();
    },
  );
});

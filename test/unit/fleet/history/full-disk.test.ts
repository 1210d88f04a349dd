/** A history on a real file system that is full, or read-only, for a while. */
import { expect, test } from 'vitest';
import { Keeper } from '../../../support/kept-history.ts';
import { sampleAt } from '../../../support/recorded-fleet.ts';
import { describeOnSmallDisk, smallDisk } from '../../../support/small-disk.ts';

describeOnSmallDisk('a history', () => {
  test.each(['full', 'read-only'])(
    'on a %s disk is held in memory meanwhile, shown, and stored when it can be',
    async (kind) => {
      using disk = smallDisk(1_024);
      const keeper = new Keeper(disk.path);
      // What has a file open cannot be made read-only any more.
      if (kind === 'read-only') disk.readOnly();
      await keeper.history.open();
      let load = 0;
      const sample = async () => {
        await keeper.clock.advance(15_000);
        // A worker's name takes room, so that the disk is soon full.
        const changed = [{ ...LIFE, id: load, endpoint: 'chat'.repeat(500) }];
        keeper.record(sampleAt(keeper.clock.now(), { load }), { lives: changed });
        load += 1;
      };
      const all = () => Array.from({ length: load }, (_, index) => index);
      const hours = async () => {
        const rows = await keeper.query(86_400_000, 16);
        return rows.map(({ samples, measures }) => [samples, measures.load.sum, measures.load.peak]);
      };
      await sample();
      if (kind === 'full') disk.fill();
      for (let count = 0; count < 100; count += 1) await sample();
      expect(keeper.history.trouble).toBeDefined();
      expect(keeper.troubles).toHaveLength(1);
      // What is held is shown too, beside what the disk has and folded with it.
      expect(await keeper.loads()).toEqual(all());
      const shown = await hours();
      expect(shown.reduce((sum, [samples = 0]) => sum + samples, 0)).toBe(load);
      disk.free();
      if (kind === 'read-only') disk.writable();
      await keeper.clock.advance(6_000);
      keeper.history.record({ gone: [1] });
      expect(keeper.history.trouble).toBeUndefined();
      expect(keeper.stored).toBe(1);
      expect(await keeper.loads()).toEqual(all());
      expect(await hours()).toEqual(shown);
      await keeper.history.stop();
      const next = new Keeper(disk.path, keeper.clock.now());
      await next.history.open();
      expect(await next.loads()).toEqual(all());
      await next.history.stop();
    },
  );
});

const LIFE = {
  firstSeenMs: 5,
  changes: [['idle', 5]] as const,
  start: undefined,
  perf: 7,
  missed: 0,
  missingSinceMs: undefined,
};

/** Real logs shown by a service that does one or two things wrong: every line once, every loss counted. */
import { expect, it } from 'vitest';
import { describeWithRealData } from '../../support/real-data.ts';
import { PATIENCE, RUNS, seedsOf } from '../prove.ts';
import { brokenPromises } from './promises.ts';
import { FAULTS, type Fault } from './faulty-log.ts';
import { play } from './world.ts';

/** None, each alone, and each two. */
const COMBINATIONS: readonly (readonly Fault[])[] = [
  [],
  ...FAULTS.map((fault) => [fault]),
  ...FAULTS.flatMap((one, index) => FAULTS.slice(index + 1).map((other) => [one, other])),
];

/** All that were asked for, or in the gate half of what the other worlds run: these cost more. */
const SCHEDULES = RUNS > 10_000 ? RUNS : RUNS / 2;

describeWithRealData('logs of a service that is not honest', () => {
  it.each(COMBINATIONS.map((faults) => ({ faults, name: faults.join(' and ') || 'honest' })))(
    '$name',
    ({ name, faults }) => {
      const [first, last] = seedsOf(Math.ceil(SCHEDULES / COMBINATIONS.length));
      const found: string[] = [];
      const start = performance.now();
      for (let seed = first; seed <= last; seed++) {
        const [broken] = brokenPromises(play({ seed, faults }));
        if (broken !== undefined) found.push(`seed ${seed}: ${broken}`);
      }
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.log(`logs, ${name}: seeds ${first} to ${last}, ${seconds} s, ${found.length} violations`);
      expect(found).toEqual([]);
    },
    PATIENCE,
  );
});

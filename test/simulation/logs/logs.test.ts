/** Real logs shown by a service that does one or two things wrong: every line once, every loss counted. */
import { expect, it } from 'vitest';
import { describeWithRealData } from '../../support/real-data.ts';
import { PATIENCE, RUNS } from '../prove.ts';
import { brokenPromises } from './promises.ts';
import { FAULTS, play, type Fault } from './world.ts';

/** None, each alone, and each two. */
const COMBINATIONS: readonly (readonly Fault[])[] = [
  [],
  ...FAULTS.map((fault) => [fault]),
  ...FAULTS.flatMap((one, index) => FAULTS.slice(index + 1).map((other) => [one, other])),
];

describeWithRealData('logs of a service that is not honest', () => {
  it.each(COMBINATIONS.map((faults) => ({ faults, name: faults.join(' and ') || 'honest' })))(
    '$name',
    ({ faults }) => {
      const runs = Math.ceil(RUNS / 10 / COMBINATIONS.length);
      const found: string[] = [];
      for (let seed = 1; seed <= runs && found.length < 5; seed++) {
        const [broken] = brokenPromises(play({ seed, faults }));
        if (broken !== undefined) found.push(`seed ${seed}: ${broken}`);
      }
      expect(found).toEqual([]);
    },
    PATIENCE,
  );
});

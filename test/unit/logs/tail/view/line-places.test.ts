import * as fc from '../../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { linePlaces } from '../../../../../src/logs/tail/view/line-places.ts';

/** Hashes as those of lines are, few enough to repeat; with the same low bits, they want the same slot. */
const hash = fc.oneof(
  fc.nat(20),
  fc.nat(20).map((high) => high * 2 ** 21),
  fc.maxSafeNat(),
);

test('each line is found at its first place, and known to be the only one, or not', () => {
  fc.assert(
    fc.property(fc.array(hash, { maxLength: 60 }), fc.array(hash), (hashes, others) => {
      const places = linePlaces(Float64Array.from(hashes));
      for (const one of [...hashes, ...others]) expect(places.firstOf(one)).toBe(hashes.indexOf(one));
      for (const [index, one] of hashes.entries()) {
        if (hashes.indexOf(one) < index) continue;
        expect(places.isOnlyOne(index)).toBe(hashes.lastIndexOf(one) === index);
      }
    }),
  );
});

test('of a line that stands elsewhere too, no place is the only one', () => {
  const places = linePlaces(Float64Array.of(7, 8, 7, 7, 9));
  expect([0, 1, 2, 3, 4].map((index) => places.isOnlyOne(index))).toEqual([false, true, false, false, true]);
});

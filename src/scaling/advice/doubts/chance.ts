/**
 * What is promised is the mean of several made-up times; what comes is a single one. By how much that may be off where
 * everything else is right.
 */

/** Student's t, two-sided 99%, by degrees of freedom from 1. */
const STUDENT_99 = [63.66, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.25] as const;
const NORMAL_99 = 2.576;

/**
 * @param values Of several times, each above 0; of one alone nothing is left to chance
 * @returns 99 of 100 further single ones are off their mean by this share at most, 0 to Infinity
 */
export function offByChance(values: readonly number[]): number {
  const count = values.length;
  if (count < 2) return 0;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  if (variance === 0) return 0;
  return ((STUDENT_99[count - 2] ?? NORMAL_99) * Math.sqrt(variance * (1 + 1 / count))) / mean;
}

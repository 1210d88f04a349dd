/** A figure that chance has a part in: its mean over several seeds, and how far that can be trusted. */
export interface Estimate {
  readonly mean: number;
  /** 95 of 100 such means lie between the two; both are the mean where there is one seed only. */
  readonly low: number;
  readonly high: number;
}

/** Student's t, two-sided 95%, by degrees of freedom from 1. */
const STUDENT = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228] as const;
const NORMAL = 1.96;

/** Of at least one value. */
export function estimateOf(values: readonly number[]): Estimate {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  if (count < 2) return { mean, low: mean, high: mean };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  const half = (STUDENT[count - 2] ?? NORMAL) * Math.sqrt(variance / count);
  return { mean, low: mean - half, high: mean + half };
}

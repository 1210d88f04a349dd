/** A figure that chance has a part in: its mean over several seeds, and how far that can be trusted. */
export interface Estimate {
  readonly mean: number;
  /** 95 of 100 such means lie between the two. With a single seed both are the mean. */
  readonly low: number;
  readonly high: number;
}

/** Student's t, two-sided 95%: exact for one to three degrees of freedom, and to 0.3% beyond. */
function student(freedom: number): number {
  return (
    [12.71, 4.303, 3.182][freedom - 1] ?? 1.96 + 2.37 / freedom + 2.82 / freedom ** 2 + 2.5 / freedom ** 3
  );
}

export function estimateOf(values: readonly number[]): Estimate {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  if (count < 2) return { mean, low: mean, high: mean };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  const half = student(count - 1) * Math.sqrt(variance / count);
  return { mean, low: mean - half, high: mean + half };
}

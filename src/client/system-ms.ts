/** Monotonic ms of the machine: unlike `performance.now()` the same in every process. */
export function systemMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1000;
}

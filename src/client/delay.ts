/** The longest that a timer of Node takes, ms; a longer one would fire at once. */
export const LONGEST_MS = 2 ** 31 - 1;

/** Of calls without a signal. */
export const NEVER: AbortSignal = new AbortController().signal;

/** Waits `ms`, or until the signal fires: then it rejects with the signal's reason and leaves no timer behind. */
export function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    function onAbort(): void {
      clearTimeout(timer);
      reject(signal.reason as Error);
    }
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Monotonic ms of the machine: unlike `performance.now()` the same in every process. */
export function systemMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1000;
}

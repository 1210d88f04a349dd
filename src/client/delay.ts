/** The longest timer of Node, ms; a longer one fires at once. */
export const LONGEST_MS = 2 ** 31 - 1;

export const NEVER: AbortSignal = new AbortController().signal;

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

/** Monotonic ms, the same in every process, unlike `performance.now()`. */
export function systemMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1000;
}

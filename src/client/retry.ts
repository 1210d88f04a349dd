import { isRecord } from '../contract/is-record.ts';
import type { InputProblem } from '../wire/request.ts';
import { ApiError, type CallError } from './errors.ts';

/** Attempts and waits of a call. Default: 3 attempts, 250 ms, 15,000 ms. */
export interface RetryPolicy {
  /** Attempts in all, with the first. */
  readonly attempts: number;
  /** Ceiling of the first wait in ms. It doubles with each attempt. */
  readonly baseMs: number;
  /** Longest wait in ms, also if the service asks for more. */
  readonly maxMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { attempts: 3, baseMs: 250, maxMs: 15_000 };
export const NO_RETRY: RetryPolicy = { attempts: 1, baseMs: 0, maxMs: 0 };

export function retryProblems(retry: unknown): InputProblem[] {
  if (retry === undefined) return [];
  const { attempts, baseMs, maxMs } = isRecord(retry) ? retry : {};
  const isWait = (ms: unknown): boolean => typeof ms === 'number' && ms >= 0 && ms <= LONGEST_MS;
  if (Number.isInteger(attempts) && Number(attempts) >= 1 && isWait(baseMs) && isWait(maxMs)) return [];
  const message = `must have attempts, a whole number from 1, and baseMs and maxMs, from 0 to ${LONGEST_MS}`;
  return [{ field: 'retry', message, value: retry }];
}

/** Undefined if repeating does not help. Full jitter keeps clients from coming back together. */
export function retryDelay(
  error: CallError,
  attempt: number,
  policy: RetryPolicy,
  random: () => number,
): number | undefined {
  if (attempt >= policy.attempts || !isTransient(error)) return undefined;
  const ceiling = Math.min(policy.maxMs, policy.baseMs * 2 ** (attempt - 1));
  const asked = error instanceof ApiError ? error.waitMs : undefined;
  if (asked !== undefined) return asked > policy.maxMs ? undefined : asked + random() * policy.baseMs;
  return random() * ceiling;
}

function isTransient(error: CallError): boolean {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  // So is a proxy's HTML page with status 200.
  return error.actor === 'service';
}

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

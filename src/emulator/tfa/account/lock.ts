/** The lock of one method (§3): 15 minutes after too many failures in a row, for that method only. Pure. */
import { LIMITS } from '../../../contract/limits.ts';
import { Refused } from '../../answers/refused.ts';
import type { TfaMethodRecord } from '../../state/two-factor.ts';

const LOCKOUT_MS = LIMITS.methodLockoutSeconds * 1000;

/** A lock that has passed takes its failures with it: one more mistake is not at once another lock. */
export function settleLock(method: TfaMethodRecord, nowMs: number): void {
  if (method.lockedUntilMs === null || nowMs < method.lockedUntilMs) return;
  method.lockedUntilMs = null;
  method.failCount = 0;
}

/** What the interface shows of it. */
export function lockView(method: TfaMethodRecord, nowMs: number) {
  settleLock(method, nowMs);
  const { failCount, lockedUntilMs } = method;
  return { fail_count: failCount, locked_until: lockedUntilMs === null ? null : lockedUntilMs / 1000 };
}

/** @throws Refused tfa_locked, with fail_count and locked_until */
export function requireUnlocked(method: TfaMethodRecord, nowMs: number): void {
  const fields = lockView(method, nowMs);
  if (fields.locked_until === null) return;
  throw new Refused('tfa_locked', 'too many failed attempts; this method is locked for a while', {
    fields,
    reason: `tfa_method_id: method ${method.id} is locked until ${fields.locked_until}; other methods are not`,
  });
}

/** Counts a failure; more than `allowed` in a row lock the method. */
export function noteFailure(method: TfaMethodRecord, allowed: number, nowMs: number): void {
  method.failCount += 1;
  if (method.failCount > allowed) method.lockedUntilMs = nowMs + LOCKOUT_MS;
}

export function noteSuccess(method: TfaMethodRecord, nowMs: number): void {
  method.failCount = 0;
  method.lockedUntilMs = null;
  method.lastUsedMs = nowMs;
}

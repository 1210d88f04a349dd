/**
 * Which minutes are asked for, and what they prove. Trouble is not silence: a minute without samples, or with a worker in
 * error, is evidence of nothing, and never of less being enough. Pure.
 */
import { HOUR_MS, MINUTE_MS, stretchOf, type Minute } from './minutes.ts';
import type { SteeringState } from './state.ts';

const HOURS_OF_A_DAY = 24;
/** Before a change, and before a decision, ms: what it is set beside. */
const BASIS_MS = 25 * HOUR_MS;
/** The most that is asked of the history, ms: that, and the longest trial. */
export const EVIDENCE_MS = 50 * HOUR_MS;

/** Before anything moves, so many minutes must have been without trouble, all of them seen but one. */
const CALM_MINUTES = 15;
/** And of the day before, as far as there is a history, such a part without holes and errors. */
const SOUND_PART = 0.75;

/** From when on minutes are asked for: a day, and where a change is on trial the day before it. */
export function evidenceFromMs({ change }: SteeringState, nowMs: number): number {
  const sinceMs = change?.phase === 'watching' ? (change.setMs ?? change.atMs) : nowMs;
  return Math.max(Math.min(sinceMs, nowMs) - BASIS_MS, nowMs - EVIDENCE_MS);
}

/** What keeps the last minutes, or the last day, from being evidence; undefined where nothing does. */
export function troubleIn(minutes: readonly Minute[], nowMs: number): string | undefined {
  // The minute that is under way does not count: it may be a second old.
  const endMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const last = stretchOf(minutes, endMs - CALM_MINUTES * MINUTE_MS, endMs);
  if (last.minutes < CALM_MINUTES - 1) return `samples are missing in the last ${CALM_MINUTES} minutes`;
  if (last.errorMinutes > 0) return `workers were in error in the last ${CALM_MINUTES} minutes`;
  if (last.excessMinutes > 0) {
    return `there was more load than ready workers can do in the last ${CALM_MINUTES} minutes`;
  }
  const [first] = minutes;
  const beginMs = Math.max(endMs - HOURS_OF_A_DAY * HOUR_MS, first?.fromMs ?? endMs);
  const day = stretchOf(minutes, beginMs, endMs);
  const sound = day.minutes - day.errorMinutes;
  return sound * MINUTE_MS < SOUND_PART * (endMs - beginMs)
    ? 'too much of the last day is without samples, or with workers in error'
    : undefined;
}

/**
 * Whether somebody needs the deployments, as a pure function of what the app beside them answered. The grace counts time in which the app could be asked, on the monotonic clock. A machine that slept, a process that
 * stood still and a clock that was set are no sign that the app is not well, and neither is one answer that did not
 * come: whatever lies between two answers, it counts no more than a look takes at most.
 */

/** How often the app is asked, ms. When heartbeats are withheld, a second may save a deployment. */
export const ASK_EVERY = 5_000;
export const ASK_WITHHELD_EVERY = 1_000;
/** An answer that takes longer is none, ms. */
export const ANSWER_WITHIN = 2_000;

/** From one answer to the next, where nothing held up this process but a timer that was a second late, ms. */
const LONGEST_LOOK = ASK_EVERY + ANSWER_WITHIN + 1_000;
/** Answers in a row that must have been bad, however short the grace is. */
const LEAST_MISSES = 2;

export interface AppHealth {
  /** ms. */
  readonly grace: number;
  /** How long the app has not been well, ms, as far as it could be asked. */
  readonly unhealthyMs: number;
  readonly misses: number;
  /** When the last answer came, or when it all began: monotonic ms. */
  readonly heardAt: number;
  readonly withheld: boolean;
}

export type AppEvent =
  | { readonly type: 'answered'; readonly well: boolean }
  /** A grace is configured that may be another. */
  | { readonly type: 'grace'; readonly grace: number };

/** Never well since the start: the grace counts from the start. */
export function startAppHealth(grace: number, mono: number): AppHealth {
  return { grace, unhealthyMs: 0, misses: 0, heardAt: mono, withheld: false };
}

export function observeApp(health: AppHealth, event: AppEvent, mono: number): AppHealth {
  if (event.type === 'grace') return decide({ ...health, grace: event.grace });
  if (event.well) return { ...health, unhealthyMs: 0, misses: 0, heardAt: mono, withheld: false };
  const lookMs = Math.max(0, Math.min(mono - health.heardAt, LONGEST_LOOK));
  const { unhealthyMs, misses } = health;
  return decide({ ...health, unhealthyMs: unhealthyMs + lookMs, misses: misses + 1, heardAt: mono });
}

function decide(health: AppHealth): AppHealth {
  return { ...health, withheld: health.misses >= LEAST_MISSES && health.unhealthyMs >= health.grace };
}

/** How long until it is asked again, from one question to the next, ms. */
export function askEvery({ withheld }: AppHealth): number {
  return withheld ? ASK_WITHHELD_EVERY : ASK_EVERY;
}

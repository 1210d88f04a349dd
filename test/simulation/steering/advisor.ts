/**
 * Advice in steered worlds: the real one, asked as the daemon asks it, over what was recorded of the endpoint. Requests are
 * those that really came, as with a trace; how advice reads requests from looks is what `../advice` proves.
 */
import { adviceAsked } from '../../../src/daemon/services/steering-advice.ts';
import type { AdviceQuestion } from '../../../src/fleet/steering/port.ts';
import type { Advice } from '../../../src/scaling/advice/advice.ts';
import { advise } from '../../../src/scaling/advice/advise.ts';
import type { RecordedStart, RecordedStretch } from '../../../src/scaling/advice/recorded.ts';
import { RecordedLoad, type Arrival } from '../../../src/scaling/planner/load/load.ts';
import type { PlanSettings } from '../../../src/scaling/planner/settings.ts';

export interface Question extends AdviceQuestion {
  readonly limitSeconds: number;
  /** What was recorded, and since when. */
  readonly fromMs: number;
  readonly stretches: readonly RecordedStretch[];
  readonly starts: readonly RecordedStart[];
  readonly performances: readonly number[];
  readonly arrivals: readonly Arrival[];
  /** Mean work of a request, units. */
  readonly requestSize: number;
  /** What nobody can measure of the service, and what the model has wrong. */
  readonly assumed: Partial<PlanSettings>;
}

export function adviseIn(question: Question): Promise<Advice> {
  const { endpoint, nowMs, fromMs, limitSeconds, requestSize, assumed } = question;
  const { stretches, starts, performances, arrivals } = question;
  const { parameters, parametersSinceMs, bounds, isCautious } = adviceAsked(question);
  const trace = RecordedLoad.of(
    arrivals.map(({ atSeconds, work }) => ({ atSeconds: atSeconds - fromMs / 1000, work })),
  );
  return advise(
    { endpoint, stretches, starts, performances, parameters, parametersSinceMs },
    { nowMs, limitSeconds, requestSize, assumed },
    { trace, bounds, isCautious },
  );
}

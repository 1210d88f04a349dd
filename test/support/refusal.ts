/** What a service refused, as it is read from its answer. */
import type { Refusal } from '../../src/wire/response.ts';

export function refusal(more: Partial<Refusal> = {}): Refusal {
  return {
    kind: 'refused',
    status: 400,
    code: undefined,
    message: 'no',
    meaning: 'other',
    fields: {},
    retryAfterMs: undefined,
    thresholdMs: undefined,
    ...more,
  };
}

/** How the service says 429: three shapes of the public service, none with a Retry-After (src/contract/README.md). */
import type { ThrottleShape } from '../state/settings.ts';
import { jsonAnswer, textAnswer, type Answer } from './answer.ts';

const WORDS = 'API requests too frequent';

/** `verbose`: the JSON error body carries `success: false`. */
export function throttledAnswer(
  shape: ThrottleShape,
  thresholdSeconds: number | undefined,
  verbose: boolean,
): Answer {
  const message = throttledMessage(thresholdSeconds);
  switch (shape) {
    case 'text':
      return textAnswer(429, 'text/plain; charset=utf-8', message);
    case 'detail':
      // As the service does: here without the colon.
      return jsonAnswer(429, { detail: message.replace(':', '') });
    case 'error': {
      const body = { error: 'rate_limited', msg: message };
      return jsonAnswer(429, verbose ? { success: false, ...body } : body);
    }
  }
}

export function throttledMessage(thresholdSeconds: number | undefined): string {
  return thresholdSeconds === undefined ? WORDS : `${WORDS}: endpoint threshold=${decimal(thresholdSeconds)}`;
}

/** With a decimal point, as the service writes it: 3.0, 0.25. */
function decimal(seconds: number): string {
  return Number.isInteger(seconds) ? seconds.toFixed(1) : String(seconds);
}

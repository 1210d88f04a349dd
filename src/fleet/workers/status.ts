/** What a worker's status means: whether it can work, whether it is on its way there, and what is billed. Pure. */
import type { Worker, WORKER_STATUSES } from '../../contract/operations/serverless/workers.ts';

/** What counts as the status of a worker that names none, or one that the interface does not know. */
export const UNKNOWN = 'unknown';

type Status = (typeof WORKER_STATUSES)[number];

/**
 * `ready`: takes requests; one whose turn in a rolling update has not come still does. `starting`: will be ready.
 * `cold`: keeps what it has loaded, and needs a start. `over`: of no use as it is.
 */
type Phase = 'ready' | 'starting' | 'cold' | 'over';

const PHASES: Readonly<Record<Status, Phase>> = {
  pending: 'starting',
  creating: 'starting',
  created: 'starting',
  loading: 'starting',
  model_loading: 'starting',
  starting: 'starting',
  idle: 'ready',
  stopping: 'cold',
  stopped: 'cold',
  rebooting: 'starting',
  update_ready: 'ready',
  update_rebooting: 'starting',
  update_starting: 'starting',
  error: 'over',
  destroying: 'over',
};

/** What of its instance is paid for in this status. */
export type Billing = 'compute' | 'storage' | 'nothing';

/** Ready and loading ones pay for compute, creating and stopped ones for storage, failed and leaving ones for nothing. */
const BILLING: Readonly<Record<Status, Billing>> = {
  pending: 'storage',
  creating: 'storage',
  created: 'storage',
  loading: 'compute',
  model_loading: 'compute',
  starting: 'compute',
  idle: 'compute',
  // Until it has stopped it runs.
  stopping: 'compute',
  stopped: 'storage',
  rebooting: 'compute',
  update_ready: 'compute',
  update_rebooting: 'compute',
  update_starting: 'compute',
  error: 'nothing',
  destroying: 'nothing',
};

/** In lower case, as the interface names it; else `unknown`. */
export function statusOf({ status }: Pick<Worker, 'status'>): string {
  const word = status?.trim().toLowerCase() ?? '';
  return isStatus(word) ? word : UNKNOWN;
}

/** Undefined where nobody knows what the status means. */
export function phaseOf(status: string): Phase | undefined {
  return isStatus(status) ? PHASES[status] : undefined;
}

/** One of which nobody knows what it does may cost all that it can: a budget is kept by what is too high, not too low. */
export function billingOf(status: string): Billing {
  return isStatus(status) ? BILLING[status] : 'compute';
}

function isStatus(word: string): word is Status {
  return Object.hasOwn(PHASES, word);
}

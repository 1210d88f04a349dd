/** What a worker's status means: whether it can work, whether it is on its way there, and what is billed. Pure. */
import type { Worker, WORKER_STATUSES } from '../../contract/operations/serverless/workers.ts';

/** What counts as the status of a worker that names none. */
export const UNKNOWN = 'unknown';

type Status = (typeof WORKER_STATUSES)[number];

/**
 * `ready`: takes requests; one whose turn in a rolling update has not come still does. `starting`: will be ready.
 * `cold`: keeps what it has loaded, and needs a start. `over`: of no use as it is.
 */
export type Phase = 'ready' | 'starting' | 'cold' | 'over';

/** What of its instance is paid for in this status. */
export type Billing = 'compute' | 'storage' | 'nothing';

const MEANINGS: Readonly<Record<Status, readonly [Phase | undefined, Billing]>> = {
  pending: ['starting', 'nothing'],
  creating: ['starting', 'storage'],
  created: ['starting', 'storage'],
  loading: ['starting', 'compute'],
  model_loading: ['starting', 'compute'],
  starting: ['starting', 'compute'],
  idle: ['ready', 'compute'],
  // Until it has stopped it runs.
  stopping: ['cold', 'compute'],
  stopped: ['cold', 'storage'],
  // As before it (evidence: the service's pricing page), which only the looks before can tell.
  rebooting: ['starting', 'compute'],
  update_ready: ['ready', 'compute'],
  update_rebooting: ['starting', 'compute'],
  update_starting: ['starting', 'compute'],
  error: ['over', 'nothing'],
  destroying: ['over', 'nothing'],
  // Seen of the live service, and not documented. One that is offline may well serve: its report is late.
  ready: ['ready', 'compute'],
  running: ['ready', 'compute'],
  offline: [undefined, 'compute'],
  exited: [undefined, 'storage'],
};

/** A status of another look is a label too, unless it is no word. */
const WORD = /^[a-z][a-z0-9_ -]{0,39}$/;

/** In lower case, one that the interface does not name too; `unknown` if there is none. */
export function statusOf({ status }: Pick<Worker, 'status'>): string {
  const word = status?.trim().toLowerCase() ?? '';
  return WORD.test(word) ? word : UNKNOWN;
}

/** Undefined where nobody knows what the status means. */
export function phaseOf(status: string): Phase | undefined {
  return isStatus(status) ? MEANINGS[status][0] : undefined;
}

/** An unknown status counts as running, so that a budget is not undercounted. */
export function billingOf(status: string): Billing {
  return isStatus(status) ? MEANINGS[status][1] : 'compute';
}

function isStatus(word: string): word is Status {
  return Object.hasOwn(MEANINGS, word);
}

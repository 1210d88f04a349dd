/** What a worker's status means, and what is billed in it. */
import type { Worker, WORKER_STATUSES } from '../../contract/operations/serverless/workers.ts';

export const UNKNOWN = 'unknown';

type Status = (typeof WORKER_STATUSES)[number];

/**
 * `ready`: takes requests, also while it waits for a rolling update. `starting`: will be ready. `cold`:
 * loaded, and needs a start. `over`: of no use.
 */
export type Phase = 'ready' | 'starting' | 'cold' | 'over';

export type Billing = 'compute' | 'storage' | 'nothing';

const MEANINGS: Readonly<Record<Status, readonly [Phase | undefined, Billing]>> = {
  pending: ['starting', 'nothing'],
  creating: ['starting', 'storage'],
  created: ['starting', 'storage'],
  loading: ['starting', 'compute'],
  model_loading: ['starting', 'compute'],
  starting: ['starting', 'compute'],
  idle: ['ready', 'compute'],
  // It runs until it has stopped.
  stopping: ['cold', 'compute'],
  stopped: ['cold', 'storage'],
  // Billed as the status before it, which only earlier looks know.
  rebooting: ['starting', 'compute'],
  update_ready: ['ready', 'compute'],
  update_rebooting: ['starting', 'compute'],
  update_starting: ['starting', 'compute'],
  error: ['over', 'nothing'],
  destroying: ['over', 'nothing'],
  // Seen live, not documented. An offline worker may serve: its report is late.
  ready: ['ready', 'compute'],
  running: ['ready', 'compute'],
  offline: [undefined, 'compute'],
  exited: [undefined, 'storage'],
};

/** An undocumented status is a label too, if it looks like a word. */
const WORD = /^[a-z][a-z0-9_ -]{0,39}$/;

/** In lower case; `unknown` if there is none. */
export function statusOf({ status }: Pick<Worker, 'status'>): string {
  const word = status?.trim().toLowerCase() ?? '';
  return WORD.test(word) ? word : UNKNOWN;
}

/** Undefined for an unknown status. */
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

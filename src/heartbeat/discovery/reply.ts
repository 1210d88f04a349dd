/** How a question ended. */
import { ApiError, CallError } from '../../client/errors.ts';
import type { Told } from './knowledge.ts';

export type Reply =
  | { readonly kind: 'answered'; readonly rows: readonly Told[] }
  /** `gone`: in the service's own words, and not a gateway's. */
  | { readonly kind: 'denied'; readonly gone: boolean }
  | { readonly kind: 'unanswered'; readonly reason: string };

/** The answer was about another deployment. */
export const WRONG_DEPLOYMENT: Reply = { kind: 'unanswered', reason: 'wrong-deployment' };

/** Statuses of a service that does not know such an operation, or such a deployment. */
const DENIALS: ReadonlySet<number> = new Set([404, 405, 501]);

export function replyOfError(error: unknown): Reply {
  if (!(error instanceof ApiError)) {
    return { kind: 'unanswered', reason: error instanceof CallError ? error.code : 'unknown' };
  }
  const { code, status, meaning } = error;
  // An expired session is a 404 too.
  if (code === 'throttled' || code === 'unauthorized') return { kind: 'unanswered', reason: code };
  if (!DENIALS.has(status)) return { kind: 'unanswered', reason: `status ${status}` };
  return { kind: 'denied', gone: meaning === 'not-found' };
}

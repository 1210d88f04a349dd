/** How one attempt ended. The beat port sorts into these five: the engine has one behaviour for each. */
export type Outcome =
  /** 2xx, a parseable body, `success !== false`, and the `deployment_id` that was asked for. */
  | { readonly type: 'accepted' }
  /** `why`: for a person, with the address where one is known: `connection refused (10.0.0.7:443)`. */
  | { readonly type: 'failed'; readonly reason: FailureReason; readonly why?: string }
  /** 429. What the service says of the next request, as `client/errors.ts` has it. */
  | { readonly type: 'throttled'; readonly retryAfterMs?: number; readonly thresholdMs?: number }
  /**
   * 401 or 403: this key is not, or no longer, valid for this deployment. The public service also says it
   * with 404 "Session expired. Please log in again.", which belongs here and not under not-found. `no-key`: there is none
   * yet, and nothing was asked.
   */
  | { readonly type: 'unauthorized'; readonly reason?: 'no-key' }
  | NotFound;

/**
 * 404 from the service itself, in its own error shape: the deployment does not exist. A 404 that somebody else answered
 * (a proxy's HTML page) is `failed` with the reason `unreadable`.
 */
export interface NotFound {
  readonly type: 'not-found';
  /** Who said so: any text that tells one address of the service from another. */
  readonly address?: string;
  /** How many addresses the service has. Default 1. */
  readonly addresses?: number;
}

/** Each label of `deployment_heartbeat_failures_total`, and what a person reads in its place. */
const WORDS = {
  dns: 'the name of the service does not resolve',
  connect: 'could not connect: the service or the proxy refused, or is unreachable',
  tls: 'the TLS handshake failed',
  /** Closed early, or a body cut in half. */
  reset: 'the connection was closed',
  timeout: 'no answer in time',
  'server-error': 'the service failed',
  redirect: 'the service redirects; is PILOTLIGHT_BASE_URL its address, with https?',
  /** Any other that is not 2xx: 400, 409 and so on. */
  status: 'the status of the answer is unexpected',
  unreadable: 'the answer does not come from the service; is there a proxy in between?',
  rejected: 'the service answered success: false',
  'wrong-deployment': 'the answer was for another deployment',
  /** The beat port itself threw: a bug on our side, or an error nobody classified. */
  unknown: 'unexpected error; please report it',
  throttled: 'the service limits the rate of requests',
  unauthorized: 'the service refuses the API key',
  'no-key': 'no API key could be read, so nothing was sent',
  'stale-key': 'the service refused an older API key',
  'not-found': 'the service does not know this deployment',
} as const;

export type FailureLabel = keyof typeof WORDS;
/** The labels of what went wrong on the way to an answer of the service, or with it. */
export type FailureReason = Exclude<
  FailureLabel,
  'throttled' | 'unauthorized' | 'no-key' | 'stale-key' | 'not-found'
>;
export const FAILURE_LABELS = Object.keys(WORDS) as readonly FailureLabel[];
export const FAILURE_WORDS: Readonly<Record<FailureLabel | 'overdue', string>> = {
  ...WORDS,
  overdue: 'no answer yet',
};

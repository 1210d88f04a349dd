/**
 * How one attempt ended, as the engine needs to know it. The beat port sorts answers and errors into these five, and
 * into nothing finer: the engine has one behaviour for each.
 */
export type Outcome =
  | Accepted
  /** `why`: for a person, with the address where one is known: `connection refused (10.0.0.7:443)`. */
  | { readonly type: 'failed'; readonly reason: FailureReason; readonly why?: string }
  | Throttled
  /**
   * 401 or 403: this key is not, or no longer, valid for this deployment. The public service also says it
   * with 404 "Session expired. Please log in again.", which belongs here and not under not-found. `no-key`: there is none
   * yet, and nothing was asked.
   */
  | { readonly type: 'unauthorized'; readonly reason?: 'no-key' }
  | NotFound;

/** 2xx, a parseable body, `success !== false`, and the `deployment_id` that was asked for. */
export interface Accepted {
  readonly type: 'accepted';
}

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

/** 429. At most one of the two is used: Retry-After, where present, wins. */
export interface Throttled {
  readonly type: 'throttled';
  /** The Retry-After header, converted to ms from now (also from its date form). */
  readonly retryAfterMs?: number;
  /** The minimum time between requests that the body names ("endpoint threshold=3.0" → 3000), ms. */
  readonly thresholdMs?: number;
}

/** Why an attempt failed; the `reason` label of `deployment_heartbeat_failures_total`. */
export type FailureReason =
  /** The name could not be resolved, and there was no earlier address to fall back to. */
  | 'dns'
  /** No connection: refused, unreachable, connect timeout, or a proxy that will not make one. */
  | 'connect'
  /** The TLS handshake failed. */
  | 'tls'
  /** The connection broke after it was made: reset, closed early, a body cut in half. */
  | 'reset'
  /** The engine gave up on the attempt (it says so itself), or the client's own limit passed. */
  | 'timeout'
  /** A status of 500 and above. */
  | 'server-error'
  /** 3xx, never followed: mostly from http to https, or to a page to log in. */
  | 'redirect'
  /** Any other status that is not 2xx: 400, 409 and so on. */
  | 'status'
  /** 2xx, but the body is not the answer to a heartbeat: HTML, empty, not JSON; or it is no HTTP at all. */
  | 'unreadable'
  /** 2xx and readable, but `success: false`. */
  | 'rejected'
  /** 2xx and readable, but for another deployment. */
  | 'wrong-deployment'
  /** The beat port itself threw: a bug on our side, or an error nobody classified. */
  | 'unknown';

/** Every label of `deployment_heartbeat_failures_total`, so that each series can exist from the start. */
export const FAILURE_LABELS = [
  'dns',
  'connect',
  'tls',
  'reset',
  'timeout',
  'server-error',
  'redirect',
  'status',
  'unreadable',
  'rejected',
  'wrong-deployment',
  'unknown',
  'throttled',
  'unauthorized',
  'no-key',
  'stale-key',
  'not-found',
] as const satisfies readonly (
  | FailureReason
  | Exclude<Outcome['type'], 'failed' | 'accepted'>
  | 'no-key'
  | 'stale-key'
)[];

/** A failure reason, or one of the answers that are neither success nor failure of the service. */
export type FailureLabel = (typeof FAILURE_LABELS)[number];

/**
 * The error codes of the interface (§7), with their HTTP statuses, and the few that the document leaves
 * unnamed but that a client meets all the same: those are marked `assumed`.
 */

/** Who has to act: the caller, the service (wait or retry), or nobody but a developer of this project. */
export type Actor = 'user' | 'service' | 'bug';

export interface ErrorDefinition {
  /** Statuses that the code comes with; the first is the usual one. */
  readonly status: readonly [number, ...number[]];
  /** The condition, from the document. */
  readonly when: string;
  readonly actor: Actor;
  /** The document names the condition but no code; code and status are this project's assumption. */
  readonly assumed?: true;
}

export const ERRORS = {
  bad_request: {
    status: [400],
    when: 'schema failure: missing field, wrong type, invalid enum, malformed JSON',
    actor: 'user',
  },
  auth_error: {
    status: [403],
    when: 'no valid authentication: no Bearer key, no tfa_secret, or an expired session',
    actor: 'user',
  },
  not_found: { status: [404], when: 'the id matches nothing that belongs to this user', actor: 'user' },
  team_user_forbidden: { status: [403], when: 'called from a team context', actor: 'user' },
  invalid_key: {
    status: [401],
    when: 'the API key is unknown, was reset, or was deleted (§5.2)',
    actor: 'user',
    assumed: true,
  },
  forbidden: {
    status: [403],
    when: "the key's permission set lacks what the operation needs (§5.3)",
    actor: 'user',
    assumed: true,
  },
  rate_limited: {
    status: [429],
    when: 'requests of one identity to one endpoint come faster than its minimum interval',
    actor: 'service',
    assumed: true,
  },
  internal_error: { status: [500], when: 'the service failed', actor: 'service', assumed: true },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof ERRORS;

/** Errors that any operation may answer, whatever its row says. */
export const COMMON_ERRORS = [
  'bad_request',
  'auth_error',
  'invalid_key',
  'forbidden',
  'rate_limited',
  'internal_error',
] as const satisfies readonly ErrorCode[];

/** The error codes of the interface (§7). Those that it leaves unnamed are marked `assumed`. */
import * as z from 'zod';
import { timestamp } from './schemas.ts';

/** Who has to act: the caller, the service (wait or retry), or a developer of this project. */
export type Actor = 'user' | 'service' | 'bug';

export interface ErrorDefinition {
  /** The first is the usual one. */
  readonly status: readonly [number, ...number[]];
  readonly when: string;
  readonly actor: Actor;
  readonly advice: string;
  readonly fields?: z.ZodObject;
  /** Statuses with which it is about the key: another key would help. */
  readonly aboutKey?: readonly number[];
  /** The interface names the condition but no code; code and status are this project's assumption. */
  readonly assumed?: true;
}

/** The defaults: a 400 that the caller has to act on. */
type ErrorRow = Pick<ErrorDefinition, 'when' | 'advice'> & Partial<ErrorDefinition>;

const lock = {
  fail_count: z.int().nonnegative().describe('failed attempts so far'),
  locked_until: timestamp.describe('when the lock ends, Unix seconds'),
};

const failures = z.looseObject({
  fail_count: lock.fail_count.optional(),
  locked_until: lock.locked_until.nullish().describe('when the lock ends; null when not locked'),
});

const CHECK_INPUT = 'check the input against the operation (`pilotlight ops`)';
const NEW_CODE = 'ask for a new code and enter that one';
const RETRY = 'try again in a moment';

const STATED = {
  bad_request: {
    when: 'schema failure: missing field, wrong type, invalid enum, malformed JSON',
    advice: CHECK_INPUT,
  },
  auth_error: {
    status: [403],
    aboutKey: [403],
    when: 'no valid authentication: no Bearer key, no tfa_secret, or an expired session',
    advice: 'send a valid API key; after a 2FA login, the session_key',
  },
  invalid_tfa_method: {
    when: 'unsupported tfa_method',
    advice: 'use one of sms, totp, email, as far as the operation takes it',
  },
  missing_auth_value: {
    status: [400, 401],
    aboutKey: [401],
    when: 'code or backup_code missing (401 when there is no usable authentication context)',
    advice: 'send the 6-digit code or a backup code; without an API key, the tfa_secret too',
  },
  missing_params: {
    when: 'code and secret missing',
    advice: 'send the 6-digit code and the secret that came with it',
  },
  email_not_verified: {
    when: 'account e-mail unverified',
    advice: 'verify the e-mail address of the account first; codes are sent only then',
  },
  '2fa_expired': { when: 'challenge older than 10 minutes', advice: NEW_CODE },
  challenge_not_found: {
    when: 'no challenge for the secret',
    advice: 'send the secret that the send-code call returned; or ask for a new code',
  },
  no_challenge_found: { when: 'no active challenge in context (expired or cleared)', advice: NEW_CODE },
  tfa_challenge_exists: {
    when: 'recent SMS code already sent; use resend',
    advice: 'enter the code that was sent, or ask for it again with tfa.resendSms',
  },
  authorization_required: {
    status: [403],
    when: 'add-method window not granted or expired',
    advice: 'authorize first (tfa.authorizeNewMethod); the window lasts 30 minutes',
  },
  no_pending_authorization: {
    when: 'no pending authorization for the PUT step',
    advice: 'begin with tfa.authorizeNewMethod, then confirm it',
  },
  invalid_backup_code: {
    status: [401],
    when: 'backup code invalid or used',
    advice: 'use another backup code: each works once',
  },
  untracked_2fa_found: {
    when: 'legacy state on the deprecated test-submit path',
    advice: 'regenerate the backup codes first; that makes the legacy method a tracked one',
  },
  duplicate_tfa_method: {
    when: 'method type already configured',
    advice: 'remove the method of this type first, or keep it',
  },
  twilio_error: {
    when: 'SMS delivery failed (SMS provider)',
    actor: 'service',
    advice: 'check the phone number; then try again, or use another method',
  },
  preauth_phone_cap: {
    status: [429],
    when: 'phone number used in too many authorization attempts',
    advice: 'wait, or use another phone number or method',
  },
  sms_rate_limited: {
    status: [429],
    when: 'too many SMS codes requested; wait',
    advice: 'wait before asking for another SMS',
  },
  twilio_rate_limited: {
    status: [429],
    when: "the SMS provider's verification service rate-limited; retry shortly",
    actor: 'service',
    advice: RETRY,
  },
  tfa_locked: {
    status: [429],
    when: 'method locked after failures (15 minutes)',
    advice: 'wait until locked_until, or use another method or a backup code',
    fields: z.looseObject(lock),
  },
  service_unavailable: {
    status: [503],
    when: 'backing store unavailable during the authorization check; retry',
    actor: 'service',
    advice: RETRY,
  },
  phone_number_mismatch: {
    when: 'phone differs from the challenge or method',
    advice: 'use the phone number that the code was sent to',
  },
  '2fa_login_failed': {
    when: 'generic login failure: wrong code, missing context, or precondition such as no phone number',
    advice: 'check the code; ask for a new one if it is old',
  },
  '2fa_verification_failed': {
    when: 'verify step failed; for a configured method the body adds fail_count and locked_until',
    advice: 'check the code; several failures lock the method for 15 minutes',
    fields: failures,
  },
  team_user_forbidden: {
    status: [403],
    aboutKey: [403],
    when: 'called from a team context',
    advice: 'use a key of the personal context: 2FA is not done in a team',
  },
  missing_email: { when: 'e-mail required but unset', advice: 'set an e-mail address on the account first' },
  missing_phone_number: {
    when: 'phone required but not given or derivable',
    advice: 'send phone_number in E.164 form, such as +15551234567',
  },
  not_found: {
    status: [404],
    when: 'tfa_method_id matches no method of this user; elsewhere, an id that matches nothing of this user',
    advice: 'check the id',
  },
  tfa_method_not_configured: {
    when: 'TOTP method exists but its secret is missing or unreadable; reconfigure',
    advice: 'remove the authenticator and add it again',
  },
  challenge_creation_failed: {
    status: [500],
    when: 'challenge creation failed in authorize-new-method; retry',
    actor: 'service',
    advice: RETRY,
  },
  sms_blocked_number: {
    when: 'number flagged as high SMS-pumping risk; rejected before sending',
    advice: 'use another phone number, or an authenticator app',
  },
  sms_fraud_detected: {
    status: [403],
    when: 'account flagged for SMS fraud; SMS disabled until support clears it',
    advice: 'use an authenticator app, or ask support',
  },
} as const satisfies Record<string, ErrorRow>;

const ASSUMED = {
  invalid_key: {
    status: [401],
    aboutKey: [401],
    when: 'the API key is unknown, was reset, or was deleted (§5.2)',
    advice: 'use the current key; a reset key stops working at once',
  },
  forbidden: {
    status: [403],
    aboutKey: [403],
    when: "the key's permission set lacks what the operation needs (§5.3)",
    advice: 'use a key with that permission',
  },
  invalid_offer: {
    status: [404],
    when: 'the offer is unknown or already rented',
    advice: 'choose another offer',
  },
  team_required: {
    status: [403],
    aboutKey: [403],
    when: 'an operation on the current team, called with a key of the personal context',
    advice: "use a key of the team's context",
  },
  duplicate_role: { when: 'the team has a role of this name', advice: 'choose another name' },
  rate_limited: {
    status: [429],
    when: 'requests of one identity to one endpoint come faster than its minimum interval',
    actor: 'service',
    advice: 'come back more slowly',
  },
  no_such_workergroup: {
    status: [404],
    when: 'the id matches no worker group of this user (public dialect)',
    advice: 'check the id',
  },
  internal_error: { status: [500], when: 'the service failed', actor: 'service', advice: RETRY },
} as const satisfies Record<string, ErrorRow>;

type Rows = typeof STATED & typeof ASSUMED;

function filled(rows: Readonly<Record<string, ErrorRow>>, more?: Partial<ErrorDefinition>) {
  return Object.entries(rows).map(([code, row]) => [code, { status: [400], actor: 'user', ...row, ...more }]);
}

/** Error code → its HTTP statuses, when the service answers it, who must act, and what to do next. */
export const ERRORS = Object.fromEntries([
  ...filled(STATED),
  ...filled(ASSUMED, { assumed: true }),
]) as unknown as { readonly [Code in keyof Rows]: ErrorDefinition & Rows[Code] };

/** An error code of the interface (§7): the `errorCode` of an ApiError, if it is known. */
export type ErrorCode = keyof typeof ERRORS;

export type ErrorFields<Code extends ErrorCode> = Rows[Code] extends {
  readonly fields: infer Fields extends z.ZodType;
}
  ? Partial<z.output<Fields>>
  : Readonly<Record<string, unknown>>;
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

/** The refusal of a key that was made outside a 2FA session (evidence 7.3). */
export const SECOND_FACTOR = /logged in using two factor/i;

/** Evidence 7.3, 7.5. */
export const ADVICE_BY_WORDS: readonly { readonly says: RegExp; readonly advice: string }[] = [
  {
    says: SECOND_FACTOR,
    advice:
      'this key was made outside a session with two-factor authentication; log in with a second factor and create a new key there',
  },
  {
    says: /lacks the \S+ permission/i,
    advice: 'give the key this permission, or use another key',
  },
];

export const COMMON_ERRORS = [
  'bad_request',
  'missing_auth_value',
  'auth_error',
  'invalid_key',
  'forbidden',
  'rate_limited',
  'internal_error',
] as const satisfies readonly ErrorCode[];

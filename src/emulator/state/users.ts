/** Users, the roles of their teams, API keys, and what the service remembers about second factors. */

export interface UserRecord {
  readonly id: number;
  readonly username: string;
  readonly email: string | null;
  /** Unix time in seconds; null while unverified. */
  emailVerifiedAt: number | null;
  readonly isAdmin: boolean;
  /** The team in whose context this user's team keys act. */
  readonly teamId: number;
  readonly tfa: TfaAccount;
}

/** In the names and units of the interface. */
export interface TeamRoleRecord {
  readonly id: number;
  readonly team_id: number;
  readonly name: string;
  readonly permissions: Readonly<Record<string, unknown>>;
  readonly created_at: number;
}

export interface ApiKeyRecord {
  readonly id: number;
  /** For people; what journal and faults call the key by, since the value is a secret. */
  readonly name: string;
  readonly userId: number;
  /** null: full access. Flags (`{manage_billing: true}`) or the public nesting (`{api: {user_read: {}}}`). */
  readonly permissions: Readonly<Record<string, unknown>> | null;
  readonly team: boolean;
  /** Made in the session of a 2FA login. */
  readonly byTfa?: boolean;
}

/** Shared by all accounts. */
export interface TfaState {
  /** By secret (the interface's tfa_secret). */
  readonly challenges: Map<string, Challenge>;
  readonly sessions: Map<string, SessionRecord>;
  /** Codes that were sent, oldest first. */
  readonly outbox: SentMessage[];
  /** Phone number → Unix ms of the codes that went there before anybody was authorized. */
  readonly phoneUse: Map<string, number[]>;
  readonly blockedNumbers: Set<string>;
  smsProvider: (typeof SMS_PROVIDERS)[number];
  store: (typeof BACKING_STORES)[number];
  nextMethodId: number;
}

/** `failing`: twilio_error; `rate limited`: twilio_rate_limited. */
export const SMS_PROVIDERS = ['up', 'failing', 'rate limited'] as const;

/** `read only`: no authorization can be begun (challenge_creation_failed); `down`: none can be checked either. */
export const BACKING_STORES = ['up', 'read only', 'down'] as const;

export interface TfaAccount {
  /** 2FA from before methods were stored: enabled, without a method row (§2.4). */
  legacy: boolean;
  /** The number on file, E.164; that of a legacy account gets its codes. */
  phoneNumber: string | null;
  smsFraud: boolean;
  methods: TfaMethodRecord[];
  backupCodes: string[];
  /** End of the 30-minute window in which a method may be added, Unix ms. */
  authorizedUntilMs: number | null;
  /** Unix ms of the codes that were sent by SMS, the latest ones. */
  smsSentAtMs: number[];
}

export interface TfaMethodRecord {
  readonly id: number;
  readonly method: 'sms' | 'totp';
  label: string | null;
  /** Whole number, E.164; masked when shown. */
  readonly phoneNumber: string | null;
  /** Base32; null or unreadable text: the method is not configured. */
  totpSecret: string | null;
  isPrimary: boolean;
  failCount: number;
  lockedUntilMs: number | null;
  /** Period of 30 seconds, counted from 1970, of the authenticator code that was used last. */
  lastTotpPeriod: number | null;
  readonly createdAtMs: number;
  lastUsedMs: number | null;
}

export type Channel = 'sms' | 'email';

/**
 * What a secret stands for. `login`: a login was begun with a password, and waits for its second factor;
 * `code`: a code was asked for with an API key; `authorize`: step 1 of adding a method.
 */
export interface Challenge {
  readonly userId: number;
  readonly purpose: 'login' | 'code' | 'authorize';
  /** By what the second step of an authorization is verified. */
  readonly by: Channel | { readonly totpMethodId: number } | null;
  readonly codes: Record<Channel, SentCode | null>;
  /** Unix ms; put off by every code that is sent. */
  expiresAtMs: number;
}

export interface SentCode {
  readonly code: string;
  expiresAtMs: number;
  /** E.164; null for e-mail. */
  readonly phoneNumber: string | null;
  readonly methodId: number | null;
  /** Wrong codes so far, where no method counts them. */
  failures: number;
}

/** A key that a 2FA login gave out. */
export interface SessionRecord extends ApiKeyRecord {
  expiresAtMs: number;
  readonly admin: boolean;
}

/** A code that was sent by SMS or e-mail; times in Unix ms. */
export interface SentMessage {
  /** Counts up from 1. */
  readonly seq: number;
  readonly atMs: number;
  readonly userId: number;
  readonly channel: Channel;
  /** Phone number or e-mail address. */
  readonly to: string;
  readonly code: string;
  readonly expiresAtMs: number;
}

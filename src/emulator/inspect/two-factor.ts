/** What a test may see and change of 2FA, in process: `emulator.outbox.latest().code`, `emulator.totp(1)`. */
import * as z from 'zod';
import { phoneNumber } from '../../contract/schemas.ts';
import type { World } from '../service/service.ts';
import type { UserRecord } from '../state/users.ts';
import { openChallenge } from '../tfa/challenges.ts';
import {
  BACKING_STORES,
  SMS_PROVIDERS,
  type SentMessage,
  type TfaMethodRecord,
} from '../state/two-factor.ts';
import { readTotpSecret, totpCode } from '../tfa/account/totp.ts';

export const outboxFilter = z.strictObject({
  channel: z.enum(['sms', 'email']).optional(),
  to: z.string().optional().describe('phone number or e-mail address'),
  userId: z.int().optional(),
  afterSeq: z.int().nonnegative().optional(),
});
export type OutboxFilter = z.output<typeof outboxFilter>;

/** Codes that were sent. Reading one does not use it up. */
export interface Outbox {
  /** Oldest first; the latest 1,000 are kept. */
  messages(filter?: OutboxFilter): SentMessage[];
  /** @throws RangeError where none fits */
  latest(filter?: OutboxFilter): SentMessage;
  clear(): void;
}

/** Of the whole service; names and meanings are those of the seed's `tfa` section. */
export const tfaChange = z.strictObject({
  sms_provider: z.enum(SMS_PROVIDERS).optional(),
  blocked_numbers: z.array(phoneNumber).optional(),
  store: z.enum(BACKING_STORES).optional(),
});

/** Of one user. */
export const userChange = z.strictObject({
  email_verified: z.boolean().optional(),
  sms_fraud: z.boolean().optional(),
});

export interface TwoFactor {
  /**
   * Begins a login as the login endpoint does, which is no part of the interface: the password was right, and
   * the secret stands for the login until its second factor is verified (§5.8). Default: the first user.
   * @throws RangeError for a user that does not exist; so do all methods here that take one
   */
  startLogin(userId?: number): { readonly tfa_secret: string };
  /** Unused ones. */
  backupCodes(userId?: number): string[];
  sessions(): readonly {
    readonly userId: number;
    readonly admin: boolean;
    /** Unix ms. */
    readonly expiresAtMs: number;
  }[];
  /** What is left out stays as it is. */
  set(change: z.input<typeof tfaChange>): void;
  setUser(userId: number, change: z.input<typeof userChange>): void;
  /** Another secret for an authenticator; null or what is no base32 makes it tfa_method_not_configured. */
  setTotpSecret(methodId: number, base32: string | null): void;
}

/**
 * The code that an authenticator shows now, of a method by its id, or of a base32 secret that is being set up.
 * @throws RangeError for a method that does not exist or a secret that cannot be read
 */
export type TotpHelper = (methodIdOrSecret: number | string) => string;

export function inspectOutbox(world: World): Outbox {
  function messages(filter: OutboxFilter = {}): SentMessage[] {
    const { channel, to, userId, afterSeq = 0 } = filter;
    return world.state.tfa.outbox.filter(
      (message) =>
        message.seq > afterSeq &&
        (channel === undefined || message.channel === channel) &&
        (to === undefined || message.to === to) &&
        (userId === undefined || message.userId === userId),
    );
  }
  return {
    messages,
    latest(filter) {
      const message = messages(filter).at(-1);
      if (!message) throw new RangeError('no such message in the outbox');
      return message;
    },
    clear: () => void world.state.tfa.outbox.splice(0),
  };
}

export function totpHelper(world: World): TotpHelper {
  return (methodIdOrSecret) => {
    const base32 =
      typeof methodIdOrSecret === 'string'
        ? methodIdOrSecret
        : authenticatorOf(world, methodIdOrSecret).totpSecret;
    const secret = readTotpSecret(base32);
    if (!secret) throw new RangeError('no TOTP secret that can be read');
    return totpCode(secret, world.now());
  };
}

function authenticatorOf({ state }: World, id: number): TfaMethodRecord {
  for (const { tfa } of state.users.values()) {
    const method = tfa.methods.find((candidate) => candidate.id === id && candidate.method === 'totp');
    if (method) return method;
  }
  throw new RangeError(`no 2FA method ${id} of the type totp`);
}

export function inspectTwoFactor(world: World): TwoFactor {
  return {
    startLogin(userId) {
      const { state, random } = world;
      const context = { state, random, nowMs: world.now(), user: userOf(world, userId) };
      return { tfa_secret: openChallenge(context, 'login') };
    },
    backupCodes: (userId) => [...userOf(world, userId).tfa.backupCodes],
    sessions: () =>
      [...world.state.tfa.sessions.values()].map(({ userId, admin, expiresAtMs }) => ({
        userId,
        admin,
        expiresAtMs,
      })),
    set(change) {
      const { tfa } = world.state;
      const { sms_provider, blocked_numbers, store } = tfaChange.parse(change);
      if (sms_provider) tfa.smsProvider = sms_provider;
      if (store) tfa.store = store;
      if (!blocked_numbers) return;
      tfa.blockedNumbers.clear();
      for (const number of blocked_numbers) tfa.blockedNumbers.add(number);
    },
    setUser(userId, change) {
      const user = userOf(world, userId);
      const { email_verified, sms_fraud } = userChange.parse(change);
      if (sms_fraud !== undefined) user.tfa.smsFraud = sms_fraud;
      if (email_verified !== undefined) {
        user.emailVerifiedAt = email_verified ? Math.floor(world.now() / 1000) : null;
      }
    },
    setTotpSecret(methodId, base32) {
      authenticatorOf(world, methodId).totpSecret = base32;
    },
  };
}

function userOf({ state }: World, id: number | undefined): UserRecord {
  const user = id === undefined ? state.users.values().next().value : state.users.get(id);
  if (!user) throw new RangeError(`no user ${id}`);
  return user;
}

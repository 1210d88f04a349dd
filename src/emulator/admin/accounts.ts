import * as z from 'zod';
import { findKey, storeKey } from '../handlers/accounts.ts';
import { defined } from '../handlers/define.ts';
import { apiKeyEntry, type tfaSection, type userEntry } from '../seed/seed.ts';
import type { SentMessage, TeamRoleRecord, TfaMethodRecord, UserRecord } from '../state/state.ts';
import { openChallenge, readTotpSecret, totpCode } from '../tfa/account.ts';
import { Inspection } from './control.ts';

/** API keys by name. Their values go in and never come out. */
export class ApiKeys extends Inspection {
  list(): { readonly name: string; readonly userId: number }[] {
    return [...this.world.state.keys.values()].map(({ name, userId }) => ({ name, userId }));
  }

  /** Adds a key to the first user. @throws Error for a name or value that is taken */
  add(entry: z.input<typeof apiKeyEntry>): void {
    const { state } = this.world;
    const { key, name, permissions, team } = apiKeyEntry.parse(entry);
    if (findKey(state, name)) throw new Error(`name: there is an API key "${name}" already`);
    if (state.keys.has(key)) throw new Error('key: this value is in use');
    storeKey(state, key, { name, userId: this.beginning.owner, permissions: permissions ?? null, team });
  }

  /** Gives it a new value. @throws RangeError for an unknown name, Error for a value in use */
  reset(name: string, newValue: string): void {
    const { keys } = this.world.state;
    const found = findKey(this.world.state, name);
    if (!found) throw new RangeError(`no API key "${name}"`);
    const [value, key] = found;
    if (newValue !== value && keys.has(newValue)) throw new Error('key: this value is in use');
    keys.delete(value);
    keys.set(newValue, key);
  }
}

/** The roles that teams made. */
export class TeamRoles extends Inspection {
  list(): TeamRoleRecord[] {
    return [...this.world.state.teamRoles.values()];
  }
}

export const outboxFilter = z.strictObject({
  channel: z.enum(['sms', 'email']).optional(),
  to: z.string().optional().describe('phone number or e-mail address'),
  userId: z.int().optional(),
  afterSeq: z.int().nonnegative().optional(),
});
/** Messages that fit all given fields. `afterSeq`: only messages with a higher number. */
export type OutboxFilter = z.output<typeof outboxFilter>;

/** Codes that were sent. Reading a code does not use it up. */
export class Outbox extends Inspection {
  /** Oldest first; the latest 1,000 are kept. */
  messages({ channel, to, userId, afterSeq = 0 }: OutboxFilter = {}): SentMessage[] {
    return this.world.state.tfa.outbox.filter(
      (message) =>
        message.seq > afterSeq &&
        (channel === undefined || message.channel === channel) &&
        (to === undefined || message.to === to) &&
        (userId === undefined || message.userId === userId),
    );
  }

  /** @throws RangeError if no message fits */
  latest(filter?: OutboxFilter): SentMessage {
    const message = this.messages(filter).at(-1);
    if (!message) throw new RangeError('no such message in the outbox');
    return message;
  }

  clear(): void {
    this.world.state.tfa.outbox.splice(0);
  }
}

/** The current code of a method, by id or base32 secret. @throws RangeError if there is none to read */
export type TotpHelper = (methodIdOrSecret: number | string) => string;

/** Begins logins, reads backup codes and sessions, and changes what a user or the service has. */
export class TwoFactor extends Inspection {
  /** Begins a login (§5.8), by default of the first user. @throws RangeError for an unknown user, as below */
  startLogin(userId?: number): { readonly tfa_secret: string } {
    const { state, random } = this.world;
    const context = { state, random, nowMs: this.world.now(), user: this.#user(userId) };
    return { tfa_secret: openChallenge(context, 'login').secret };
  }

  /** The unused codes. */
  backupCodes(userId?: number): string[] {
    return [...this.#user(userId).tfa.backupCodes];
  }

  /** `expiresAtMs` is Unix ms. */
  sessions(): readonly { readonly userId: number; readonly admin: boolean; readonly expiresAtMs: number }[] {
    const sessions = [...this.world.state.tfa.sessions.values()];
    return sessions.map(({ userId, admin, expiresAtMs }) => ({ userId, admin, expiresAtMs }));
  }

  /** Fields that are left out stay as they are. */
  set(change: z.input<typeof tfaSection>): void {
    Object.assign(this.world.state.tfa, defined(change));
  }

  setUser(userId: number, change: Pick<z.input<typeof userEntry>, 'email_verified' | 'sms_fraud'>): void {
    const user = this.#user(userId);
    const { email_verified, sms_fraud } = change;
    if (sms_fraud !== undefined) user.tfa.sms_fraud = sms_fraud;
    if (email_verified !== undefined)
      user.email_verified_at = email_verified ? Math.floor(this.world.now() / 1000) : null;
  }

  /** Sets the secret of an authenticator. Null or invalid base32 makes it tfa_method_not_configured. */
  setTotpSecret(methodId: number, base32: string | null): void {
    this.#authenticator(methodId).totp_secret = base32;
  }

  totp(methodIdOrSecret: number | string): string {
    const isSecret = typeof methodIdOrSecret === 'string';
    const base32 = isSecret ? methodIdOrSecret : this.#authenticator(methodIdOrSecret).totp_secret;
    const secret = readTotpSecret(base32);
    if (!secret) throw new RangeError('no TOTP secret that can be read');
    return totpCode(secret, this.world.now());
  }

  #authenticator(id: number): TfaMethodRecord {
    for (const { tfa } of this.world.state.users.values()) {
      const method = tfa.methods.find((candidate) => candidate.id === id && candidate.method === 'totp');
      if (method) return method;
    }
    throw new RangeError(`no 2FA method ${id} of the type totp`);
  }

  #user(id: number | undefined): UserRecord {
    const { users } = this.world.state;
    const user = id === undefined ? users.values().next().value : users.get(id);
    if (!user) throw new RangeError(`no user ${id}`);
    return user;
  }
}

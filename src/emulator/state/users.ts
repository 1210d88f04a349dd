/** Users, and the roles of their teams. */
import type { TfaAccount } from './two-factor.ts';

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

export interface TeamRoleRecord {
  readonly id: number;
  readonly teamId: number;
  readonly name: string;
  readonly permissions: Readonly<Record<string, unknown>>;
  /** Unix time in ms. */
  readonly createdMs: number;
}

/** Backup codes (§2.4): three groups of four characters, 10 in a set, each good once. Pure. */
import { LIMITS } from '../../../contract/limits.ts';
import type { Random } from '../../random.ts';
import { Refused } from '../../answers/refused.ts';
import type { TfaAccount } from '../../state/two-factor.ts';

/** Without those that people take for one another: 0 O, 1 I L. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';

export function newBackupCodes(random: Random, count: number = LIMITS.backupCodesPerSet): string[] {
  return Array.from({ length: count }, () => Array.from({ length: 3 }, () => group(random)).join('-'));
}

function group(random: Random): string {
  return Array.from({ length: 4 }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join('');
}

/** Uses one up. @throws Refused invalid_backup_code for one that is wrong or was used */
export function useBackupCode(account: TfaAccount, code: string): void {
  const at = account.backupCodes.indexOf(code);
  if (at === -1) throw invalidBackupCode('none of the unused codes of this account');
  account.backupCodes.splice(at, 1);
}

export function invalidBackupCode(rule: string): Refused {
  return new Refused('invalid_backup_code', 'this backup code is not valid, or was used before', {
    reason: `backup_code: ${rule}`,
  });
}

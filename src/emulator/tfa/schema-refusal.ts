/** Broken schemas of 2FA requests for which §7 has a code that says more than bad_request. Pure. */
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { TFA_METHODS } from '../../contract/operations/tfa/tfa-fields.ts';
import { Refused } from '../answers/refused.ts';
import { invalidMethod } from './account/account.ts';
import { invalidBackupCode } from './account/backup-codes.ts';

/** For a body that does not fit the schema of its operation; undefined where bad_request says it. */
export function tfaSchemaRefusal(id: OperationId, body: unknown): Refused | undefined {
  const shape = operationOf(id).body?.shape;
  if (!id.startsWith('tfa.') || !shape || typeof body !== 'object' || body === null) return undefined;
  const {
    tfa_method: type,
    code,
    secret,
    backup_code: backupCode,
  } = body as Readonly<Record<string, unknown>>;
  const needsBoth = ['code', 'secret'].every((name) => shape[name]?.safeParse(undefined).success === false);
  if (needsBoth && (code === undefined || secret === undefined)) {
    return new Refused('missing_params', 'code and secret are needed', {
      reason: `${code === undefined ? 'code' : 'secret'}: needed; a code is verified with the secret that came with it`,
    });
  }
  if (typeof backupCode === 'string' && shape['backup_code']?.safeParse(backupCode).success === false) {
    return invalidBackupCode('not three groups of four characters (§2.4)');
  }
  const isKnown = (TFA_METHODS as readonly unknown[]).includes(type);
  if (isKnown && shape['tfa_method']?.safeParse(type).success === false) {
    return invalidMethod(`${String(type)} is not supported here`);
  }
  return undefined;
}

/** The second factors of one user: which there are, and what of them is shown. Pure. */
import type { TfaMethod } from '../../../contract/operations/tfa/tfa-status.ts';
import type { TfaMethodName } from '../../../contract/operations/tfa/tfa-fields.ts';
import type { TFA_STATUSES } from '../../../contract/operations/users.ts';
import { Refused } from '../../answers/refused.ts';
import { lockView } from './lock.ts';
import type { TfaAccount, TfaMethodRecord } from '../../state/two-factor.ts';

export function tfaStatusOf({ methods, legacy }: TfaAccount): (typeof TFA_STATUSES)[number] {
  if (methods.length > 0) return 'enabled';
  return legacy ? 'legacy' : 'disabled';
}

/** @throws Refused not_found */
export function methodOf({ methods }: TfaAccount, id: number): TfaMethodRecord {
  const method = methods.find((candidate) => candidate.id === id);
  if (method) return method;
  throw new Refused('not_found', `no 2FA method ${id}`, {
    reason: `tfa_method_id: this user has no 2FA method ${id}`,
  });
}

/** How a request names a method. */
export interface MethodChoice {
  readonly tfa_method?: TfaMethodName | undefined;
  readonly tfa_method_id?: number | undefined;
}

/**
 * The method that `tfa_method_id` names, or else the only one of the type `type`; undefined without any.
 * @throws Refused not_found, invalid_tfa_method where id and type contradict, bad_request where several fit
 */
export function chooseMethod(
  account: TfaAccount,
  type: 'sms' | 'totp',
  id: number | undefined,
): TfaMethodRecord | undefined {
  if (id !== undefined) {
    const method = methodOf(account, id);
    if (method.method === type) return method;
    throw invalidMethod(`method ${id} is of the type ${method.method}, not ${type}`);
  }
  const [first, second] = account.methods.filter(({ method }) => method === type);
  if (!second) return first;
  throw new Refused('bad_request', 'tfa_method_id is needed: there are several methods of this type', {
    reason: `tfa_method_id: needed, since this user has several methods of the type ${type}`,
  });
}

export function invalidMethod(rule: string): Refused {
  return new Refused('invalid_tfa_method', rule, { reason: `tfa_method: ${rule}` });
}

/** The method that a number belongs to. */
export function methodOfPhone({ methods }: TfaAccount, phoneNumber: string): TfaMethodRecord | undefined {
  return methods.find((method) => method.phoneNumber === phoneNumber);
}

/** §2.4; secrets are never shown. */
export function viewMethod(method: TfaMethodRecord, userId: number, nowMs: number): TfaMethod {
  return {
    id: method.id,
    user_id: userId,
    method: method.method,
    label: method.label,
    ...(method.phoneNumber === null ? {} : { phone_number: maskPhone(method.phoneNumber) }),
    is_primary: method.isPrimary,
    ...lockView(method, nowMs),
    created_at: method.createdAtMs / 1000,
    last_used: method.lastUsedMs === null ? null : method.lastUsedMs / 1000,
  };
}

/** All but the last 4 digits hidden (§2.4). */
function maskPhone(phone: string): string {
  return phone.replaceAll(/\d(?=\d{4})/g, '*');
}

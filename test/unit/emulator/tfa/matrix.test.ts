/** The verification matrix of §5.7, row by row, against what the contract says and what the emulator does. */
import { expect, test } from 'vitest';
import { operationOf, OPERATION_IDS, type OperationId } from '../../../../src/contract/operations.ts';
import type { Verification } from '../../../../src/contract/define.ts';
import { createLab, type Lab } from '../../../support/two-factor.ts';

type Secret = Verification['secret'];

/** Endpoint, secret alone, when the secret is needed besides the key: copied from the document. */
const MATRIX: readonly (readonly [OperationId, secretAlone: boolean, secret: Secret])[] = [
  ['tfa.login', true, 'for sms and email'],
  ['tfa.sendEmail', true, 'never'],
  ['tfa.sendSms', true, 'without bearer'],
  ['tfa.resendSms', true, 'without bearer'],
  ['tfa.status', false, 'never'],
  ['tfa.authorizeNewMethod', false, 'never'],
  ['tfa.confirmAuthorization', false, 'always'],
  ['tfa.setupTotp', false, 'never'],
  ['tfa.confirmNew', false, 'always'],
  ['tfa.remove', false, 'for sms and email'],
  ['tfa.update', false, 'never'],
  ['tfa.regenerateBackupCodes', false, 'for sms and email'],
];

test.each(MATRIX)('the contract says of %s what the document says', (id, secretAlone, secret) => {
  expect(operationOf(id).verification).toEqual({ secretAlone, secret });
});

test('the deprecated paths are verified as those that replace them', () => {
  for (const id of OPERATION_IDS) {
    const { replacedBy, verification } = operationOf(id);
    if (replacedBy) expect(verification).toEqual(operationOf(replacedBy as OperationId).verification);
  }
});

/** A good request of each row, from the code that a proof would have; `{}` where it proves nothing. */
function inputOf(id: OperationId, lab: Lab): Record<string, unknown> {
  if (id === 'tfa.login' || id === 'tfa.remove' || id === 'tfa.regenerateBackupCodes') {
    return { tfa_method: 'totp', code: lab.totp(1) };
  }
  if (id === 'tfa.confirmAuthorization') return lab.sent('tfa.authorizeNewMethod', { tfa_method: 'email' });
  if (id === 'tfa.authorizeNewMethod') return { tfa_method: 'email' };
  if (id === 'tfa.update') return { tfa_method: 'totp', label: 'x' };
  if (id !== 'tfa.confirmNew') return {};
  lab.authorize('dev');
  const { secret } = lab.ok('tfa.setupTotp') as { secret: string };
  return { tfa_method: 'totp', secret, code: lab.totp(secret) };
}

test.each(MATRIX)('%s by a secret alone: %s', (id, secretAlone) => {
  const lab = createLab({ methodsPerType: 2 });
  if (id === 'tfa.resendSms') lab.ok('tfa.sendSms');
  const login = { secret: lab.tfa.startLogin(1).tfa_secret };
  if (id === 'tfa.resendSms') lab.ok('tfa.sendSms', login, null);
  const input = operationOf(id).body ? { ...inputOf(id, lab), ...login } : {};
  const answer = lab.call(id, input, null);
  expect(answer).toMatchObject(
    secretAlone ? { status: 200 } : { status: 401, body: { error: 'missing_auth_value' } },
  );
});

import { LIMITS } from '../../contract/limits.ts';
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { TFA_METHODS } from '../../contract/operations/tfa/tfa.ts';
import { Refused } from '../answers/answer.ts';
import {
  invalidBackupCode,
  invalidMethod,
  newTotpSecret,
  provisioningUri,
  viewMethod,
} from '../tfa/account.ts';
import {
  beginAuthorization,
  confirmAuthorization,
  confirmNew,
  regenerateBackupCodes,
  removeMethod,
  updateMethod,
} from '../tfa/methods.ts';
import { resendSms, sendEmail, sendSms } from '../tfa/sending.ts';
import { completeLogin } from '../tfa/verify.ts';
import { viewUser } from './accounts.ts';
import type { Handler, HandlersOf } from './define.ts';

export const tfaHandlers: HandlersOf<'tfa'> = {
  'tfa.status': personal((_, { user, nowMs }) => ({
    success: true,
    tfa_enabled: user.tfa.methods.length > 0 || user.tfa.legacy,
    methods: user.tfa.methods.map((method) => viewMethod(method, user.id, nowMs)),
    backup_codes_remaining: user.tfa.backupCodes.length,
    new_method_authorized: nowMs < (user.tfa.authorizedUntilMs ?? -Infinity),
  })),

  'tfa.login': personal((input, context) => {
    const { sessionKey, ...login } = completeLogin(context, input);
    const user = { ...viewUser(context.user), ...login };
    if (!context.loggedOut) return { ...user, session_key: sessionKey };
    context.headers['set-cookie'] = `session=${sessionKey}; Path=/; HttpOnly; SameSite=Lax`;
    return user;
  }),

  'tfa.sendEmail': personal((input, context) => sendEmail(context, input)),
  'tfa.sendSms': personal((input, context) => sendSms(context, input, 'tfa.sendSms')),
  'tfa.resendSms': personal((input, context) => resendSms(context, input, 'tfa.resendSms')),

  'tfa.setupTotp': personal((_, { user, random }) => {
    const secret = newTotpSecret(random);
    return { secret, provisioning_uri: provisioningUri(secret, user.email ?? user.username) };
  }),
  'tfa.authorizeNewMethod': personal((input, context) => beginAuthorization(context, input)),
  'tfa.confirmAuthorization': personal((input, context) => confirmAuthorization(context, input)),
  'tfa.confirmNew': personal((input, context) => confirmNew(context, input)),
  'tfa.update': personal((input, context) => updateMethod(context, input)),
  'tfa.remove': personal((input, context) => removeMethod(context, input)),
  'tfa.regenerateBackupCodes': personal((input, context) => regenerateBackupCodes(context, input)),

  'tfa.test': personal((input, context) => sendSms(context, input, 'tfa.test')),
  'tfa.resend': personal((input, context) => resendSms(context, input, 'tfa.resend')),
  'tfa.testSubmit': personal((input, context) => {
    if (!context.user.tfa.legacy) return confirmNew(context, input);
    throw new Refused('untracked_2fa_found', 'regenerate your backup codes first', 'tfa_status');
  }),
};

/** §5.5: 2FA needs the personal context. @throws Refused team_user_forbidden */
function personal<Id extends OperationId>(handler: Handler<Id>): Handler<Id> {
  return (input, context) => {
    if (context.key.team)
      throw new Refused('team_user_forbidden', '2FA is not managed in a team', 'authorization');
    return handler(input, context);
  };
}

export function tfaSchemaRefusal(id: OperationId, body: unknown): Refused | undefined {
  const shape = operationOf(id).body?.shape;
  if (!id.startsWith('tfa.') || !shape || typeof body !== 'object' || body === null) return undefined;
  const fields = body as Readonly<Record<string, unknown>>;
  const { tfa_method: type, code, secret, label, backup_code: backupCode } = fields;
  const needsBoth = ['code', 'secret'].every((name) => shape[name]?.safeParse(undefined).success === false);
  if (needsBoth && (code === undefined || secret === undefined)) {
    const field = code === undefined ? 'code' : 'secret';
    return new Refused('missing_params', 'code and secret are needed', field);
  }
  if (typeof backupCode === 'string' && shape['backup_code']?.safeParse(backupCode).success === false)
    return invalidBackupCode('not three groups of four characters (§2.4)');
  if (typeof label === 'string' && shape['label']?.safeParse(label).success === false) {
    const message = `a label has at most ${LIMITS.methodLabelLength} characters`;
    const inPublic = { status: 400, code: 'label_too_long', message };
    return new Refused('bad_request', message, 'label', { inPublic });
  }
  const isKnown = (TFA_METHODS as readonly unknown[]).includes(type);
  if (isKnown && shape['tfa_method']?.safeParse(type).success === false)
    return invalidMethod(`${String(type)} is not supported here`);
  return undefined;
}

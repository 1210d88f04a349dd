import type { Output } from '../../contract/operations.ts';
import { phoneNumber as phoneSchema } from '../../contract/schemas.ts';
import type { Client } from '../client.ts';
import {
  askForCode,
  checkOptions,
  chooseMethod,
  EMAIL,
  isFunction,
  proveSecondFactor,
  provisioningUri,
  smsSender,
  totpCode,
  type Choice,
  type ProofOptions,
} from './tfa-proof.ts';

export interface LoginResult {
  readonly user: Output<'tfa.login'>;
  /** Uses the session as its key, if the answer had one. */
  readonly client: Client;
}

/** How the account proves its second factor, and for which session. */
export interface LoginOptions extends ProofOptions {
  readonly admin?: boolean;
  /** The tfa_secret of a login by password, in place of a key (§5.8). Default `method`: sms. */
  readonly secret?: string;
}

/**
 * Completes a login. The returned `client` uses the session key, if there is one (§4.4).
 * @throws ApiError; RequestError for bad options, before anything is sent; what `askCode` rejects with
 */
export async function login(client: Client, options: LoginOptions): Promise<LoginResult> {
  checkOptions('tfa.login', options);
  const proof = await proveSecondFactor(client, options, options.secret);
  const answer = await client.tfa.login({ ...proof, admin: options.admin }, { signal: options.signal });
  const { session_key: said = '', ...rest } = answer;
  const session = said.trim();
  if (session === '') return { user: rest, client };
  return { user: { ...rest, session_key: session }, client: client.withKey(session) };
}

export interface AddedMethod {
  /** 10 codes, shown once, for the first method only. Keep them. */
  readonly backupCodes: readonly string[] | undefined;
}

/**
 * Adds an authenticator app. `onSecret` shows the secret first. `generate` computes the code.
 * @throws ApiError; RequestError for bad options, before anything is sent; what `askCode` rejects with
 */
export async function addTotp(
  client: Client,
  options: ProofOptions & {
    readonly onSecret: (setup: {
      readonly secret: string;
      readonly provisioningUri: string;
    }) => void | Promise<void>;
    readonly label?: string;
    readonly generate?: boolean;
  },
): Promise<AddedMethod> {
  checkOptions('tfa.setupTotp', options, { onSecret: isFunction });
  await authorize(client, options);
  const setup = await client.tfa.setupTotp({}, { signal: options.signal });
  await options.onSecret({
    secret: setup.secret,
    provisioningUri: setup.provisioning_uri ?? provisioningUri(setup.secret),
  });
  const code = options.generate
    ? totpCode(setup.secret, (options.now ?? Date.now)())
    : await options.askCode(
        { method: 'totp', hint: options.label, said: undefined, resend: undefined },
        options.signal,
      );
  return confirm(client, { tfa_method: 'totp', code, secret: setup.secret }, options);
}

/**
 * Adds a phone number, in E.164 form.
 * @throws ApiError; RequestError for bad options, before anything is sent; what `askCode` rejects with
 */
export async function addSms(
  client: Client,
  options: ProofOptions & { readonly phoneNumber: string; readonly label?: string },
): Promise<AddedMethod> {
  checkOptions('tfa.sendSms', options, { phoneNumber: phoneSchema });
  const { phoneNumber, signal } = options;
  await authorize(client, options);
  const sender = smsSender(client, { phone_number: phoneNumber }, signal);
  const choice: Choice = { method: 'sms', methodId: undefined, hint: phoneNumber };
  const { code, secret = '' } = await askForCode(choice, sender, options);
  return confirm(client, { tfa_method: 'sms', code, secret, phone_number: phoneNumber }, options);
}

/**
 * Removes a method; without `targetId` the method of the proof. `remainingMethods`: 0 if 2FA is off.
 * @throws ApiError; RequestError for bad options, before anything is sent; what `askCode` rejects with
 */
export async function removeMethod(
  client: Client,
  options: ProofOptions & { readonly targetId?: number },
): Promise<{ readonly remainingMethods: number | undefined }> {
  checkOptions('tfa.remove', options);
  const proof = await proveSecondFactor(client, options);
  // The answer about the last method has no such field (§4.4).
  const { remaining_methods: remaining = 0 } = await client.tfa.remove(
    { ...proof, target_id: options.targetId },
    { signal: options.signal },
  );
  const count = Array.isArray(remaining) ? remaining.length : remaining;
  return { remainingMethods: typeof count === 'number' ? count : undefined };
}

/**
 * A fresh set of 10 backup codes, shown once; all earlier ones stop working.
 * @throws ApiError; RequestError for bad options, before anything is sent; what `askCode` rejects with
 */
export async function regenerateBackupCodes(
  client: Client,
  options: ProofOptions,
): Promise<readonly string[]> {
  checkOptions('tfa.regenerateBackupCodes', options);
  const proof = await proveSecondFactor(client, options);
  return (await client.tfa.regenerateBackupCodes(proof, { signal: options.signal })).backup_codes;
}

async function authorize(client: Client, options: ProofOptions): Promise<void> {
  const { signal, backupCode } = options;
  const status = await client.tfa.status({}, { signal });
  if (status.new_method_authorized) return;
  if (backupCode !== undefined) {
    await client.tfa.authorizeNewMethod({ backup_code: backupCode }, { signal });
    return;
  }
  // The service forces a user without methods to e-mail (§4.4).
  const choice = status.methods.length === 0 ? EMAIL : await chooseMethod(client, options);
  const { method, methodId } = choice;
  const send = async () => {
    const input = { tfa_method: method, tfa_method_id: methodId };
    return { secret: (await client.tfa.authorizeNewMethod(input, { signal })).secret };
  };
  const sender = { send, resend: method === 'totp' ? undefined : send };
  const { code, secret = '' } = await askForCode(choice, sender, options);
  await client.tfa.confirmAuthorization({ code, secret }, { signal });
}

async function confirm(
  client: Client,
  input: Parameters<Client['tfa']['confirmNew']>[0],
  { label, signal }: { readonly label?: string; readonly signal?: AbortSignal },
): Promise<AddedMethod> {
  const { backup_codes: backupCodes } = await client.tfa.confirmNew({ ...input, label }, { signal });
  return { backupCodes };
}

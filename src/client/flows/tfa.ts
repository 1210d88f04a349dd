import { OPERATIONS, type Output, type Input, type OperationId } from '../../contract/operations.ts';
import { phoneNumber as phoneSchema, id as wholeId } from '../../contract/schemas.ts';
import type { Client } from '../client.ts';
import { Secret, TOTP } from 'otpauth';
import * as z from 'zod';
import {
  STORED_TFA_METHODS,
  type StoredTfaMethod,
  type TfaMethod,
} from '../../contract/operations/tfa/tfa-status.ts';
import { TFA_METHODS, type TfaMethodName } from '../../contract/operations/tfa/tfa.ts';
import { ApiError, RequestError } from '../errors.ts';

interface LoginResult {
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

interface AddedMethod {
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

/** What a person is asked for. */
export interface CodePrompt {
  readonly method: TfaMethodName;
  /** Label or masked phone number of the method. */
  readonly hint: string | undefined;
  /** The service's words about where the code was sent. */
  readonly said: string | undefined;
  /** Sends the code again; undefined for an authenticator. */
  readonly resend: (() => Promise<void>) | undefined;
}

/** Resolves with the 6-digit code; a rejection ends the flow. The code is never logged or kept. */
export type AskCode = (prompt: CodePrompt, signal: AbortSignal | undefined) => Promise<string>;

/** How an account proves its second factor: a code, asked for or computed, or a backup code. */
export interface ProofOptions {
  readonly askCode: AskCode;
  /** Base32 secret of the account's authenticator, to compute codes from. */
  readonly totpSecret?: string;
  /** A one-time backup code, in place of a method. */
  readonly backupCode?: string;
  /** Default: the primary method, or e-mail if there is none. */
  readonly method?: TfaMethodName;
  readonly methodId?: number;
  /** Unix ms, for computed codes. */
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}

const isFunction = z.custom((value) => typeof value === 'function', 'must be a function');

/** Options are checked first, as sending uses a code up. Messages leave values out: some are secrets. */
function checkOptions(
  operation: OperationId,
  options: ProofOptions,
  needs: Readonly<Record<string, z.ZodType>> = {},
): void {
  const schema = z.looseObject({
    askCode: isFunction,
    totpSecret: z.string().refine(isBase32, 'must be base32').optional(),
    backupCode: z.string().min(1).optional(),
    secret: z.string().min(1).optional(),
    method: z.enum(TFA_METHODS).optional(),
    methodId: wholeId.optional(),
    targetId: wholeId.optional(),
    label: OPERATIONS['tfa.confirmNew'].body.shape.label,
    admin: z.boolean().optional(),
    now: isFunction.optional(),
    ...needs,
  });
  const { error } = schema.safeParse(options);
  if (error === undefined) return;
  const problems = error.issues.map(({ path, message }) => ({ field: path.join('.'), message }));
  throw new RequestError(operation, problems);
}

function isBase32(text: string): boolean {
  try {
    return Secret.fromBase32(text).bytes.length > 0;
  } catch {
    return false;
  }
}

type Proof = Omit<Input<'tfa.regenerateBackupCodes'>, 'extra'>;

interface Choice {
  readonly method: TfaMethodName;
  readonly methodId: number | undefined;
  readonly hint: string | undefined;
}

/** `loginSecret` stands in for a key (§5.8). */
export async function proveSecondFactor(
  client: Client,
  options: ProofOptions,
  loginSecret?: string,
): Promise<Proof> {
  const { backupCode, signal } = options;
  if (backupCode !== undefined) return { backup_code: backupCode, secret: loginSecret };
  const choice = loginSecret === undefined ? await chooseMethod(client, options) : loginChoice(options);
  const { method, methodId } = choice;
  const sender = senderOf(client, choice, loginSecret, signal);
  const { code, secret = loginSecret } = await askForCode(choice, sender, options);
  return { tfa_method: method, code, secret, tfa_method_id: methodId };
}

/** The wanted method, else the authenticator whose secret is known, else the primary one, else e-mail. */
async function chooseMethod(client: Client, options: ProofOptions): Promise<Choice> {
  const { methodId, totpSecret, signal } = options;
  const { methods } = await client.tfa.status({}, { signal });
  const wanted = options.method ?? (totpSecret === undefined ? undefined : 'totp');
  if (wanted === 'email') return EMAIL;
  const fitting = methods
    .filter(isKnown)
    .filter(({ id }) => methodId === undefined || id === methodId)
    .filter(({ method }) => wanted === undefined || method === wanted);
  const chosen = fitting.find((method) => method.is_primary) ?? fitting[0];
  if (!chosen) return wanted === undefined ? EMAIL : { method: wanted, methodId, hint: undefined };
  const { id, method, label, phone_number: phone } = chosen;
  return { method, methodId: id, hint: label || (phone ?? undefined) };
}

/** Without a login the account's methods cannot be asked; sms is the service's default (§4.4). */
function loginChoice({ method, methodId, totpSecret }: ProofOptions): Choice {
  const fallback = totpSecret === undefined ? 'sms' : 'totp';
  return { method: method ?? fallback, methodId, hint: undefined };
}

function isKnown(method: TfaMethod): method is TfaMethod & { readonly method: StoredTfaMethod } {
  return (STORED_TFA_METHODS as readonly string[]).includes(method.method);
}

const EMAIL: Choice = { method: 'email', methodId: undefined, hint: undefined };

interface Sent {
  readonly secret?: string | undefined;
  readonly msg?: string | undefined;
}

interface Sender {
  readonly send: () => Promise<Sent>;
  readonly resend: (() => Promise<Sent>) | undefined;
}

function senderOf(
  client: Client,
  { method, methodId }: Choice,
  secret: string | undefined,
  signal: AbortSignal | undefined,
): Sender | undefined {
  if (method === 'totp') return undefined;
  if (method === 'sms') return smsSender(client, { tfa_method_id: methodId, secret }, signal);
  const send: Sender['send'] = () => client.tfa.sendEmail({ secret }, { signal });
  return { send, resend: send };
}

function smsSender(client: Client, input: Input<'tfa.sendSms'>, signal: AbortSignal | undefined): Sender {
  const resend: Sender['send'] = () => client.tfa.resendSms(input, { signal });
  async function send(): Promise<Sent> {
    try {
      return await client.tfa.sendSms(input, { signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.errorCode !== 'tfa_challenge_exists') throw error;
      return resend();
    }
  }
  return { send, resend };
}

/** Without a sender the code needs no sending. */
async function askForCode(
  { method, hint }: Choice,
  sender: Sender | undefined,
  options: ProofOptions,
): Promise<{ readonly code: string; readonly secret: string | undefined }> {
  let sent = await sender?.send();
  if (method === 'totp' && options.totpSecret !== undefined)
    return { code: totpCode(options.totpSecret, (options.now ?? Date.now)()), secret: sent?.secret };
  const send = sender?.resend;
  const resend = async (): Promise<void> => {
    sent = await send?.();
  };
  const prompt = { method, hint, said: sent?.msg, resend: send && resend };
  const code = await options.askCode(prompt, options.signal);
  return { code, secret: sent?.secret };
}

/** The authenticator's code at a time in Unix ms (RFC 6238: SHA-1, 6 digits, 30 s). */
export function totpCode(base32Secret: string, atMs: number): string {
  return new TOTP({ secret: Secret.fromBase32(base32Secret) }).generate({ timestamp: atMs });
}

function provisioningUri(base32Secret: string): string {
  return new TOTP({ label: 'account', secret: Secret.fromBase32(base32Secret) }).toString();
}

/** Proves a second factor: chooses the method, has the code sent, asks for it or computes it (§4.4). */
import { Secret, TOTP } from 'otpauth';
import * as z from 'zod';
import { OPERATIONS, type Input, type OperationId } from '../../contract/operations.ts';
import { id as wholeId } from '../../contract/schemas.ts';
import {
  STORED_TFA_METHODS,
  type StoredTfaMethod,
  type TfaMethod,
} from '../../contract/operations/tfa/tfa-status.ts';
import { TFA_METHODS, type TfaMethodName } from '../../contract/operations/tfa/tfa.ts';
import type { Client } from '../client.ts';
import { ApiError, RequestError } from '../errors.ts';

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

export const isFunction = z.custom((value) => typeof value === 'function', 'must be a function');
const { shape } = OPERATIONS['tfa.confirmNew'].body;
const OPTIONS = z.looseObject({
  askCode: isFunction,
  totpSecret: z.string().refine(isBase32, 'must be base32').optional(),
  backupCode: z.string().min(1).optional(),
  secret: z.string().min(1).optional(),
  method: z.enum(TFA_METHODS).optional(),
  methodId: wholeId.optional(),
  targetId: wholeId.optional(),
  label: shape.label,
  admin: z.boolean().optional(),
  now: isFunction.optional(),
});

/** Options are checked first, as sending uses a code up. Messages leave values out: some are secrets. */
export function checkOptions(
  operation: OperationId,
  options: ProofOptions,
  needs: Readonly<Record<string, z.ZodType>> = {},
): void {
  const { error } = OPTIONS.extend(needs).safeParse(options);
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

export interface Choice {
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
export async function chooseMethod(client: Client, options: ProofOptions): Promise<Choice> {
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

export const EMAIL: Choice = { method: 'email', methodId: undefined, hint: undefined };

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

export function smsSender(
  client: Client,
  input: Input<'tfa.sendSms'>,
  signal: AbortSignal | undefined,
): Sender {
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
export async function askForCode(
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

export function provisioningUri(base32Secret: string): string {
  return new TOTP({ label: 'account', secret: Secret.fromBase32(base32Secret) }).toString();
}

/**
 * Proving a second factor: chooses the method, has the code sent where one must be, asks the person or
 * computes it, and hands over exactly the fields that go with it (§4.4).
 */
import { Secret, TOTP } from 'otpauth';
import type { TfaMethod, TfaMethodName } from '../../contract/tfa.ts';
import type { Client } from '../client.ts';
import { ApiError } from '../errors.ts';

/** What a person is asked for. */
export interface CodePrompt {
  readonly method: TfaMethodName;
  /** Label or masked phone number of the method, where it has one. */
  readonly hint: string | undefined;
  /** The service's words about where the code was sent. */
  readonly said: string | undefined;
}

/** Hands over the 6-digit code; a rejection ends the flow. Never logged or kept. */
export type AskCode = (prompt: CodePrompt, signal: AbortSignal | undefined) => Promise<string>;

export interface ProofOptions {
  readonly askCode: AskCode;
  /** Base32 secret of the account's authenticator: then its codes are computed instead of asked for. */
  readonly totpSecret?: string;
  /** A one-time backup code, used instead of any method. */
  readonly backupCode?: string;
  /** Which method to use; default: the primary one, or e-mail where there is none. */
  readonly method?: TfaMethodName;
  readonly methodId?: number;
  /** Unix ms, for computed codes. */
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}

/** The fields that every verifying operation takes. */
export interface Proof {
  readonly tfa_method?: TfaMethodName;
  readonly code?: string;
  readonly secret?: string;
  readonly tfa_method_id?: number;
  readonly backup_code?: string;
}

export interface Choice {
  readonly method: TfaMethodName;
  readonly methodId: number | undefined;
  readonly hint: string | undefined;
}

/** @throws ApiError of the send calls; whatever `askCode` rejects with */
export async function proveSecondFactor(client: Client, options: ProofOptions): Promise<Proof> {
  if (options.backupCode !== undefined) return { backup_code: options.backupCode };
  const choice = await chooseMethod(client, options);
  const sent = await sendCode(client, choice, options.signal);
  return {
    tfa_method: choice.method,
    code: await codeFor(choice, sent?.msg, options),
    ...(sent && { secret: sent.secret }),
    ...(choice.methodId !== undefined && { tfa_method_id: choice.methodId }),
  };
}

/** The method that was asked for, else the authenticator whose secret is known, else the primary one, else e-mail. */
export async function chooseMethod(client: Client, options: ProofOptions): Promise<Choice> {
  const { methods } = await client.tfa.status({}, callOptions(options.signal));
  const wanted = options.method ?? (options.totpSecret === undefined ? undefined : 'totp');
  if (wanted === 'email') return EMAIL;
  const fitting = methods.filter(
    ({ id, method }) =>
      (options.methodId === undefined || id === options.methodId) &&
      (wanted === undefined || method === wanted),
  );
  const chosen = fitting.find((method) => method.is_primary) ?? fitting[0];
  if (!chosen)
    return wanted === undefined ? EMAIL : { method: wanted, methodId: options.methodId, hint: undefined };
  return { method: chosen.method, methodId: chosen.id, hint: hintOf(chosen) };
}

const EMAIL: Choice = { method: 'email', methodId: undefined, hint: undefined };

function hintOf({ label, phone_number }: TfaMethod): string | undefined {
  return label ?? phone_number ?? undefined;
}

interface Sent {
  readonly secret: string;
  readonly msg: string;
}

/** Undefined for an authenticator, which needs no code sent. A code that is already on its way is sent once more. */
async function sendCode(
  client: Client,
  { method, methodId }: Choice,
  signal: AbortSignal | undefined,
): Promise<Sent | undefined> {
  if (method === 'totp') return undefined;
  if (method === 'email') return client.tfa.sendEmail({}, callOptions(signal));
  return sendSms(client, methodId === undefined ? {} : { tfa_method_id: methodId }, signal);
}

export async function sendSms(
  client: Client,
  input: { readonly tfa_method_id?: number; readonly phone_number?: string },
  signal: AbortSignal | undefined,
): Promise<Sent> {
  try {
    return await client.tfa.sendSms(input, callOptions(signal));
  } catch (error) {
    if (!(error instanceof ApiError) || error.errorCode !== 'tfa_challenge_exists') throw error;
    return client.tfa.resendSms(input, callOptions(signal));
  }
}

export function codeFor(choice: Choice, said: string | undefined, options: ProofOptions): Promise<string> {
  if (choice.method === 'totp' && options.totpSecret !== undefined) {
    return Promise.resolve(totpCode(options.totpSecret, (options.now ?? Date.now)()));
  }
  return options.askCode({ method: choice.method, hint: choice.hint, said }, options.signal);
}

/** The authenticator's code at a time in Unix ms (RFC 6238: SHA-1, 6 digits, 30 s). */
export function totpCode(base32Secret: string, atMs: number): string {
  return new TOTP({ secret: Secret.fromBase32(base32Secret) }).generate({ timestamp: atMs });
}

export function callOptions(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

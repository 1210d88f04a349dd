/** Asks a person at a terminal for what a command lacks: secrets, and 2FA codes, which may have to be sent first. */
import type { Client } from '../../client/client.ts';
import { proveSecondFactor, type CodePrompt } from '../../client/flows/tfa-proof.ts';
import type { Operation } from '../../contract/define.ts';
import type { TfaMethodName } from '../../contract/operations/tfa/tfa.ts';
import { printError, type Console } from '../console.ts';
import { legibleLine } from '../text/legible.ts';
import { flagsOf } from './flags.ts';
import type { Input } from './input.ts';

interface Asking {
  readonly client: Client;
  readonly console: Pick<Console, 'ask' | 'err'>;
  readonly signal: AbortSignal;
}

/** The input with what was asked for; unchanged where no person can be asked, as in a script. */
export async function completeInput(
  operation: Operation,
  input: Input,
  { client, console: { ask, err }, signal }: Asking,
): Promise<Input> {
  if (!ask) return input;
  const { shape = {} } = operation.body ?? {};
  // A second factor proves the body: a code, or a backup code in its place.
  if ('code' in shape && 'backup_code' in shape) {
    if (input['code'] !== undefined || input['backup_code'] !== undefined) return input;
    // With a secret comes a code that has been sent already.
    if (input['secret'] !== undefined) return { ...input, code: await ask('6-digit code: ', signal) };
    const proof = await proveSecondFactor(client, {
      askCode: (prompt) => askCode(prompt, (question) => ask(question, signal), err),
      ...(input['tfa_method'] !== undefined && { method: input['tfa_method'] as TfaMethodName }),
      ...(input['tfa_method_id'] !== undefined && { methodId: input['tfa_method_id'] as number }),
      signal,
    });
    return { ...input, ...proof };
  }
  const asked: Input = {};
  for (const { field, name, secret, required, fallback, description } of flagsOf(operation))
    if (required && secret && fallback === undefined && input[field] === undefined)
      asked[field] = await ask(`${name} (${description}): `, signal);
  return { ...input, ...asked };
}

async function askCode(
  { method, hint, said, resend }: CodePrompt,
  ask: (question: string) => Promise<string>,
  err: Console['err'],
): Promise<string> {
  if (said !== undefined) printError({ err }, legibleLine(said));
  const shown = hint === undefined ? '' : ` (${legibleLine(hint)})`;
  const of = method === 'totp' ? 'from your authenticator' : `sent by ${method}`;
  for (;;) {
    const answer = await ask(`6-digit code ${of}${shown}${resend ? ', or r to have it sent again' : ''}: `);
    if (/^\d{6}$/.test(answer)) return answer;
    if (resend && answer === 'r') {
      await resend();
      err('Sent again.\n');
    } else err('A code has 6 digits.\n');
  }
}

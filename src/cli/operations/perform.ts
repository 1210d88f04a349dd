/** Sends what a command asks for, or shows it: every command and `call` reach the service this way. */
import { CommandError, printError, printLine, type Console, READER_LEFT } from '../console.ts';
import { exitCodeOf, printAdvice } from '../exit-code.ts';
import type { ProfileFlag } from '../flag-types.ts';
import { commandConnection, usableConnection } from '../logins.ts';
import { printAnswer, printResult } from './answer.ts';
import { flagsOf } from './flags.ts';
import { describeInputProblem, type Input } from './input.ts';
import { commandOf, namedField, resolveNames } from './names.ts';
import { legible, legibleLine } from '../text.ts';
import { createClient, type CallOptions, type Client } from '../../client/client.ts';
import { CallError, RequestError } from '../../client/errors.ts';
import { fitOnstart } from '../../client/flows/launch.ts';
import { proveSecondFactor, type CodePrompt } from '../../client/flows/tfa.ts';
import { hasOwnKey, type LoadedConnection } from '../../config/command-settings.ts';
import { EXIT } from '../../config/exit-codes.ts';
import type { Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';
import { LIMITS } from '../../contract/limits.ts';
import { OPERATION_IDS, operationOf, wordsOfId, type OperationId } from '../../contract/operations.ts';
import type { TfaMethodName } from '../../contract/operations/tfa/tfa.ts';
import { countCharacters } from '../../contract/schemas.ts';
import { encodeRequest, requestHeaders } from '../../wire/request.ts';

export interface PerformOptions extends ProfileFlag {
  readonly json?: boolean;
  readonly showKeys?: boolean;
  readonly dryRun?: boolean;
  readonly timeout?: number;
  /** The input came as fields, not as flags: problems have the names of fields. */
  readonly fields?: boolean;
  /** Default: the operation alone. */
  readonly act?: Act;
}

export type Act = (client: Client, input: Input, options: CallOptions) => Promise<unknown>;

export async function perform(id: OperationId, given: Input, options: PerformOptions, console: Console) {
  const input = packOnstart(id, given, console);
  if (options.dryRun) return showUnsent(id, input, options, console);
  const connection = usableConnection(console, options, !takesSecretAlone(id, input));
  if (!connection) {
    requestOf(id, input, options, console);
    return EXIT.usage;
  }
  await using client = createClient(connection);
  return await console.interruptible(async (signal) => {
    try {
      const callOptions: CallOptions = {
        signal,
        ...(options.timeout !== undefined && { timeoutMs: options.timeout }),
      };
      const { repeatable, nullIfNone } = operationOf(id);
      const named = options.fields ? input : await resolveNames(id, input, client, callOptions);
      const complete = await completeInput(operationOf(id), named, { client, console, signal });
      if (!requestOf(id, complete, options, console)) return EXIT.usage;
      const patient = repeatable ? callOptions : patientOptions(callOptions, signal, console);
      const { act = (_client, whole, own) => client.call(id, whole, own) } = options;
      const answer = await act(client, complete, patient);
      const isInterrupted = signal.aborted && !repeatable;
      if (nullIfNone !== undefined && isRecord(answer) && answer[nullIfNone] === null)
        throw new CommandError(`the service has nothing of this id: ${id} answered null`, EXIT.failed);
      if (id === 'apiKeys.reset' && !hasOwnKey(console.environment))
        printError(console, 'The stored key has stopped working: log in with the new one.');
      // As of a bulk creation that did not rent everything.
      const saysNo = isRecord(answer) && answer['success'] === false;
      const isDone = (await printAnswer(id, answer, options, console)) && !saysNo;
      return isInterrupted ? EXIT.interrupted : isDone ? EXIT.ok : EXIT.failed;
    } catch (error) {
      if (!(error instanceof CallError && error.mayBeDone)) throw error;
      const isInterrupted = signal.aborted;
      await explainOpen(error, console);
      return isInterrupted ? EXIT.interrupted : exitCodeOf(error);
    }
  });
}

/** A start script that is too long is packed, if that makes it short enough. */
function packOnstart(id: OperationId, input: Input, console: Console): Input {
  const { onstart: script } = input;
  if (typeof script !== 'string' || !RENTALS.has(id)) return input;
  try {
    const onstart = fitOnstart(script);
    if (onstart !== script) {
      const [before, after] = [script, onstart].map(countCharacters);
      const why = `onstart has ${before} characters, at most ${LIMITS.onstartLength} are taken`;
      const runs = 'Without a #! line it runs by sh; the image needs sh, base64, gzip and mktemp';
      printError(console, `${why}: sent as ${after}, packed with gzip. ${runs}`);
    }
    return { ...input, onstart };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    printError(console, `error: ${error.message}`);
    // The contract refuses it, with all other problems.
    return input;
  }
}

const RENTALS: ReadonlySet<OperationId> = new Set([
  'instances.create',
  'instances.createBulk',
  'instances.createByPost',
]);

/** §5.8: the secret of a login stands for a key in the calls that complete it. */
function takesSecretAlone(id: OperationId, input: Input): boolean {
  return operationOf(id).verification.secretAlone && input['secret'] !== undefined;
}

/** Wait so long for the answer after Ctrl-C if its outcome would stay unknown. */
const GRACE_MS = 5_000;

/** For calls that are not safe to repeat: an interrupted one waits for the answer. */
function patientOptions(options: CallOptions, signal: AbortSignal, console: Console): CallOptions {
  const tell = (): void => {
    const wait = `Waiting up to ${GRACE_MS / 1000} s for the answer to what was sent; Ctrl-C again ends at once.`;
    if (signal.reason !== READER_LEFT) printError(console, wait);
  };
  const onConnected = (): void => signal.addEventListener('abort', tell, { once: true });
  return { ...options, graceMs: GRACE_MS, onConnected };
}

async function explainOpen(error: CallError, console: Console): Promise<void> {
  printError(console, `error: ${legibleLine(error.message)}`);
  const view = viewOf(error.operation);
  printError(console, `It may have been done${view === undefined ? '' : `: see pilotlight ${view}`}.`);
  // The answer may be shown only this once.
  if (error.rawAnswer() !== '') {
    printError(console, 'The answer follows on standard output as it came.');
    await printResult(error.operation, `${legible(error.rawAnswer())}\n`, console);
  }
  printAdvice(console, error);
}

const VIEWS = ['list', 'search', 'status'] as const;

function viewOf(id: OperationId): string | undefined {
  const [resource] = wordsOfId(id);
  const view = OPERATION_IDS.find((each) => VIEWS.some((method) => each === `${resource}.${method}`));
  return view && commandOf(view);
}

/** Needs neither key nor address: it shows variables for them. */
function showUnsent(id: OperationId, input: Input, options: PerformOptions, console: Console): number {
  const operation = operationOf(id);
  const request = requestOf(id, input, options, console);
  if (!request) {
    const field = namedField(id);
    if (field !== undefined && typeof input[field] === 'string')
      printError(console, 'A dry run asks the service nothing, so it takes ids and no names.');
    return EXIT.usage;
  }
  const { addresses, hasKey } = commandConnection(console, options, false);
  const isKeyless = !hasKey && takesSecretAlone(id, input);
  const { method } = request;
  const url = baseOf(operation, addresses) + request.target;
  const headers = requestHeaders(request, isKeyless ? undefined : HIDDEN);
  const body = request.body ? hideSecrets(operation, request.body) : undefined;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const text = [`${method} ${url}`, ...lines, ...(body === undefined ? [] : ['', body])].join('\n');
  printLine(console, options.json ? JSON.stringify({ method, url, headers, body }) : text);
  return EXIT.ok;
}

const HIDDEN = '<redacted>';

/** Stands for the API key in a request for show, so that the real one is not used at all. */
const KEY_MARK = 'the API key';

/** Undefined: the contract refused it, and its problems have been printed. */
function requestOf(id: OperationId, input: Input, { fields = false }: PerformOptions, console: Console) {
  const operation = operationOf(id);
  const encoded = encodeRequest(operation, input, KEY_MARK);
  if (encoded.ok) return encoded.request;
  const flags = fields ? [] : flagsOf(operation);
  for (const problem of encoded.problems)
    printError(console, `error: ${describeInputProblem(operation, flags, problem)}`);
  return undefined;
}

interface AskedPerson {
  readonly client: Client;
  readonly console: Pick<Console, 'ask' | 'err'>;
  readonly signal: AbortSignal;
}

/** Unchanged without a terminal, as in a script. */
export async function completeInput(
  operation: Operation,
  input: Input,
  { client, console: { ask, err }, signal }: AskedPerson,
): Promise<Input> {
  if (!ask) return input;
  const { shape = {} } = operation.body ?? {};
  // A code, or a backup code in its place, proves the body.
  if ('code' in shape && 'backup_code' in shape) {
    if (input['code'] !== undefined || input['backup_code'] !== undefined) return input;
    // A secret means that the code has been sent already.
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

function hideSecrets(operation: Operation, body: string): string {
  const fields = JSON.parse(body) as Record<string, unknown>;
  for (const { field, secret } of flagsOf(operation))
    if (secret && typeof fields[field] === 'string' && fields[field] !== '') fields[field] = HIDDEN;
  const { keyInBody } = operation;
  if (keyInBody !== undefined && keyInBody in fields) fields[keyInBody] = HIDDEN;
  return JSON.stringify(fields);
}

/** An unknown address is shown as the variable that it would come from. */
function baseOf({ base }: Operation, { baseUrl, serverlessUrl }: LoadedConnection['addresses']): string {
  if (base === 'main') return baseUrl ?? '$BASE_URL';
  return serverlessUrl ?? baseUrl ?? '$SERVERLESS_URL';
}

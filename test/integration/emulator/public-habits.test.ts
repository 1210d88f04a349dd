/**
 * The habits of existing clients, each over the whole table: what they do to a request changes nothing of its answer.
 * Over sockets of our own, since fetch sends no body with a GET.
 */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATION_IDS, operationOf, type OperationId } from '../../../src/contract/operations.ts';
import {
  DEFAULT_TEAM_KEY,
  startEmulator,
  type DialectName,
  type Emulator,
} from '../../../src/emulator/index.ts';
import { encodeRequest } from '../../../src/wire/request.ts';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** undefined: no header. */
  readonly key: string | undefined;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

interface Answered {
  readonly status: number | undefined;
  readonly location: string | undefined;
  readonly body: unknown;
}

function send(emulator: Emulator, { method, path, query, key, body }: Sent): Promise<Answered> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(text !== '' && { 'content-length': Buffer.byteLength(text) }),
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(emulator.url + path + (query && `?${query}`), { method, headers });
    request.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const said = Buffer.concat(chunks).toString();
        const { location } = response.headers;
        resolve({ status: response.statusCode, location, body: JSON.parse(said) as unknown });
      });
    });
    request.end(text);
  });
}

/** The documented example of an operation, as our own client sends it. */
function exampleOf(id: OperationId): Sent {
  const operation = operationOf(id);
  const key = id === 'teams.createRole' ? DEFAULT_TEAM_KEY : 'emulator-key';
  const encoded = encodeRequest(operation, operation.example.input, key);
  if (!encoded.ok) throw new Error(`the example of ${id} breaks its contract`);
  const [path = '', query = ''] = encoded.request.target.split('?');
  const body = encoded.request.body;
  return {
    method: encoded.request.method,
    path,
    query,
    key,
    body: body === undefined ? undefined : (JSON.parse(body) as Record<string, unknown>),
  };
}

type Habit = (sent: Sent) => Sent;

const otherSlash: Habit = (sent) => ({
  ...sent,
  path: sent.path.endsWith('/') ? sent.path.slice(0, -1) : `${sent.path}/`,
});
const emptyBody: Habit = (sent) => ({ ...sent, body: sent.body ?? {} });
const keyInQuery: Habit = (sent) => ({
  ...sent,
  query: [sent.query, `api_key=${sent.key}`].filter((part) => part !== '').join('&'),
});

function numbersAsText(value: unknown): unknown {
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(numbersAsText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, numbersAsText(inner)]));
}

const IN_BOTH: Readonly<Record<string, Habit>> = {
  'a slash at the end, or none': otherSlash,
  'an empty object where there is no body': emptyBody,
};

const IN_PUBLIC: Readonly<Record<string, Habit>> = {
  ...IN_BOTH,
  'the key in the query': (sent) => ({ ...keyInQuery(sent), key: undefined }),
  'the key in the query beside the header': keyInQuery,
  'the key in the body, with every method': (sent) => ({
    ...sent,
    body: { ...sent.body, client_id: 'me', api_key: sent.key },
  }),
  'fields that nobody documents, and nulls': (sent) => ({
    ...sent,
    body: { ...sent.body, autoscaler_instance: 'prod', verbose: null, nested: { a: [1] } },
    query: [sent.query, 'owner=me&order=id'].filter((part) => part !== '').join('&'),
  }),
  'numbers as text': (sent) => ({ ...sent, body: numbersAsText(sent.body) as Sent['body'] }),
};

/** null where it is not set: every field that the contract knows, and that the example does not send. */
function nulls(id: OperationId, sent: Sent): Sent {
  const { body } = operationOf(id);
  if (!body) return sent;
  const unset = Object.keys(body.shape).map((field) => [field, null] as const);
  return { ...sent, body: { ...Object.fromEntries(unset), ...sent.body } };
}

/** Null is a value of these in an edit: it takes the value away. */
const NULL_MEANS: ReadonlySet<OperationId> = new Set(['templates.edit', 'templates.create']);

describe.each<[DialectName, readonly OperationId[], Readonly<Record<string, Habit>>]>([
  ['spec', OPERATION_IDS.filter((id) => operationOf(id).origin === 'interface'), IN_BOTH],
  ['public', OPERATION_IDS, IN_PUBLIC],
])('--dialect %s', (dialect, ids, habits) => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator({ dialect, clock: { frozenAtMs: Date.UTC(2026, 0, 1) } });
  });
  afterAll(() => emulator.close());

  /** From the same state each time, so that the answers are the same to the last byte. */
  async function fresh(sent: Sent): Promise<Answered> {
    await emulator.reset();
    return await send(emulator, sent);
  }

  describe.each(ids)('%s', (id) => {
    const example = exampleOf(id);

    test.each(Object.entries(habits))('%s', async (_, habit) => {
      const plain = await fresh(example);
      // Examples of 2FA have codes that are wrong by now.
      expect(id.startsWith('tfa.') || plain.status === 200).toBe(true);
      expect(await fresh(habit(example))).toEqual(plain);
    });

    if (dialect === 'public' && !NULL_MEANS.has(id)) {
      test('null for every field that is not set', async () => {
        expect(await fresh(nulls(id, example))).toEqual(await fresh(example));
      });
    }

    test('is never redirected, and answers an unknown key in its own words', async () => {
      const refused = await fresh({ ...example, key: 'nobody' });
      expect(refused.location).toBeUndefined();
      expect(refused.status).toBe(401);
      const words = dialect === 'public' ? { success: false, msg: 'Invalid user key' } : {};
      expect(refused.body).toMatchObject(words);
    });
  });
});

/** Each operation of the table as a command: its help, its dry run, and the command itself. */
import { text as bodyOf } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { exampleOf } from '../../../src/cli/operations/commands.ts';
import { flagsOf } from '../../../src/cli/operations/flags.ts';
import { commandOf } from '../../../src/cli/operations/names.ts';
import { COMMON_ERRORS } from '../../../src/contract/errors.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../../../src/contract/operations.ts';
import { splitWords } from '../../../src/contract/text/shell-words.ts';
import { DEFAULT_TEAM_KEY, startEmulator } from '../../../src/emulator/index.ts';
import { serve } from '../../support/local-server.ts';
import { jsonIn, pilotlight, type Ran } from '../../support/console.ts';

const KEY = 'key-that-nobody-may-see';

interface Seen {
  readonly request: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly body: string;
}

/** A server that remembers each request to the byte, and has next to nothing to say. */
let seen: Seen[] = [];
const server = await serve(async (request, response) => {
  const { method, url, headers } = request;
  seen.push({
    request: `${method} ${url}`,
    authorization: headers.authorization,
    contentType: headers['content-type'],
    body: await bodyOf(request),
  });
  // An update of an endpoint begins with this.
  if (method === 'GET' && url === '/api/v0/endptjobs/31/')
    response.end(JSON.stringify(operationOf('endpointGroups.get').example.response));
  // A refusal, since other answers are asked for again.
  else response.writeHead(400).end('{"error":"bad_request"}');
});
/** Each operation finds it as it was at its start. */
const emulator = await startEmulator({ dialect: 'public' });
afterAll(async () => {
  await server.close();
  await emulator.close();
});

/** The words of an operation's documented example, without the program's name. */
function exampleWords(id: OperationId): string[] {
  return splitWords(exampleOf(id))
    .map(({ text }) => text)
    .slice(1);
}

async function requestsOf(send: () => Promise<unknown>): Promise<Seen[]> {
  seen = [];
  await send();
  return seen;
}

test.each(OPERATION_IDS)('%s says in its help what it takes and where that is written', async (id) => {
  const operation = operationOf(id);
  const { code, stdout, stderr } = await pilotlight([...commandOf(id).split(' '), '--help']);
  expect([code, stderr]).toEqual([0, '']);
  for (const part of [operation.source, `${operation.method} ${operation.path}`, exampleOf(id)]) {
    expect(stdout).toContain(part);
  }
  const words = stdout.replaceAll(/\s+/g, ' ');
  for (const { name, choices, description } of flagsOf(operation)) {
    expect(words).toContain(`--${name}`);
    expect(words).toContain(description.replaceAll(/\s+/g, ' '));
    for (const choice of choices) expect(words).toContain(`"${choice}"`);
  }
  if (operation.replacedBy) expect(stdout).toContain(commandOf(operation.replacedBy as OperationId));
});

test.each(OPERATION_IDS)('%s: the dry run is what the command sends', async (id) => {
  const env = { API_KEY: KEY, BASE_URL: server.url };
  const words = exampleWords(id);
  const requests = await requestsOf(() => pilotlight([...words, '--json'], { env }));
  const looks = operationOf(id).method === 'GET';
  const [sent, ...more] = requests.filter(({ request }) => looks || !request.startsWith('GET '));
  expect(more).toEqual([]);
  expect(sent?.authorization).toBe(`Bearer ${KEY}`);

  const dry = await pilotlight([...words, '--dry-run'], { env });
  expect(dry.code).toBe(0);
  expect(dry.stdout + dry.stderr).not.toContain(KEY);

  // The dry run with its secrets put back is the request.
  const [head = '', body = ''] = dry.stdout.trimEnd().split('\n\n');
  expect(head.split('\n')[0]?.replace(server.url, '')).toBe(sent?.request);
  const shown = body === '' ? undefined : (JSON.parse(body) as Record<string, unknown>);
  const real = sent?.body ? (JSON.parse(sent.body) as Record<string, unknown>) : undefined;
  const secrets = flagsOf(operationOf(id)).filter(({ secret }) => secret);
  const hidden = new Set(['api_key', ...secrets.map(({ path }) => path[0])]);
  for (const [field, value] of Object.entries(shown ?? {})) {
    const isSecret = hidden.has(field) && real?.[field] !== '';
    expect(value).toEqual(isSecret ? '<redacted>' : real?.[field]);
  }
  expect(Object.keys(shown ?? {})).toEqual(Object.keys(real ?? {}));
});

/** What becomes of an example whose code or secret the emulator never sent; tests of the flows bring real ones. */
function expectRefusalThatIsDeclared(id: OperationId, { code, stderr }: Ran): void {
  expect(id).toMatch(/^tfa\./);
  expect(operationOf(id).verification.secret === 'never' && id !== 'tfa.authorizeNewMethod').toBe(false);
  expect([1, 4]).toContain(code);
  const declared = [...operationOf(id).errors, ...COMMON_ERRORS];
  expect(declared.some((error) => stderr.includes(error))).toBe(true);
}

test.each(OPERATION_IDS)('%s works as a command against the emulator', async (id) => {
  await emulator.reset();
  const apiKey = id.startsWith('teams.') ? DEFAULT_TEAM_KEY : emulator.apiKey;
  const env = { API_KEY: apiKey, BASE_URL: emulator.url };
  const ran = await pilotlight([...exampleWords(id), '--json'], { env });
  expect(emulator.journal.count({ operation: id })).toBe(1);
  if (ran.code === 0) {
    expect(operationOf(id).response.safeParse(jsonIn(ran)).success).toBe(true);
    expect(ran.stderr).toBe('');
  } else expectRefusalThatIsDeclared(id, ran);
});

/** What an editor shows of the built declarations: a text for each operation, each field of an input and each export. */
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATION_IDS, operationOf } from '../../src/contract/operations.ts';
import { volumeInfo } from '../../src/contract/operations/instances/instances.ts';
import { root } from '../support/optional.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Position {
  readonly line: number;
  readonly character: number;
}

interface Mark {
  readonly range: { readonly start: Position };
  readonly severity: number;
  readonly message: string;
  /** 2: struck through, since it is deprecated. */
  readonly tags?: readonly number[];
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: unknown;
}

interface LanguageServer extends AsyncDisposable {
  open(name: string, text: string): void;
  /** The text that hovering a place shows below the type; empty if there is none. */
  hover(name: string, position: Position): Promise<string>;
  marks(name: string): Promise<readonly Mark[]>;
  completions(name: string, position: Position): Promise<readonly string[]>;
}

const TAGS = { tagSupport: { valueSet: [1, 2] } };

async function startLanguageServer(folder: string): Promise<LanguageServer> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const child = spawn(process.execPath, [tsc, '--lsp', '--stdio'], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  let received = Buffer.alloc(0);
  child.stdout.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (let message = take(); message !== undefined; message = take()) handle(message);
  });

  function take(): Message | undefined {
    const head = received.indexOf('\r\n\r\n');
    const start = head + 4;
    const end = start + Number(/Content-Length: (\d+)/.exec(received.toString('latin1', 0, head))?.[1]);
    if (head < 0 || received.length < end) return undefined;
    const message = JSON.parse(received.toString('utf8', start, end)) as Message;
    received = received.subarray(end);
    return message;
  }

  function handle({ id, method, result, error }: Message): void {
    if (id === undefined) return;
    // What the server asks of an editor, such as its settings, has the answer null.
    if (method !== undefined) return send({ id, result: null });
    if (error === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(JSON.stringify(error)));
    waiting.delete(id);
  }

  function send(message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  async function ask(method: string, params: object): Promise<unknown> {
    lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(lastId, answer);
    send({ id: lastId, method, params });
    return answer.promise;
  }

  function document(name: string) {
    return { textDocument: { uri: pathToFileURL(join(folder, name)).href } };
  }

  const textDocument = { hover: { contentFormat: ['markdown'] }, diagnostic: TAGS, publishDiagnostics: TAGS };
  await ask('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: { textDocument },
  });
  send({ method: 'initialized', params: {} });

  return {
    open(name, text) {
      writeFileSync(join(folder, name), text);
      const { uri } = document(name).textDocument;
      const opened = { uri, languageId: 'typescript', version: 1, text };
      send({ method: 'textDocument/didOpen', params: { textDocument: opened } });
    },
    async hover(name, position) {
      const shown = (await ask('textDocument/hover', { ...document(name), position })) as {
        contents: { value: string };
      } | null;
      return shown?.contents.value.split('```').at(-1)?.trim() ?? '';
    },
    async marks(name) {
      const { items } = (await ask('textDocument/diagnostic', document(name))) as { items: Mark[] };
      return items;
    },
    async completions(name, position) {
      const { items } = (await ask('textDocument/completion', { ...document(name), position })) as {
        items: { label: string }[];
      };
      return items.map(({ label }) => label);
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}

let folder: ReturnType<typeof temporaryFolder>;
let server: LanguageServer;
beforeAll(async () => {
  folder = temporaryFolder();
  const installed = join(folder.path, 'node_modules/pilotlight');
  mkdirSync(installed, { recursive: true });
  copyFileSync(join(root, 'package.json'), join(installed, 'package.json'));
  execFileSync(process.execPath, [join(root, '.config/build-types.ts'), join(installed, 'dist/types')]);
  for (const name of ['zod', 'undici-types', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(folder.path, 'node_modules', name));
  const target = { module: 'nodenext', target: 'es2024', types: ['node'] };
  const compilerOptions = { strict: true, noEmit: true, ...target };
  writeFileSync(join(folder.path, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  server = await startLanguageServer(folder.path);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Where a word begins on a line of this text, the first being line 0. */
interface Place {
  readonly word: string;
  readonly line: number;
  readonly character: number;
}

function placeOf(owner: string, field: string, text: string, line: number): Place {
  return { word: `${owner} ${field}`, line, character: text.search(new RegExp(`\\b${field}: any`)) };
}

async function withoutText(name: string, places: readonly Place[]): Promise<string[]> {
  const texts = await Promise.all(places.map(async (place) => server.hover(name, place)));
  // A sentence, and then perhaps tags.
  return places.filter((_, index) => !/^(?!\*@)./.test(texts[index] ?? '')).map(({ word }) => word);
}

describe.each([
  ['pilotlight', 85],
  ['pilotlight/emulator', 55],
])('of %s', (name, least) => {
  test('each export has a text', async () => {
    const file = `${name.replace('/', '-')}.ts`;
    server.open(file, `import {  } from '${name}';\n`);
    const words = await server.completions(file, { line: 0, character: 9 });
    const exported = words.filter((word) => word !== 'type');
    expect(exported.length).toBeGreaterThan(least);
    const uses = `${name.replace('/', '-')}-uses.ts`;
    server.open(uses, exported.map((word) => `import { ${word} } from '${name}';\n`).join(''));
    const places = exported.map((word, line) => ({ word, line, character: 9 }));
    expect(await withoutText(uses, places)).toEqual([]);
  });
});

describe('of the client', () => {
  const calls = OPERATION_IDS.map((id) => {
    const { params, query, body } = operationOf(id);
    const fields = [params, query, body].flatMap((part) => Object.keys(part?.shape ?? {}));
    return { id, fields: body || query ? [...fields, 'extra'] : fields };
  });
  const lines = calls.map(({ id, fields }) => {
    const values = fields.map((field) => `${field}: any`);
    return `client.${id}({ ${values.join(', ')} });`;
  });
  const inVolume = Object.keys(volumeInfo.shape);
  const volume = inVolume.map((field) => `${field}: any`).join(', ');
  const nested = `client.instances.create({ offer_id: any, volume_info: { ${volume} } });`;
  beforeAll(() => {
    const head =
      "import type { Client } from 'pilotlight'; declare const client: Client; declare const any: any;";
    server.open('calls.ts', [head, ...lines, nested].join('\n'));
  });

  test('each operation has a text', async () => {
    const places = calls.map(({ id }, index) => ({
      word: id,
      line: index + 1,
      character: `client.${id}`.lastIndexOf('.') + 1,
    }));
    expect(await withoutText('calls.ts', places)).toEqual([]);
  });

  test('each field of an input has a text', async () => {
    const places = calls.flatMap(({ id, fields }, index) =>
      fields.map((field) => placeOf(id, field, lines[index] ?? '', index + 1)),
    );
    for (const field of inVolume) places.push(placeOf('volume_info', field, nested, lines.length + 1));
    expect(places.length).toBeGreaterThan(250);
    expect(await withoutText('calls.ts', places)).toEqual([]);
  });

  test('what is deprecated is struck through, and all calls compile', async () => {
    const marks = await server.marks('calls.ts');
    const struck = marks
      .filter(({ tags }) => tags?.includes(2))
      .map(({ range }) => calls[range.start.line - 1]?.id);
    expect(struck).toEqual(OPERATION_IDS.filter((id) => operationOf(id).replacedBy !== undefined));
    expect(marks.filter(({ severity }) => severity === 1)).toEqual([]);
  });

  test('the types with texts are those that derive from the table', async () => {
    const types = './node_modules/pilotlight/dist/types';
    server.open(
      'same.ts',
      `import type { Client, OperationId } from 'pilotlight';
       import type { ClientOf } from '${types}/client/caller.js';
       import type { DerivedInputs, Inputs } from '${types}/contract/operations.js';
       type Same<A, B> = [A, B] extends [B, A] ? true : false;
       type Other = { [Id in OperationId]: Same<Inputs[Id], DerivedInputs[Id]> extends true ? never : Id };
       export const same: Same<Other[OperationId], never> = true;
       export const sameClient: Same<Client, ClientOf<OperationId>> = true;
       export const other: Same<{ id: number }, { id?: number }> = false;`,
    );
    expect(await server.marks('same.ts')).toEqual([]);
  });
});

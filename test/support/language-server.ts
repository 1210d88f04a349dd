/** What an editor shows of the TypeScript in a folder. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './optional.ts';

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

export interface LanguageServer extends AsyncDisposable {
  open(name: string, text: string): void;
  /** The text that hovering a place shows below the type; empty if there is none. */
  hover(name: string, position: Position): Promise<string>;
  marks(name: string): Promise<readonly Mark[]>;
  completions(name: string, position: Position): Promise<readonly string[]>;
}

const TAGS = { tagSupport: { valueSet: [1, 2] } };

/** The compiler's own, as an editor has it. */
export async function startLanguageServer(folder: string): Promise<LanguageServer> {
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

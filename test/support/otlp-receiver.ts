/** An OTLP/HTTP receiver on a real socket, which answers as the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { listening } from './listening.ts';
import { decodeRequest, encodeResponse, type OtlpEncoding, type OtlpLogRecord } from './otlp-messages.ts';

export type Fate =
  | 'accept'
  /** Takes all but the last so many. */
  | { readonly reject: number }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** The records are taken, and the sender does not learn it. */
  | 'cut after'
  /** The records are taken, and the status says so; the rest of the answer is cut, or never comes. */
  | 'cut answer'
  | 'hang answer'
  | 'cut before'
  | 'hang';

export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly records: OtlpLogRecord[];
  readonly requests: {
    readonly path: string;
    readonly encoding: OtlpEncoding;
    readonly records: number;
    readonly authorization: string | undefined;
  }[];
  /** Of the next requests; all others are accepted. */
  readonly fates: Fate[];
  decide: (request: OtlpReceiver['requests'][number], records: readonly OtlpLogRecord[]) => Fate;
  /** Refuses connections, and takes them again at the same address. */
  goDown(): Promise<void>;
  comeUp(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(400, { 'content-type': 'text/plain' }).end(String(error));
    });
  });
  let listener = await listening(server);
  const { port, url } = listener;
  const goDown = async (): Promise<void> => listener[Symbol.asyncDispose]();
  const receiver: OtlpReceiver = {
    url,
    records: [],
    requests: [],
    fates: [],
    decide: () => 'accept',
    goDown,
    async comeUp() {
      listener = await listening(server, 'connection', { port });
    },
    [Symbol.asyncDispose]: goDown,
  };
  return receiver;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isJson = request.headers['content-type'] === 'application/json';
    const encoding: OtlpEncoding = isJson ? 'json' : 'protobuf';
    if (request.headers['content-encoding'] !== 'gzip') throw new Error('not gzipped');
    const records = decodeRequest(encoding, gunzipSync(await buffer(request)));
    const { authorization } = request.headers;
    const seen = { path: request.url ?? '', encoding, records: records.length, authorization };
    receiver.requests.push(seen);
    const fate = receiver.fates.shift() ?? receiver.decide(seen, records);
    const contentType = encoding === 'json' ? 'application/json' : 'application/x-protobuf';
    if (fate === 'hang') return;
    if (fate === 'cut before') {
      request.socket.resetAndDestroy();
    } else if (fate === 'cut after') {
      receiver.records.push(...records);
      request.socket.resetAndDestroy();
    } else if (fate === 'cut answer' || fate === 'hang answer') {
      receiver.records.push(...records);
      response.writeHead(200, { 'content-type': contentType, 'content-length': '1000' });
      response.write('{', () => {
        if (fate === 'cut answer') request.socket.resetAndDestroy();
      });
    } else if (fate === 'accept') {
      receiver.records.push(...records);
      response.writeHead(200, { 'content-type': contentType }).end(encodeResponse(encoding));
    } else if ('reject' in fate) {
      const rejected = Math.min(fate.reject, records.length);
      receiver.records.push(...records.slice(0, records.length - rejected));
      const partial = { rejectedLogRecords: rejected, errorMessage: 'too old' };
      response.writeHead(200, { 'content-type': contentType }).end(encodeResponse(encoding, partial));
    } else {
      response.writeHead(fate.status, { 'content-type': 'text/plain', ...fate.headers }).end(fate.body);
    }
  }
}

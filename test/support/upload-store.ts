/** A service that makes deployments, and the store that takes their archives, which answers as it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening, type Listening } from './listening.ts';

export interface Posted {
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface UploadStore extends Listening {
  readonly posted: readonly Posted[];
  readonly made: readonly Readonly<Record<string, unknown>>[];
}

/** Status and text; `silent`: it stops reading. */
export type StoreAnswer = readonly [status: number, text: string] | 'silent';

export const UPLOAD_FIELDS = { key: 'a/b.tar.gz', policy: 's3cret-policy', 'x-amz-date': 20260101 };

/** `answers`: of the store, the last one for all that follow. */
export async function startUploadStore(...answers: readonly StoreAnswer[]): Promise<UploadStore> {
  const posted: Posted[] = [];
  const made: Record<string, unknown>[] = [];
  let uploads = 0;

  async function bodyOf(request: IncomingMessage): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url !== '/store?a=b') {
      made.push(JSON.parse((await bodyOf(request)).toString()) as Record<string, unknown>);
      const upload = { upload_url: `http://${request.headers.host}/store?a=b`, upload_fields: UPLOAD_FIELDS };
      response.end(JSON.stringify({ success: true, action: 'created', deployment_id: '44', ...upload }));
      return;
    }
    const answer = answers[Math.min(uploads, answers.length - 1)] ?? [204, ''];
    uploads += 1;
    if (answer === 'silent') return void request.pause();
    posted.push({ headers: request.headers, body: await bodyOf(request) });
    response.writeHead(answer[0]).end(answer[1]);
  }

  const server = createServer((request, response) => void handle(request, response).catch(() => {}));
  return { ...(await listening(server)), posted, made };
}

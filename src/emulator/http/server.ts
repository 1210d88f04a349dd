/** The HTTP shell: it reads requests and writes answers, and decides nothing. */
import { existsSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { openApiDocument } from '../../openapi/document.ts';
import type { AdminApi } from '../admin/route.ts';
import { jsonAnswer, Refused, textAnswer, type Answer } from '../answers/answer.ts';
import type { Call } from '../calls/call.ts';
import type { ScheduledClock } from '../clock.ts';
import { exchangeWithFaults, type FaultInjector, type Strikes } from '../faults/faults.ts';
import { receiveFile, UPLOAD_FOLDER } from '../handlers/deployments.ts';
import type { OpenEntry, RequestJournal } from '../journal/journal.ts';
import type { Service, World } from '../service/service.ts';
import { answerAsWorker, WORKER_FOLDER } from './worker.ts';

interface ServerParts {
  readonly world: World;
  readonly clock: ScheduledClock;
  readonly service: Service;
  readonly faults: FaultInjector;
  readonly journal: RequestJournal;
  readonly admin: AdminApi;
  readonly closing: AbortSignal;
}

/** Longer than clients keep idle connections, so that they close first, without a race. */
const KEEP_ALIVE_MS = 75_000;
/** Seeds with many log lines are large. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_UPLOAD_BYTES = 1024 * 1024 * 1024;

/** fastify's own server cannot listen twice, so listener.ts listens. */
export async function createServer(parts: ServerParts): Promise<Server> {
  let server: Server | undefined;
  const send = createSender(() => parts.world.now());
  const handle = createHandler(parts, send);
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    serverFactory: (handler) => (server = createHttpServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handler)),
    frameworkErrors: (error, _request, reply) => send(reply, unreadable(error)),
  });
  // This interface is JSON only, whatever the Content-Type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  const upload = { parseAs: 'buffer', bodyLimit: MAX_UPLOAD_BYTES } as const;
  app.addContentTypeParser('multipart/form-data', upload, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: Error, _request, reply) => send(reply, unreadable(error)));
  app.setNotFoundHandler(handle);
  await addDocs(app);
  app.all('/*', handle);
  await app.ready();
  if (!server) throw new Error('fastify made no server');
  return server;
}

type Send = (reply: FastifyReply, answer: Answer) => void;

function createHandler({ world, clock, service, faults, journal, admin, closing }: ServerParts, send: Send) {
  return handle;

  function handle(request: FastifyRequest, reply: FastifyReply): void {
    const { method = 'GET', url = '/' } = request.raw;
    const { body } = request;
    const bodyText = typeof body === 'string' ? body : Buffer.isBuffer(body) ? body.toString() : '';
    if (admin.owns(url)) {
      void admin.answer(method, url, bodyText).then((answer) => send(reply, answer));
      return;
    }
    const { authorization, host, 'content-type': contentType = '' } = request.raw.headers;
    const origin = `http://${host}`;
    if (url.startsWith(UPLOAD_FOLDER) && method === 'POST') {
      const bytes = Buffer.isBuffer(body) ? body : Buffer.from(bodyText);
      void takeUpload(world, new Uint8Array(bytes), contentType).then((answer) => send(reply, answer));
      return;
    }
    if (url.startsWith(WORKER_FOLDER)) {
      void answerAsWorker(request.raw, { text: bodyText, origin }, { world, clock }).then((answer) =>
        answer ? send(reply, answer) : reply.hijack(),
      );
      return;
    }
    const call = service.read({ method, url, authorization, bodyText, origin });
    const entry = journal.begin(call, world.now());
    const { target, key, subject: id } = call;
    const strikes = faults.strike({ operation: target?.id ?? null, key: key?.name ?? null, id });
    if (strikes.decisive || strikes.latencies.length > 0) return handleStruck(call, strikes, entry, reply);
    const answer = service.perform(call);
    entry.end(answer.status);
    send(reply, answer);
  }

  function handleStruck(call: Call, strikes: Strikes, entry: OpenEntry, reply: FastifyReply): void {
    const { latencies, decisive } = strikes;
    for (const { id } of decisive ? [...latencies, decisive] : latencies) entry.struck(id);
    const cutsBody = decisive?.fault.kind === 'truncated' && decisive.fault.connection === 'cut';
    // These write to the socket themselves.
    if (cutsBody || decisive?.fault.kind === 'reset') reply.hijack();
    exchangeWithFaults(strikes, {
      raw: reply.raw,
      random: world.random,
      closing,
      perform: () => service.perform(call),
      refuse: (code, message) =>
        world.dialect.refusal(call.operation, new Refused(code, message, 'fault'), call),
      send: (answer) => send(reply, answer),
      lifted: (faultId) => faults.lifted(faultId),
    }).then(
      (status) => entry.end(status),
      // Only closing interrupts an exchange.
      () => entry.end(null),
    );
  }
}

/** The Date is emulator time, formatted once a second. */
function createSender(now: () => number): Send {
  const shown = { second: Number.NaN, text: '' };
  return function send(reply, { status, contentType, headers, text }) {
    const second = Math.floor(now() / 1000);
    if (second !== shown.second) {
      shown.second = second;
      shown.text = new Date(second * 1000).toUTCString();
    }
    reply.code(status).header('content-type', contentType).header('date', shown.text);
    if (headers) reply.headers(headers);
    reply.send(text);
  };
}

function unreadable(error: Error): Answer {
  const { statusCode } = error as { statusCode?: number };
  const { message: msg } = error;
  return jsonAnswer(statusCode ?? 400, { error: 'bad_request', msg }, `request: ${msg}`);
}

async function takeUpload(world: World, body: Uint8Array<ArrayBuffer>, contentType: string): Promise<Answer> {
  const form = await new Response(body, { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => undefined);
  const [key, policy, file] = ['key', 'policy', 'file'].map((name) => form?.get(name) ?? undefined);
  if (typeof key !== 'string' || typeof policy !== 'string' || !(file instanceof Blob))
    return uploadDenied(400, 'MalformedPOSTRequest');
  const received = receiveFile(world.state, { key, policy }, file.size, world.now());
  if (received === 'stored') return { status: 204, contentType: 'text/plain', text: '' };
  return uploadDenied(received === 'AccessDenied' ? 403 : 400, received);
}

function uploadDenied(status: number, code: string): Answer {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>`;
  return textAnswer(status, 'application/xml', xml);
}

/** Swagger UI writes styles into its elements. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:";

/** Swagger UI's global in the browser. */
declare const ui: { preauthorizeApiKey(scheme: string, key: string): void };

export async function addDocs(app: FastifyInstance): Promise<void> {
  for (const path of ['/openapi.json', '/openapi.json/']) app.get(path, documentFor);
  const nothing = { openapi: '3.1.1', info: { title: '', version: '' }, paths: {} };
  await app.register(swagger, { mode: 'static', specification: { document: nothing } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    baseDir: swaggerUiFiles(),
    staticCSP: POLICY,
    theme: {
      title: 'The interface · Pilotlight emulator',
      // On phones, wide tables scroll by themselves.
      css: [{ filename: 'narrow.css', content: '.swagger-ui .opblock-body { overflow-x: auto; }' }],
    },
    // Built on demand: most runs need none.
    transformSpecificationClone: false,
    transformSpecification: (_nothing, request) => documentFor(request),
    logo: { type: 'image/svg+xml', content: '' },
    uiConfig: {
      layout: 'BaseLayout',
      filter: true,
      defaultModelsExpandDepth: -1,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      persistAuthorization: true,
      // Runs in the browser. The key of the default seed is not a secret.
      onComplete: () => ui.preauthorizeApiKey('apiKey', 'emulator-key'),
    },
  });
}

function documentFor({ headers: { host } }: FastifyRequest) {
  return openApiDocument(host === undefined ? {} : { baseUrl: `http://${host}` });
}

/** The build copies the files beside the bundle. */
function swaggerUiFiles(): string {
  const copied = fileURLToPath(new URL('swagger-ui', import.meta.url));
  if (existsSync(copied)) return copied;
  return join(dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui'))), 'static');
}

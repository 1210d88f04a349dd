/** The HTTP shell: it reads requests and writes answers, and decides nothing. */
import { parseJsonOr } from '../contract/is-record.ts';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import * as z from 'zod';
import { openApiDocument } from '../openapi/document.ts';
import { problemsOf } from '../wire/request.ts';
import type { Machinery } from './admin/control.ts';
import type { AdminApi } from './admin/routes.ts';
import { jsonAnswer, textAnswer, type Answer } from './answer.ts';
import { workerUrl } from './fleet/workers.ts';
import { receiveFile, UPLOAD_FOLDER } from './handlers/deployments.ts';
import { routeText } from './handlers/endpoint-groups.ts';
import type { OpenEntry } from './journal.ts';
import { catchUp, type Service, type World } from './service.ts';

interface ServerParts extends Machinery {
  readonly service: Service;
  readonly admin: AdminApi;
}

/** Longer than clients keep idle connections, so that they close first, without a race. */
const KEEP_ALIVE_MS = 75_000;
/** Seeds with many log lines are large. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_UPLOAD_BYTES = 1024 * 1024 * 1024;

/** fastify's own server cannot listen twice, so openListener does. */
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

function createHandler(
  { world, service, faults, journal, admin }: ServerParts,
  send: ReturnType<typeof createSender>,
) {
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
      send(reply, method === 'POST' ? answerAsWorker(url, bodyText, origin, world) : WORKERS_TAKE_POST);
      return;
    }
    const call = service.read({ method, url, authorization, bodyText, origin });
    const entry = journal.begin(call, world.now());
    const struck = faults.exchange(call, reply, entry);
    if (struck) {
      void answerStruck(struck, entry, reply);
      return;
    }
    const answer = service.perform(call);
    entry.end(answer.status);
    send(reply, answer);
  }

  async function answerStruck(struck: Promise<Answer | null>, entry: OpenEntry, reply: FastifyReply) {
    try {
      const answer = await struck;
      if (answer) send(reply, answer);
      entry.end(answer?.status ?? null);
    } catch {
      // Only closing interrupts an exchange.
      entry.end(null);
    }
  }
}

/** The Date is emulator time. */
function createSender(now: () => number) {
  return function send(reply: FastifyReply, { status, contentType, headers, text }: Answer): void {
    const date = new Date(now()).toUTCString();
    reply.code(status).header('content-type', contentType).header('date', date);
    if (headers) reply.headers(headers);
    // As bytes, since Fastify adds a charset to the type of a text.
    reply.send(Buffer.from(text));
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

async function addDocs(app: FastifyInstance): Promise<void> {
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

const WORKER_FOLDER = '/_worker/';

/** Clients post the answer of /route/ and the payload of the model. */
const workerRequest = z.looseObject({
  auth_data: z.looseObject({
    url: z.string(),
    signature: z.string(),
    cost: z.coerce.number().nonnegative(),
    endpoint: z.string(),
    reqnum: z.coerce.number().int(),
  }),
  payload: z.unknown().optional(),
});

/** There is no model: the payload comes back at once. A route is good for one request. */
function answerAsWorker(url: string, text: string, origin: string, world: World): Answer {
  const { state, fleets, signer } = world;
  catchUp(world, world.now());
  const [name = ''] = url.slice(WORKER_FOLDER.length).split(/[/?]/);
  const id = /^\d+$/.test(name) ? Number(name) : Number.NaN;
  const worker = state.workers.get(id);
  const engine = worker && fleets.ofGroup(state, worker.groupId);
  if (!engine) return refusal(404, `no worker ${name}`);
  const body = parseJsonOr(text);
  const parsed = workerRequest.safeParse(body);
  if (!parsed.success) {
    const [first] = problemsOf(parsed.error, body);
    return refusal(400, `${first?.field || 'body'}: ${first?.message ?? 'not allowed'}`);
  }
  const { auth_data: route, payload } = parsed.data;
  if (route.url !== workerUrl(id, origin)) return refusal(401, `auth_data.url: not that of worker ${id}`);
  if (!signer.verify(routeText(route.url), route.signature))
    return refusal(401, 'auth_data.signature: not one of the service for this url');
  if (!engine.use(route.reqnum, id))
    return refusal(410, 'auth_data.reqnum: unknown, used, lost or too late: ask /route/ again');
  return jsonAnswer(200, { worker: id, reqnum: route.reqnum, payload });
}

function refusal(status: number, reason: string): Answer {
  return jsonAnswer(status, { error: reason }, reason);
}

const WORKERS_TAKE_POST = refusal(404, 'workers take POST alone');

/** Another program may take the port meanwhile: the service stays down until it is free. */
const REOPEN_PAUSE_MS = 50;

export async function openListener(server: Server, host: string, port: number) {
  await bind(server, host, port);
  const bound = (server.address() as AddressInfo).port;
  let last: Promise<void> = Promise.resolve();
  let closed = false;

  async function setOpen(open: boolean): Promise<void> {
    if (closed || open === server.listening) return;
    if (!open) return stop();
    for (;;) {
      if (closed) return;
      try {
        return await bind(server, host, bound);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
        await delay(REOPEN_PAUSE_MS);
      }
    }
  }

  /** Open connections end at once, as when a service goes down. */
  function stop(): Promise<void> {
    return new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  return {
    port: bound,
    listen(open: boolean): Promise<void> {
      const done = last.then(() => setOpen(open));
      last = done.catch(() => {});
      return done;
    },
    async close(): Promise<void> {
      closed = true;
      await last;
      if (server.listening) await stop();
    },
  };
}

async function bind(server: Server, host: string, port: number): Promise<void> {
  server.listen({ host, port });
  await once(server, 'listening');
}

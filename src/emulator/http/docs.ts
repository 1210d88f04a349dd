/** `/openapi.json`, and Swagger UI at `/docs`, which needs no network. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { openApiDocument } from '../../openapi/document.ts';

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

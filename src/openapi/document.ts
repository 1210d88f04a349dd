import type { z } from 'zod';
import { assumedParts, isPermissionAssumed } from '../contract/assumptions.ts';
import type { Operation } from '../contract/define.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../contract/operations.ts';
import { sentencesOf } from '../contract/rules.ts';
import { ERROR_SCHEMAS, errorExamples, errorResponses } from './errors.ts';
import type { ResponseObject } from './errors.ts';
import { bodyOf, inlineSchema, schemaComponents, type JsonSchema, type SchemaComponents } from './schemas.ts';

export interface DocumentOptions {
  /** Absent: a server variable. */
  readonly baseUrl?: string;
  /** Absent: `baseUrl`. */
  readonly serverlessUrl?: string;
}

/** §9 */
const INTERFACE_VERSION = '1.0.0';

export type OpenApiDocument = ReturnType<typeof openApiDocument>;
/** OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1.html) with our own fields; see DESCRIPTION. */
export type OperationObject = ReturnType<typeof operationObject>;
type Server = ReturnType<typeof server>;

export function openApiDocument(options: DocumentOptions = {}) {
  const components = schemaComponents();
  const serverless = options.serverlessUrl ?? options.baseUrl;
  const servers = {
    main: server('base_url', 'the main service', options.baseUrl),
    serverless: server('serverless_url', 'the serverless request service', serverless),
  };
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const id of OPERATION_IDS) {
    const { path, method } = operationOf(id);
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: operationObject(id, components, servers.serverless),
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Cloud GPU Rental Service',
      version: INTERFACE_VERSION,
      summary: 'The REST interface of a cloud GPU rental service.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [servers.main, servers.serverless],
    security: [{ apiKey: [] }],
    tags: tags(),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, or the session_key of a 2FA login (§5).',
        },
      },
      schemas: { ...ERROR_SCHEMAS, ...components.schemas } as Record<string, JsonSchema>,
      examples: errorExamples(),
    },
  };
}

const DESCRIPTION = [
  'Bodies are JSON; timestamps are Unix epoch seconds; `gpu_ram` is in MB. Paths are accepted with and without',
  'the slash at their end. `x-source` names the section of the interface document that an operation comes from;',
  'where `x-origin` is `public dialect`, the document does not show it and the public service does. `x-assumed` lists',
  'what of an operation the document does not name: `permission`, and error codes. `x-public-spacing-ms` is the least',
  "time between two calls with one key, in ms. It is the public dialect's, from its service's own",
  'specification; the interface states none.',
].join('\n');

function server(variable: string, description: string, url: string | undefined) {
  if (url !== undefined) return { url: url.replace(/(?<!\/)\/+$/, ''), description };
  const value = {
    default: 'http://127.0.0.1:8080',
    description: `address of ${description}; by default that of a local emulator`,
  };
  return { url: `{${variable}}`, description, variables: { [variable]: value } };
}

function tags() {
  const resources = Map.groupBy(OPERATION_IDS, resourceOf);
  return [...resources].map(([name, ids]) => ({
    name,
    description: `Sources: ${[...new Set(ids.map((id) => operationOf(id).source))].join('; ')}.`,
  }));
}

function resourceOf(id: OperationId): string {
  return id.split('.')[0] ?? '';
}

function operationObject(id: OperationId, components: SchemaComponents, serverless: Server) {
  const operation = operationOf(id);
  const { summary, base, verification, source, origin, repeatable, permission, replacedBy, example } =
    operation;
  const { publicSpacingMs } = operation;
  const parameters = parametersOf(operation);
  const request = components.request(id);
  const assumptions = assumedParts(operation);
  const content = {
    'application/json': { schema: components.response(id), example: example.response },
  };
  return {
    operationId: id,
    tags: [resourceOf(id)],
    summary,
    description: descriptionOf(operation),
    ...(replacedBy !== undefined && { deprecated: true, 'x-replaced-by': replacedBy }),
    ...(base === 'serverless' && { servers: [serverless] }),
    security: verification.secretAlone ? [{ apiKey: [] }, {}] : [{ apiKey: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(request && {
      requestBody: {
        required: !bodyOf(operation)?.safeParse({}).success,
        content: { 'application/json': { schema: request, example: exampleBody(operation) } },
      },
    }),
    responses: { '200': { description: summary, content }, ...errorResponses(operation) } as Record<
      string,
      ResponseObject
    >,
    'x-source': source,
    'x-origin': origin,
    'x-repeatable': repeatable,
    ...(permission !== undefined && { 'x-permission': permission }),
    ...(assumptions.length > 0 && { 'x-assumed': assumptions }),
    ...(publicSpacingMs !== undefined && { 'x-public-spacing-ms': publicSpacingMs }),
  };
}

/** All that is said about an operation, in one paragraph. */
export function descriptionOf(operation: Operation): string {
  const { summary, description, verification, permission, replacedBy, source, publicSpacingMs } = operation;
  const assumed = isPermissionAssumed(operation) ? ' (assumed: the interface names none)' : '';
  const sentences = [
    `${summary}.`,
    description,
    ...sentencesOf(operation),
    verification.secretAlone &&
      'Without an API key, `secret` stands in for it (the logged-out path), and is needed.',
    permission && `A scoped key needs the permission \`${permission}\`${assumed}.`,
    publicSpacingMs &&
      `The public service takes one call of a key every ${publicSpacingMs / 1000} s; the interface states no limit.`,
    replacedBy && `Use \`${replacedBy}\` instead.`,
    `Source: ${source}.`,
  ];
  return sentences.filter(Boolean).join(' ');
}

function parametersOf({ params, query, example: { input } }: Operation) {
  const of = (place: 'path' | 'query', fields: z.ZodObject | undefined) =>
    Object.entries(fields?.shape ?? {}).map(([name, type]) =>
      parameter({ name, in: place }, type as z.ZodType, input[name]),
    );
  return [...of('path', params), ...of('query', query)];
}

/** §4.2: objects travel as JSON text in the query. */
function parameter(where: { name: string; in: 'path' | 'query' }, type: z.ZodType, example: unknown) {
  const { description, ...schema } = inlineSchema(type);
  return {
    ...where,
    required: !type.safeParse(undefined).success,
    ...(typeof description === 'string' && { description }),
    ...(where.in === 'path' && { schema, example }),
    ...(where.in === 'query' && { content: { 'application/json': { schema, example } } }),
  };
}

function exampleBody({ body, keyInBody, example }: Operation): Record<string, unknown> {
  const names = Object.keys(body?.shape ?? {}).filter((name) => example.input[name] !== undefined);
  const fields = Object.fromEntries(names.map((name) => [name, example.input[name]]));
  return keyInBody === undefined ? fields : { ...fields, [keyInBody]: 'API_KEY' };
}

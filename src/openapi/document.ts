import * as z from 'zod';
import { assumedParts, isErrorAssumed, isPermissionAssumed } from '../contract/assumptions.ts';
import { sentencesOf, type Operation } from '../contract/define.ts';
import {
  COMMON_ERRORS,
  ERROR_CODES,
  ERRORS,
  type ErrorCode,
  type ErrorDefinition,
} from '../contract/errors.ts';
import { OPERATION_IDS, operationOf, wordsOfId, type OperationId } from '../contract/operations.ts';
import { apiKey, user } from '../contract/operations/users.ts';
import { instance } from '../contract/operations/instances/instance-list.ts';
import { envMap, volumeInfo } from '../contract/operations/instances/instances.ts';
import { listedWindow, machineIds } from '../contract/operations/machines.ts';
import { deployment } from '../contract/operations/serverless/serverless.ts';
import { endpointGroup, endpointGroupSettings } from '../contract/operations/serverless/endpoint-groups.ts';
import { template, templateBody } from '../contract/operations/templates.ts';
import { tfaMethod } from '../contract/operations/tfa/tfa-status.ts';
import { defaultOf } from '../contract/schemas.ts';

interface DocumentOptions {
  /** Absent: a server variable. */
  readonly baseUrl?: string;
  /** Absent: `baseUrl`. */
  readonly serverlessUrl?: string;
}

/** §9 */
const INTERFACE_VERSION = '1.0.0';

export type OpenApiDocument = ReturnType<typeof openApiDocument>;
/** OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1.html) with our own fields; see DESCRIPTION. */
type OperationObject = ReturnType<typeof operationObject>;
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
  const resources = Map.groupBy(OPERATION_IDS, (id) => wordsOfId(id)[0]);
  return [...resources].map(([name, ids]) => ({
    name,
    description: `Sources: ${[...new Set(ids.map((id) => operationOf(id).source))].join('; ')}.`,
  }));
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
    tags: [wordsOfId(id)[0]],
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
    'x-permission': permission,
    ...(assumptions.length > 0 && { 'x-assumed': assumptions }),
    'x-public-spacing-ms': publicSpacingMs,
  };
}
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

interface ResponseObject {
  readonly description: string;
  readonly content: { 'application/json': { schema: JsonSchema; example?: unknown; examples?: object } };
}

const words = { type: 'string', description: 'what went wrong, in words' };

const ERROR_SCHEMAS = {
  Error: errorBody('The general error body (§7).', {
    error: { type: 'string', description: 'code' },
    msg: words,
  }),
  LogError: errorBody('The error body of the serverless address (§7).', { error_msg: words }),
};

function errorBody(description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const required = Object.keys(properties);
  return { type: 'object', description, properties, required, additionalProperties: true };
}

function errorResponses(operation: Operation): Record<string, ResponseObject> {
  const all = [...new Set<ErrorCode>([...operation.errors, ...COMMON_ERRORS])];
  const pairs = all.flatMap((code) => ERRORS[code].status.map((status) => ({ status, code })));
  const byStatus = Map.groupBy(pairs, ({ status }) => status);
  return Object.fromEntries(
    Array.from(byStatus, ([status, entries]) => {
      const codes = entries.map(({ code }) => code);
      const description = codes.map((code) => describe(code, operation)).join('\n');
      const content = operation.base === 'serverless' ? logErrors(codes) : errors(codes);
      return [String(status), { description, content: { 'application/json': content } }];
    }),
  );
}

function describe(code: ErrorCode, operation: Operation): string {
  const { when, advice } = ERRORS[code];
  const assumed = isErrorAssumed(operation, code) ? ' (Assumed: the interface does not name it here.)' : '';
  return `- \`${code}\`: ${when}. ${advice.charAt(0).toUpperCase()}${advice.slice(1)}.${assumed}`;
}

function errors(codes: readonly ErrorCode[]) {
  const fields = codes.flatMap((code) => ERRORS[code].fields ?? []);
  const properties = Object.assign(
    {},
    ...fields.map((schema) => inlineSchema(schema, 'output')['properties']),
  ) as object;
  return {
    schema: {
      allOf: [
        { $ref: '#/components/schemas/Error' },
        {
          type: 'object',
          properties: { error: { anyOf: [{ enum: codes }, { type: 'string' }] }, ...properties },
        },
      ],
    },
    examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
  };
}

const EXAMPLE_FIELDS: Readonly<Record<string, unknown>> = { fail_count: 5, locked_until: 1_790_000_900 };

function errorExamples() {
  return Object.fromEntries(
    ERROR_CODES.map((code) => {
      const { when, fields }: ErrorDefinition = ERRORS[code];
      const names = Object.keys(fields?.shape ?? {});
      const examples = Object.fromEntries(names.map((name) => [name, EXAMPLE_FIELDS[name]]));
      return [code, { summary: when, value: { error: code, msg: when, ...examples } }];
    }),
  );
}

function logErrors(codes: readonly ErrorCode[]) {
  return {
    schema: { $ref: '#/components/schemas/LogError' },
    examples: Object.fromEntries(
      codes.map((code) => [code, { summary: ERRORS[code].when, value: { error_msg: ERRORS[code].when } }]),
    ),
  };
}

export type JsonSchema = Readonly<Record<string, unknown>>;

const REQUEST_PARTS = {
  MachineIds: machineIds,
  TemplateFields: templateBody,
  InstanceEnvironment: envMap,
  VolumeInfo: volumeInfo,
  EndpointGroupSettings: endpointGroupSettings,
} satisfies Record<string, z.ZodType>;

const RESPONSE_PARTS = {
  MaintenanceWindow: listedWindow,
  Template: template,
  Instance: instance,
  Deployment: deployment,
  User: user,
  TfaMethod: tfaMethod,
  EndpointGroup: endpointGroup,
  ApiKey: apiKey,
} satisfies Record<string, z.ZodType>;

type SchemaComponents = ReturnType<typeof schemaComponents>;

function schemaComponents() {
  const requests = componentsOf('input', REQUEST_PARTS, (id) => {
    const schema = bodyOf(operationOf(id));
    return schema && [`${id}.request`, schema];
  });
  const responses = componentsOf('output', RESPONSE_PARTS, (id) => [
    `${id}.response`,
    operationOf(id).response,
  ]);
  return {
    schemas: { ...requests.schemas, ...responses.schemas },
    request: requests.refOf,
    response: (id: OperationId) => responses.refOf(id) ?? {},
  };
}

/** With the key in the body, if the service wants it there. */
function bodyOf({ body, keyInBody }: Operation): z.ZodObject | undefined {
  if (!body || keyInBody === undefined) return body;
  const key = z.string().meta({ format: 'password', description: 'the API key once more' });
  return body.extend({ [keyInBody]: key });
}

function componentsOf(
  io: 'input' | 'output',
  parts: Readonly<Record<string, z.ZodType>>,
  own: (id: OperationId) => [string, z.ZodType] | undefined,
) {
  const registry = z.registry<{ id: string }>();
  const names = new Map<z.ZodType, string>();
  const refs = new Map<OperationId, JsonSchema>();
  const add = (name: string, schema: z.ZodType): string => {
    const known = names.get(schema);
    if (known !== undefined) return known;
    names.set(schema, name);
    registry.add(schema, { id: name });
    return name;
  };
  for (const [name, schema] of Object.entries(parts)) add(name, schema);
  for (const id of OPERATION_IDS) {
    const entry = own(id);
    if (entry) refs.set(id, { $ref: refTo(add(...entry)) });
  }
  const { schemas } = z.toJSONSchema(registry, { io, uri: refTo, override: tidy });
  return {
    schemas: Object.fromEntries(
      Object.entries(schemas).map(([name, { $schema: _dialect, $id: _place, ...schema }]) => [name, schema]),
    ),
    refOf: (id: OperationId) => refs.get(id),
  };
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`;
}

/** Drops zod's integer bounds, and defaults that an optional field has from its inner schema. */
function tidy({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodTypes;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (defaultOf(zodSchema) === undefined) delete jsonSchema.default;
}

export function inlineSchema(schema: z.ZodType, io: 'input' | 'output' = 'input'): JsonSchema {
  const { $schema: _, ...inline } = z.toJSONSchema(schema, { io, override: tidy });
  return inline;
}

import * as z from 'zod';
import { apiKey } from '../contract/operations/api-keys.ts';
import type { Operation } from '../contract/define.ts';
import { deployment } from '../contract/operations/serverless/deployment.ts';
import { endpointGroup, endpointGroupSettings } from '../contract/operations/serverless/endpoint-groups.ts';
import { instance } from '../contract/operations/instances/instance-list.ts';
import { envMap, volumeInfo } from '../contract/operations/instances/instances.ts';
import { listedWindow, machineIds } from '../contract/operations/machines.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../contract/operations.ts';
import { defaultOf } from '../contract/schemas.ts';
import { template, templateBody } from '../contract/operations/templates.ts';
import { tfaMethod } from '../contract/operations/tfa/tfa-status.ts';
import { user } from '../contract/operations/users.ts';

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

export type SchemaComponents = ReturnType<typeof schemaComponents>;

export function schemaComponents() {
  const requests = components('input', REQUEST_PARTS, (id) => {
    const schema = bodyOf(operationOf(id));
    return schema && [`${id}.request`, schema];
  });
  const responses = components('output', RESPONSE_PARTS, (id) => [
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
export function bodyOf({ body, keyInBody }: Operation): z.ZodObject | undefined {
  if (!body || keyInBody === undefined) return body;
  const key = z.string().meta({ format: 'password', description: 'the API key once more' });
  return body.extend({ [keyInBody]: key });
}

function components(
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
  if (zodSchema._zod.def.type === 'optional' && defaultOf(zodSchema) === undefined) delete jsonSchema.default;
}

export function inlineSchema(schema: z.ZodType, io: 'input' | 'output' = 'input'): JsonSchema {
  const { $schema: _, ...inline } = z.toJSONSchema(schema, { io, override: tidy });
  return inline;
}

import { isErrorAssumed } from '../contract/assumptions.ts';
import type { Operation } from '../contract/define.ts';
import {
  COMMON_ERRORS,
  ERROR_CODES,
  ERRORS,
  type ErrorCode,
  type ErrorDefinition,
} from '../contract/errors.ts';
import { inlineSchema, type JsonSchema } from './schemas.ts';

export interface ResponseObject {
  readonly description: string;
  readonly content: { 'application/json': { schema: JsonSchema; example?: unknown; examples?: object } };
}

const words = { type: 'string', description: 'what went wrong, in words' };

export const ERROR_SCHEMAS = {
  Error: body('The general error body (§7).', {
    error: { type: 'string', description: 'code' },
    msg: words,
  }),
  LogError: body('The error body of the serverless address (§7).', { error_msg: words }),
};

function body(description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const required = Object.keys(properties);
  return { type: 'object', description, properties, required, additionalProperties: true };
}

export function errorResponses(operation: Operation): Record<string, ResponseObject> {
  const codes = [...new Set<ErrorCode>([...operation.errors, ...COMMON_ERRORS])];
  const pairs = codes.flatMap((code) => ERRORS[code].status.map((status) => ({ status, code })));
  const byStatus = Map.groupBy(pairs, ({ status }) => status);
  return Object.fromEntries(
    [...byStatus]
      .toSorted(([a], [b]) => a - b)
      .map(([status, entries]) => [String(status), response(operation, entries)]),
  );
}

function response(operation: Operation, entries: readonly { readonly code: ErrorCode }[]) {
  const codes = entries.map(({ code }) => code);
  return {
    description: codes.map((code) => describe(code, operation)).join('\n'),
    content: { 'application/json': operation.base === 'serverless' ? logErrors(codes) : errors(codes) },
  };
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

export function errorExamples() {
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

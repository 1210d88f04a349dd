import { createConfig, lintFromString } from '@redocly/openapi-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { ERRORS, type ErrorDefinition } from '../../../src/contract/errors.ts';
import { OPERATION_IDS, operationOf } from '../../../src/contract/operations.ts';
import { BACKUP_CODE } from '../../../src/contract/operations/tfa/tfa.ts';
import {
  openApiDocument,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
} from '../../../src/openapi/document.ts';

/** What an independent validator has against a document: its structure, references, and examples against their schemas. */
async function problemsOf(document: OpenApiDocument): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      'no-path-trailing-slash': 'off', // the interface's own paths
      'no-invalid-media-type-examples': 'error',
      'no-invalid-parameter-examples': 'error',
    },
  });
  const found = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: 'openapi.json',
    config,
  });
  return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
}

let document: OpenApiDocument;
beforeEach(() => void (document = openApiDocument()));

function operations(): [string, string, OperationObject][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, OperationObject] => [
      method,
      path,
      operation,
    ]),
  );
}

describe('the OpenAPI document', () => {
  test('is valid, and so are all its examples', async () => {
    expect(await problemsOf(document)).toEqual([]);
  });

  test('is as valid with addresses of its own, and would not be with an example that breaks its schema, or a reference to nothing', async () => {
    const some = ({ paths, ...rest }: OpenApiDocument): OpenApiDocument => {
      const own = Object.entries(paths).filter(([path]) => path.startsWith('/api/v0/deployment'));
      return { ...rest, paths: Object.fromEntries(own) };
    };
    const text = JSON.stringify(some(document));
    const broken = (from: string, to: string): OpenApiDocument =>
      JSON.parse(text.replace(from, to)) as OpenApiDocument;
    const sound = await problemsOf(broken('', ''));
    const elsewhere = openApiDocument({ baseUrl: 'https://a.example/', serverlessUrl: 'https://b.example' });
    expect(await problemsOf(some(elsewhere))).toEqual(sound);
    const added = async (from: string, to: string) =>
      (await problemsOf(broken(from, to))).filter((problem) => !sound.includes(problem)).join();
    expect(await added('"deployment_id":42', '"deployment_id":"42"')).toContain(
      'no-invalid-media-type-examples',
    );
    expect(await added('schemas/Error"', 'schemas/Eror"')).toContain('no-unresolved-refs');
    expect(await added('"in":"path"', '"in":"paht"')).toContain('struct');
  });

  test('has every operation, at its method, path and server', () => {
    expect(
      operations()
        .map(([, , { operationId }]) => operationId)
        .toSorted(),
    ).toEqual([...OPERATION_IDS].toSorted());
    for (const [method, path, { operationId, servers, 'x-source': source }] of operations()) {
      const operation = operationOf(operationId);
      expect([method.toUpperCase(), path, source]).toEqual([
        operation.method,
        operation.path,
        operation.source,
      ]);
      expect(servers?.[0]?.url).toBe(operation.base === 'serverless' ? '{serverless_url}' : undefined);
    }
    expect(document.servers.map(({ url }) => url)).toEqual(['{base_url}', '{serverless_url}']);
  });

  test('has an example of every request and answer', () => {
    for (const [, , { requestBody, responses, parameters = [] }] of operations()) {
      if (requestBody) expect(requestBody.content['application/json'].example).toBeDefined();
      expect(responses['200']?.content['application/json'].example).toBeDefined();
      for (const parameter of parameters) {
        expect(parameter.example ?? parameter.content?.['application/json'].example).toBeDefined();
      }
    }
  });

  test('has every error that an operation declares, at each of its statuses', () => {
    for (const [, , { operationId, responses }] of operations()) {
      for (const code of operationOf(operationId).errors) {
        const { status, when }: ErrorDefinition = ERRORS[code];
        for (const each of status)
          expect(responses[String(each)]?.description).toContain(`\`${code}\`: ${when}`);
      }
    }
    expect(Object.keys(document.components.examples)).toEqual(Object.keys(ERRORS));
    expect(document.components.examples['tfa_locked']?.value).toEqual({
      error: 'tfa_locked',
      msg: 'method locked after failures (15 minutes)',
      fail_count: 5,
      locked_until: 1_790_000_900,
    });
  });

  test('leaves the codes of errors open: the service has more than the interface names', () => {
    const codes = operations().flatMap(([, , { responses }]) =>
      Object.values(responses).flatMap(({ content }) => {
        const { allOf } = content['application/json'].schema as { allOf?: { properties?: JsonSchema }[] };
        return allOf?.flatMap(({ properties }) => properties?.['error'] ?? []) ?? [];
      }),
    );
    expect(codes.length).toBeGreaterThan(OPERATION_IDS.length);
    const open = { anyOf: [{ enum: expect.any(Array) as unknown }, { type: 'string' }] };
    for (const code of codes) expect(code).toEqual(open);
  });

  test('says what needs a key, and what a secret alone may do', () => {
    const open = operations().filter(([, , { security }]) =>
      security.some((each) => Object.keys(each).length === 0),
    );
    expect(open.map(([, , { operationId }]) => operationId)).toEqual(
      OPERATION_IDS.filter((id) => operationOf(id).verification.secretAlone),
    );
    expect(document.components.securitySchemes).toMatchObject({ apiKey: { type: 'http', scheme: 'bearer' } });
  });

  test('says what the document says of values: whole hours, the form of backup codes, lengths in characters', () => {
    const { schemas } = document.components;
    expect(schemas['MaintenanceWindow']).toMatchObject({
      properties: { duration_hours: { type: 'integer' } },
    });
    const pattern = BACKUP_CODE.source;
    expect(schemas['tfa.login.request']).toMatchObject({ properties: { backup_code: { pattern } } });
    for (const id of ['tfa.confirmNew', 'tfa.regenerateBackupCodes']) {
      const backup_codes = { minItems: 10, maxItems: 10, items: { type: 'string', pattern } };
      expect(schemas[`${id}.response`]).toMatchObject({ properties: { backup_codes } });
    }
    expect(schemas['instances.create.request']).toMatchObject({
      properties: { onstart: { maxLength: 4048 } },
    });
    expect(schemas['tfa.update.request']).toMatchObject({ properties: { label: { maxLength: 30 } } });
  });

  test('has the eight defaults of §2.7 where a group is created, and none where it is changed', () => {
    const { schemas } = document.components;
    const defaultsOf = (name: string) => {
      const { properties } = schemas[name] as { properties: Record<string, { default?: unknown }> };
      return Object.fromEntries(
        Object.entries(properties).flatMap(([field, { default: value }]) =>
          value === undefined ? [] : [[field, value]],
        ),
      );
    };
    expect(defaultsOf('EndpointGroupSettings')).toEqual({
      min_load: 0,
      min_cold_load: 0,
      target_util: 0.9,
      cold_mult: 2.5,
      cold_workers: 5,
      max_workers: 20,
      max_queue_time: 30,
      target_queue_time: 10,
    });
    expect(defaultsOf('TemplateFields')).toMatchObject({
      tag: 'latest',
      runtype: 'args',
      recommended_disk_space: 8,
    });
    expect(defaultsOf('tfa.login.request')).toEqual({ tfa_method: 'sms', admin: false });
    expect(defaultsOf('endpointGroups.update.request')).toEqual({});
    // A field that is required at creation may be left out of an edit, and then stays as it is.
    expect(defaultsOf('templates.edit.request')).toEqual({});
  });

  test('marks what the interface does not say: permissions but one, and codes but those of 2FA', () => {
    const assumed = Object.fromEntries(
      operations().map(([, , operation]) => [operation.operationId, operation['x-assumed']]),
    );
    expect(assumed).toMatchObject({
      'templates.search': undefined,
      'deployments.heartbeat': ['permission', 'not_found'],
      'instances.create': ['permission', 'invalid_offer', 'not_found'],
      'templates.edit': ['not_found'],
      'tfa.update': undefined,
    });
    const heartbeat = document.paths['/api/v0/deployment/{id}/heartbeat']?.['post'];
    expect(heartbeat?.description).toContain('`instance_write` (assumed');
    expect(heartbeat?.responses['404']?.description).toContain(
      '(Assumed: the interface does not name it here.)',
    );
    const update = document.paths['/api/v0/tfa/update/']?.['put'];
    expect(update?.responses['404']?.description).not.toContain('(Assumed');
  });

  test("has the spacings of the table, and says that they are not the interface's", () => {
    const told = operations().flatMap(([, , operation]) =>
      operation['x-public-spacing-ms'] === undefined
        ? []
        : [[operation.operationId, operation['x-public-spacing-ms'], operation.description] as const],
    );
    const stated = OPERATION_IDS.flatMap((id) => {
      const { publicSpacingMs } = operationOf(id);
      return publicSpacingMs === undefined ? [] : [[id, publicSpacingMs] as const];
    });
    expect(new Map(told.map(([id, ms]) => [id, ms]))).toEqual(new Map<string, number>(stated));
    for (const [, ms, description] of told)
      expect(description).toContain(
        `The public service takes one call of a key every ${ms / 1000} s; the interface states no limit.`,
      );
    expect(document.info.description).toContain('`x-public-spacing-ms`');
  });

  test('marks what is deprecated, with its replacement', () => {
    const old = operations().filter(([, , { deprecated }]) => deprecated);
    expect(old.map(([, , operation]) => [operation.operationId, operation['x-replaced-by']])).toEqual([
      ['tfa.test', 'tfa.sendSms'],
      ['tfa.testSubmit', 'tfa.confirmNew'],
      ['tfa.resend', 'tfa.resendSms'],
    ]);
  });
});

import { createConfig, lintFromString } from '@redocly/openapi-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { ERRORS, type ErrorDefinition } from '../../../src/contract/errors.ts';
import { OPERATION_IDS, operationOf } from '../../../src/contract/operations.ts';
import { BACKUP_CODE } from '../../../src/contract/operations/tfa/tfa.ts';
import { openApiDocument, type JsonSchema, type OpenApiDocument } from '../../../src/openapi/document.ts';

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
  const source = JSON.stringify(document);
  const found = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
}

let document: OpenApiDocument;
beforeEach(() => void (document = openApiDocument()));

function operations() {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => Object.assign({ method, path }, operation)),
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
    const ofExample = await added('"deployment_id":42', '"deployment_id":"42"');
    expect(ofExample).toContain('no-invalid-media-type-examples');
    expect(await added('schemas/Error"', 'schemas/Eror"')).toContain('no-unresolved-refs');
    expect(await added('"in":"path"', '"in":"paht"')).toContain('struct');
  });

  test('has every operation, at its method, path and server, with examples', () => {
    const ids = operations().map(({ operationId }) => operationId);
    expect(ids.toSorted()).toEqual([...OPERATION_IDS].toSorted());
    for (const shown of operations()) {
      const { method, path, source, base, summary, permission } = operationOf(shown.operationId);
      expect([shown.method.toUpperCase(), shown.path, shown['x-source']]).toEqual([method, path, source]);
      expect([shown.description.indexOf(`${summary}. `), shown['x-permission']]).toEqual([0, permission]);
      expect(shown.servers?.[0]?.url).toBe(base === 'serverless' ? '{serverless_url}' : undefined);
      const { requestBody, responses, parameters = [] } = shown;
      for (const part of [requestBody, responses['200']])
        if (part) expect(part.content['application/json'].example).toBeDefined();
      for (const { example, content } of parameters)
        expect(example ?? content?.['application/json'].example).toBeDefined();
    }
    expect(document.servers.map(({ url }) => url)).toEqual(['{base_url}', '{serverless_url}']);
  });

  test('has every error that an operation declares, at each of its statuses', () => {
    for (const { operationId, responses } of operations()) {
      for (const code of operationOf(operationId).errors) {
        const { status, when, advice }: ErrorDefinition = ERRORS[code];
        const words = `- \`${code}\`: ${when}. ${advice.replace(/^./, (first) => first.toUpperCase())}.`;
        for (const each of status) expect(responses[String(each)]?.description).toContain(words);
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
    const codes = operations().flatMap(({ responses }) =>
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
    const open = operations().filter(({ security }) => security.some((one) => Object.keys(one).length === 0));
    const withSecret = OPERATION_IDS.filter((id) => operationOf(id).verification.secretAlone);
    expect(open.map(({ operationId }) => operationId)).toEqual(withSecret);
    const closed = operations().filter(({ operationId }) => !withSecret.includes(operationId));
    expect(new Set(closed.map(({ security }) => JSON.stringify(security)))).toEqual(
      new Set(['[{"apiKey":[]}]']),
    );
    expect(document.components.securitySchemes).toMatchObject({ apiKey: { type: 'http', scheme: 'bearer' } });
  });

  test('says what the document says of values: whole hours, the form of backup codes, lengths in characters', () => {
    const { schemas } = document.components;
    const field = (schema: string, name: string) =>
      (schemas[schema] as { properties: Record<string, object> }).properties[name];
    expect(field('MaintenanceWindow', 'duration_hours')).toMatchObject({ type: 'integer' });
    const pattern = BACKUP_CODE.source;
    expect(field('tfa.login.request', 'backup_code')).toMatchObject({ pattern });
    const codes = { minItems: 10, maxItems: 10, items: { type: 'string', pattern } };
    for (const id of ['tfa.confirmNew', 'tfa.regenerateBackupCodes'])
      expect(field(`${id}.response`, 'backup_codes')).toMatchObject(codes);
    expect(field('instances.create.request', 'onstart')).toMatchObject({ maxLength: 4048 });
    expect(field('tfa.update.request', 'label')).toMatchObject({ maxLength: 30 });
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
    const ofTemplate = { tag: 'latest', runtype: 'args', recommended_disk_space: 8 };
    expect(defaultsOf('TemplateFields')).toMatchObject(ofTemplate);
    expect(defaultsOf('tfa.login.request')).toEqual({ tfa_method: 'sms', admin: false });
    expect(defaultsOf('endpointGroups.update.request')).toEqual({});
    // A field that is required at creation may be left out of an edit, and then stays as it is.
    expect(defaultsOf('templates.edit.request')).toEqual({});
  });

  test('marks what the interface does not say: permissions but one, and codes but those of 2FA', () => {
    const assumed = Object.fromEntries(
      operations().map((operation) => [operation.operationId, operation['x-assumed']]),
    );
    expect(assumed).toMatchObject({
      'templates.search': undefined,
      'deployments.heartbeat': ['permission', 'not_found'],
      'instances.create': ['permission', 'invalid_offer', 'not_found'],
      'templates.edit': ['not_found'],
      'users.spendRate': ['permission'],
      'tfa.update': undefined,
    });
    const heartbeat = document.paths['/api/v0/deployment/{id}/heartbeat']?.['post'];
    expect(heartbeat?.description).toContain('`instance_write` (assumed');
    const noted = '(Assumed: the interface does not name it here.)';
    expect(heartbeat?.responses['404']?.description).toContain(noted);
    const update = document.paths['/api/v0/tfa/update/']?.['put'];
    expect(update?.responses['404']?.description).not.toContain('(Assumed');
  });

  test("has the spacings of the table, and says that they are not the interface's", () => {
    for (const { operationId, description, 'x-public-spacing-ms': ms } of operations()) {
      const { publicSpacingMs = 0 } = operationOf(operationId);
      const words = `one call of a key every ${publicSpacingMs / 1000} s; the interface states no limit.`;
      expect([ms ?? 0, description.includes(words)]).toEqual([publicSpacingMs, publicSpacingMs > 0]);
    }
  });

  test('says where each part comes from, and what an address stands for', () => {
    const deployments = document.tags.find(({ name }) => name === 'deployments');
    expect(deployments?.description).toBe('Sources: §4.6; public dialect.');
    const [main] = document.servers as readonly { variables?: Record<string, object> }[];
    expect(main?.variables?.['base_url']).toMatchObject({
      description: 'address of the main service; by default that of a local emulator',
    });
    const own = openApiDocument({ baseUrl: 'https://a.example/', serverlessUrl: 'https://b.example' });
    expect(own.servers.map(({ url }) => url)).toEqual(['https://a.example', 'https://b.example']);
    const [id] = document.paths['/api/v0/deployment/{id}/heartbeat']?.['post']?.parameters ?? [];
    expect(id).toMatchObject({ name: 'id', description: expect.stringContaining('deployment') as string });
  });

  test('has the examples of log errors, and no field that an example does not give', () => {
    const logs = document.paths['/get_workergroup_logs']?.['post'];
    expect(logs?.responses['401']?.content['application/json'].examples).toMatchObject({
      invalid_key: { summary: ERRORS.invalid_key.when, value: { error_msg: ERRORS.invalid_key.when } },
    });
    for (const { requestBody, operationId } of operations()) {
      const { keyInBody = 'none', example } = operationOf(operationId);
      const given = { ...example.input, [keyInBody]: 'API_KEY' } as Record<string, unknown>;
      for (const [name, value] of Object.entries(requestBody?.content['application/json'].example ?? {}))
        expect([name, value ?? 'nothing']).toEqual([name, given[name]]);
    }
    for (const { responses } of operations())
      for (const [status, { description }] of Object.entries(responses))
        if (status !== '200') expect(description).toMatch(/\.( \(Assumed: .*\.\))?$/);
  });

  test('has the bounds of the contract, and none of numbers as such', () => {
    expect(JSON.stringify(document)).not.toContain(String(Number.MAX_SAFE_INTEGER));
    const { properties } = document.components.schemas['EndpointGroupSettings'] as { properties: JsonSchema };
    expect(properties['min_load']).toMatchObject({ minimum: 0 });
  });

  test('marks what is deprecated, with its replacement', () => {
    const old = operations().filter(({ deprecated }) => deprecated);
    expect(old.map((operation) => [operation.operationId, operation['x-replaced-by']])).toEqual([
      ['tfa.test', 'tfa.sendSms'],
      ['tfa.testSubmit', 'tfa.confirmNew'],
      ['tfa.resend', 'tfa.resendSms'],
    ]);
  });
});

/** A name never reaches another thing than the one that is meant, whatever things are called and lists look like. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pilotlight, type Ran } from '../../support/console.ts';

interface Service {
  readonly run: (...words: string[]) => Promise<Ran>;
  /** What came beside the lists. */
  readonly changes: string[];
  readonly listings: () => number;
}

/** A service whose lists say what the test wants, and which takes everything else. */
async function service(
  lists: { readonly deployments?: unknown[]; readonly results?: unknown[] },
  status = 200,
): Promise<Service> {
  const changes: string[] = [];
  let listings = 0;
  const server = createServer((request, response) => {
    const listing = request.method === 'GET';
    if (listing) listings += 1;
    else changes.push(`${request.method} ${request.url}`);
    response.writeHead(listing ? status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ success: true, count: 1, id: 9, endpoint_state: 'stopped', ...lists }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const env = { API_KEY: 'key', BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  return { run: (...words) => pilotlight(words, { env }), changes, listings: () => listings };
}

describe('a name that looks like a number', () => {
  const deployments = [
    { id: 50, name: '1e2' },
    { id: 100, name: 'prod' },
    { id: 51, name: '007' },
    { id: 7, name: 'other' },
    { id: 52, name: '4.0' },
    { id: 4, name: 'four' },
    { id: 42, name: 'a' },
    { id: 60, name: '42' },
  ];

  test.each([
    ['1e2', 50],
    ['007', 51],
    ['4.0', 52],
  ])('%s is a name, unless it is written as ids are', async (name, id) => {
    const { run, changes } = await service({ deployments });
    expect(await run('deployment', 'delete', name)).toMatchObject({ code: 0 });
    expect(await run('deployment', 'stop', '--id', name)).toMatchObject({ code: 0 });
    expect(changes).toEqual([`DELETE /api/v0/deployment/${id}/`, `POST /api/v0/deployment/${id}/stop/`]);
  });

  test('and is an id too is refused by what changes something, with the one that is called so', async () => {
    const { run, changes } = await service({ deployments });
    const { code, stderr } = await run('deployment', 'delete', '42');
    expect(code).toBe(2);
    expect(stderr).toContain('42 may be an id, and is a name');
    expect(stderr).toContain('  60  42/default\n');
    expect(changes).toEqual([]);
    expect(await run('deployment', 'delete', '60')).toMatchObject({ code: 0 });
    expect(await run('deployment', 'delete', 'a')).toMatchObject({ code: 0 });
    expect(changes).toEqual(['DELETE /api/v0/deployment/60/', 'DELETE /api/v0/deployment/42/']);
  });

  test('is the id of one whose name it is as well', async () => {
    const { run, changes } = await service({ deployments: [{ id: 42, name: '42' }] });
    expect(await run('deployment', 'delete', '42')).toMatchObject({ code: 0 });
    expect(changes).toEqual(['DELETE /api/v0/deployment/42/']);
  });

  test.each([403, 404])('an id is taken where the service answers the list with %i', async (status) => {
    const { run, changes, listings } = await service({}, status);
    expect(await run('deployment', 'delete', '42')).toMatchObject({ code: 0 });
    expect(await run('deployment', 'delete', 'square')).not.toMatchObject({ code: 0 });
    expect([changes, listings()]).toEqual([['DELETE /api/v0/deployment/42/'], 2]);
  });

  test('costs no list where nothing is changed', async () => {
    const { run, listings } = await service({ deployments });
    await run('deployment', 'heartbeat', '42');
    await run('worker-group', 'logs', '42');
    expect(listings()).toBe(0);
  });
});

describe('a list with rows that cannot be read', () => {
  const square = { id: 50, name: 'square', tag: 'default' };

  test.each([
    ['an id that is null', { id: null, name: 'square', tag: 'blue' }],
    ['an id that is text', { id: 'd-77', name: 'square', tag: 'blue' }],
    ['an id that is a fraction', { id: 4.5, name: 'square', tag: 'blue' }],
    ['a name that is a list', { id: 9, name: ['square'], tag: 'blue' }],
  ])('says so, and changes nothing by name: %s', async (_, bad) => {
    const { run, changes } = await service({ deployments: [square, bad] });
    for (const words of [
      ['delete', 'square'],
      ['delete-by-name', '--name', 'square'],
    ]) {
      const { code, stderr } = await run('deployment', ...words);
      expect(code).toBe(2);
      expect(stderr).toContain('square may fit more than one: deployment list has 1 that cannot be read');
    }
    expect(changes).toEqual([]);
    expect(await run('deployment', 'delete', '50')).toMatchObject({ code: 0 });
    expect(await run('deployment', 'delete-by-name', '--name', 'square', '--tag', 'blue')).toMatchObject({
      code: 0,
    });
  });

  test('still tells a name to what only looks', async () => {
    const { run } = await service({ deployments: [square, { id: null, name: 'square' }] });
    expect((await run('deployment', 'heartbeat', 'square')).stderr).not.toContain('may fit');
  });
});

test('a tag that is empty is the default one', async () => {
  const deployments = [
    { id: 50, name: 'square', tag: '' },
    { id: 51, name: 'square', tag: 'blue' },
  ];
  const { run, changes } = await service({ deployments });
  expect(await run('deployment', 'stop', 'square/default')).toMatchObject({ code: 0 });
  expect(changes).toEqual(['POST /api/v0/deployment/50/stop/']);
});

describe('the name of an endpoint that the service looks up itself', () => {
  const chat = { id: 31, endpoint_name: 'chat' };
  const commands = [
    ['worker-group', 'create', '--endpoint-name', 'chat', '--template-id', '1'],
    ['worker-group', 'update', '7', '--endpoint-name', 'chat'],
    ['endpoint-group', 'route', '--endpoint', 'chat', '--cost', '1'],
  ];

  test.each(commands)('is refused where two have it: %s %s', async (...words) => {
    const { run, changes } = await service({ results: [chat, { id: 32, endpoint_name: 'chat' }] });
    const { code, stderr } = await run(...words);
    expect(code).toBe(2);
    expect(stderr).toMatch(/chat fits 2 of them; give .*\n {2}31 {2}chat\n {2}32 {2}chat\n/);
    expect(changes).toEqual([]);
  });

  test.each(commands)('is refused where another one may have it: %s %s', async (...words) => {
    const { run, changes } = await service({ results: [chat, { id: {}, endpoint_name: 'chat' }] });
    expect((await run(...words)).stderr).toContain('may fit more than one');
    expect(changes).toEqual([]);
  });

  test.each(commands)('is taken where one has it: %s %s', async (...words) => {
    const { run, changes } = await service({ results: [chat] });
    expect(await run(...words)).toMatchObject({ code: 0 });
    expect(changes).toHaveLength(1);
  });
});

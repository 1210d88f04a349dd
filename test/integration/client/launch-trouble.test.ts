/** What was rented is not lost when the world turns bad after renting: it is destroyed, or its id is with the error. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { AbortedError, UnauthorizedError } from '../../../src/client/errors.ts';
import { launchInstance, LeftBehindError, type LaunchOptions } from '../../../src/client/flows/launch.ts';
import { pilotlight } from '../../support/console.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const ok =
  (status: number, body: unknown): Answer =>
  (response) =>
    response.writeHead(status).end(JSON.stringify(body));
const instance = (status: string): Answer => ok(200, { instances: [{ id: 505, actual_status: status }] });

/** By method, or by method and path. */
let answers: Record<string, Answer> = {};
const calls: string[] = [];
const server = createServer((request, response) => {
  request.resume();
  const call = `${request.method} ${request.url}`;
  calls.push(call);
  (answers[call] ?? answers[request.method ?? ''])?.(response, request);
});
let url: string;
let client: Client;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = createClient({ baseUrl: url, apiKey: 'key', retry: { attempts: 3, baseMs: 1, maxMs: 1 } });
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  calls.length = 0;
  answers = {
    PUT: ok(200, { success: true, new_contract: 505 }),
    GET: instance('running'),
    DELETE: ok(200, { success: true }),
  };
});

const DESTROYED = 'DELETE /api/v0/instances/505/';
const EXPIRED = ok(404, {
  success: false,
  error: 'auth_error',
  msg: 'Session expired. Please log in again.',
});

function launch(options: Partial<LaunchOptions> = {}) {
  return launchInstance(client, { offers: [1, 2], request: { image: 'a', disk: 1 }, pollMs: 1, ...options });
}

function thrownBy(launching: Promise<unknown>): Promise<unknown> {
  return launching.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('a session that expires after the rental leaves the id with the error', async () => {
  answers = { ...answers, GET: EXPIRED, DELETE: EXPIRED };
  const error = await thrownBy(launch());
  expect(error).toBeInstanceOf(LeftBehindError);
  expect(error).toMatchObject({
    cause: expect.any(UnauthorizedError),
    instanceIds: [505],
    message: expect.stringContaining('instance 505 could not be destroyed'),
  });
});

test('an error that ends the launch is thrown as it is where nothing is left behind', async () => {
  answers = { ...answers, GET: EXPIRED };
  await expect(launch()).rejects.toBeInstanceOf(UnauthorizedError);
  expect(calls).toContain(DESTROYED);
});

test('one that could not be destroyed is named when a later offer fails', async () => {
  answers = {
    ...answers,
    'PUT /api/v0/asks/2/': ok(402, { success: false, error: 'insufficient_credit', msg: 'no credit' }),
    GET: instance('exited'),
    DELETE: ok(400, { error: 'bad_request', msg: 'not now' }),
  };
  const error = await thrownBy(launch());
  expect(error).toBeInstanceOf(LeftBehindError);
  expect(error).toMatchObject({
    cause: expect.objectContaining({ said: 'no credit' }),
    instanceIds: [505],
    launched: undefined,
  });
});

test('an abort while the rental is under way waits for its id, and destroys it', async () => {
  const controller = new AbortController();
  answers['PUT'] = (response, request) => {
    controller.abort();
    // After the client has had its chance to hang up.
    setImmediate(() => ok(200, { new_contract: 505 })(response, request));
  };
  await expect(launch({ signal: controller.signal })).rejects.toBeInstanceOf(AbortedError);
  expect(calls).toEqual(['PUT /api/v0/asks/1/', DESTROYED]);
});

test('the longest wait includes looks that are not answered', async () => {
  answers['GET'] = () => {};
  const error = await thrownBy(launch({ offers: [1], timeoutMs: 50 }));
  expect(error).toMatchObject({ givenUp: [{ reason: 'not running after 0.05 s, still created' }] });
  expect(calls).toContain(DESTROYED);
});

test('a status is known in capitals too', async () => {
  answers['GET'] = instance('Running');
  await expect(launch()).resolves.toMatchObject({ instanceId: 505, offerId: 1 });
  answers['GET'] = instance('Exited');
  await expect(launch({ offers: [1] })).rejects.toThrow('it became exited');
});

test('a deletion whose first answer was lost, and that finds nothing the second time, is done', async () => {
  const none = ok(404, { success: false, error: 'not_found', msg: 'no instance 505' });
  for (const lost of [(response: ServerResponse) => response.destroy(), ok(500, {})]) {
    let asked = 0;
    answers['DELETE'] = (response, request) => ((asked += 1) === 1 ? lost : none)(response, request);
    await expect(client.instances.destroy({ id: 505 })).resolves.toEqual({});
    asked = 0;
    const ran = await pilotlight(['instance', 'destroy', '505'], { env: { API_KEY: 'key', BASE_URL: url } });
    expect([ran.code, asked]).toEqual([0, 2]);
  }
  answers['DELETE'] = none;
  await expect(client.instances.destroy({ id: 505 })).rejects.toMatchObject({ meaning: 'not-found' });
  let asked = 0;
  const throttled = ok(429, { error: 'rate_limited', msg: 'slower' });
  answers['DELETE'] = (response, request) => ((asked += 1) === 1 ? throttled : none)(response, request);
  await expect(client.instances.destroy({ id: 505 })).rejects.toMatchObject({ meaning: 'not-found' });
});

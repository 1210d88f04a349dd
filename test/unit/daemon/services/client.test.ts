import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApiKey } from '../../../../src/client/api-key.ts';
import type { Gate } from '../../../../src/client/gate.ts';
import { createDaemonClient, ClockSkew } from '../../../../src/daemon/services/client.ts';
import { serve } from '../../../support/local-server.ts';

const DAY = 86_400_000;

let server: Awaited<ReturnType<typeof serve>>;
let asked: Pick<IncomingMessage, 'url' | 'headers'>[];
beforeEach(async () => {
  asked = [];
  server = await serve((request, response) => {
    asked.push({ url: request.url, headers: request.headers });
    response.setHeader('date', new Date(Date.now() + DAY).toUTCString());
    response.setHeader('content-type', 'application/json');
    response.end('{"success":true,"results":[]}');
  });
});
afterEach(() => server.close());

function client(key: string, path: string | undefined) {
  const clockSkew = new ClockSkew();
  const codes: string[] = [];
  const entered: unknown[] = [];
  const passes: unknown[] = [];
  const metrics = { client: { exchange: ({ code }: { code: string }) => void codes.push(code) } };
  const gate: Gate = {
    enter: async (operation, turn) => {
      entered.push({ operation, turn });
      return { answered: (answer) => void passes.push(answer), lost: () => void passes.push('lost') };
    },
  };
  const settings = { baseUrl: server.url, serverlessUrl: path && server.url + path };
  return {
    clockSkew,
    codes,
    entered,
    passes,
    own: createDaemonClient({
      settings,
      apiKey: createApiKey(key, undefined),
      metrics,
      clockSkew,
      traits: { see: () => {} },
      gate,
    }),
  };
}

test('it asks with the key as it is, and tells of each answer and its date', async () => {
  const { own, clockSkew, codes } = client('the-key', undefined);
  await using _ = own;
  await own.workergroups.list();
  expect(asked[0]?.headers.authorization).toBe('Bearer the-key');
  expect(codes).toEqual(['200']);
  expect(Math.abs((clockSkew.seconds ?? 0) - DAY / 1000)).toBeLessThan(60);
});

test('each of its requests passes the gate, with its turn', async () => {
  const { own, entered, passes } = client('the-key', undefined);
  await using _ = own;
  const turn = { everyMs: 15_000, need: 'endpoint', who: '5' } as const;
  await own.workergroups.list({}, { turn });
  expect([entered, passes]).toEqual([[{ operation: 'workergroups.list', turn }], [{ throttled: false }]]);
});

test('without a key it sends nothing', async () => {
  const { own } = client('', undefined);
  await using _ = own;
  await expect(own.workergroups.list()).rejects.toThrow('this operation needs an API key');
  expect(asked).toEqual([]);
});

test('the serverless routes may be elsewhere', async () => {
  const { own } = client('the-key', '/elsewhere');
  await using _ = own;
  await own.workergroups.logs({ id: 7, tail: 5 }, { retry: false }).catch(() => {});
  await own.users.current({}, { retry: false }).catch(() => {});
  expect(asked.map(({ url }) => url?.startsWith('/elsewhere/'))).toEqual([true, false]);
});

const AT = Date.UTC(2026, 0, 1);

test.each([
  [0, 500, 0],
  [10_000, 500, 10],
  [0, 440, 0.1],
])(
  'a service whose clock shows %i ms more, %i ms after its last second, is %d s ahead',
  (ahead, after, skew) => {
    const clockSkew = new ClockSkew();
    expect(clockSkew.seconds).toBeNull();
    clockSkew.observe(new Date(AT + ahead).toUTCString(), AT + after);
    expect(clockSkew.seconds).toBeCloseTo(skew, 6);
  },
);

test('an answer without a time says nothing about the clock', () => {
  const clockSkew = new ClockSkew();
  clockSkew.observe(new Date(AT).toUTCString(), AT - 500);
  for (const date of [undefined, '', 'yesterday']) clockSkew.observe(date, AT + 90_000);
  expect(clockSkew.seconds).toBe(1);
});

/** The watch over deployments, the real client and the emulator, over a socket; all clocks move together. */
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { deploymentList } from '../../../src/config/value-types.ts';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../../src/emulator/index.ts';
import { ask, type Reply } from '../../../src/heartbeat/discovery/watch.ts';
import type { Choice, DiscoveryNotice } from '../../../src/heartbeat/discovery/wanted.ts';
import { DeploymentWatch } from '../../../src/heartbeat/discovery/watch.ts';
import { serve } from '../../support/local-server.ts';
import { settlePromises, VirtualTime } from '../../support/virtual-time.ts';

const NEVER_EXPIRES = 1e6;

async function startScene(wanted: string, options: EmulatorOptions, firstKey?: string) {
  const emulator = await startEmulator({ clock: 'frozen', dialect: 'public', ...options });
  let apiKey = firstKey ?? emulator.apiKey;
  const client = createClient({ baseUrl: emulator.url, apiKey: () => apiKey });
  const underWay = new Set<Promise<unknown>>();
  function seen<T>(call: Promise<T>): Promise<T> {
    underWay.add(call);
    const forget = (): unknown => underWay.delete(call);
    call.then(forget, forget);
    return call;
  }
  const time = new VirtualTime();
  const notices: DiscoveryNotice[] = [];
  const stop = new AbortController();
  let choices: readonly Choice[] = [];
  const watch = new DeploymentWatch({
    client: {
      deployments: {
        list: (input, callOptions) => seen(client.deployments.list(input, callOptions)),
        get: (input, callOptions) => seen(client.deployments.get(input, callOptions)),
      },
    },
    wanted: deploymentList.parse(wanted).value ?? [],
    settings: { deploymentTtl: undefined, heartbeatInterval: 'auto' },
    ports: { clock: time.clock, setTimer: time.setTimer, random: () => 0 },
    signal: stop.signal,
    onChange: (now) => (choices = now),
    isGone: () => false,
    isAlive: () => false,
    onNotice: (notice) => notices.push(notice),
  });

  /** Lets time pass here and at the service, second by second; every question is answered before it goes on. */
  async function pass(seconds: number): Promise<void> {
    for (let second = 0; second <= seconds; second += 1) {
      await Promise.allSettled(underWay);
      await settlePromises();
      if (second === seconds) return;
      await emulator.clock.advance(1_000);
      await time.pass(1_000);
    }
  }

  return {
    emulator,
    watch,
    notices,
    pass,
    useKey(key: string) {
      apiKey = key;
      watch.refresh();
    },
    choices: () => choices,
    timings: () => choices.map(({ id, ttl }) => [id, ttl]),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test ends'));
      await watch.done;
      await client[Symbol.asyncDispose]();
      await emulator.close();
    },
  };
}

/** How many answers had a status. */
function statuses(emulator: Emulator): Map<number | null, number> {
  const counts = new Map<number | null, number>();
  for (const { status } of emulator.journal.entries()) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}

describe('under the public dialect', () => {
  const seed = {
    deployments: [
      { id: 42, name: 'square', ttl: 300 },
      { id: 43, name: 'square', tag: 'blue', ttl: null },
      { id: 50, name: 'other', ttl: NEVER_EXPIRES },
      { id: 51, name: 'square', tag: 'red', endpoint_state: 'stopped' },
    ],
  };

  test('names and TTLs are learned, as soon as the key is taken, and never faster than the service allows', async () => {
    // A request that is refused begins the three seconds anew.
    const operations = { size: 1, refill_per_second: 1 / 3, penalty: 1, debt_cap: 0 };
    const traits = { rate_limit: { operations } };
    await using scene = await startScene('50@1h,name:square', { seed, traits }, 'not-yet-valid');
    await scene.pass(20);
    expect(scene.timings()).toEqual([[50, 3_600_000]]);
    expect(scene.notices).toEqual([
      {
        type: 'unanswered',
        found: [
          {
            type: 'unanswered',
            question: 'list',
            reason: expect.stringMatching(/^the service refuses the API key \(status 401, 127/),
          },
        ],
      },
    ]);
    scene.useKey(scene.emulator.apiKey);
    await scene.pass(4);
    expect(scene.timings()).toEqual([
      [50, 3_600_000],
      [42, 300_000],
      [43, undefined],
    ]);
    expect(scene.choices().at(-1)).toMatchObject({ id: 43, name: 'square' });
    await scene.pass(120);
    expect(statuses(scene.emulator).get(429)).toBeUndefined();
    expect(scene.emulator.journal.count({ operation: 'deployments.get' })).toBe(0);
  });
});

async function replyTo(rows: number): Promise<Reply> {
  const env = 'x'.repeat(2_000);
  const deployments = Array.from({ length: rows }, (_, id) => ({ id, name: `n${id}`, ttl: 20, env }));
  const text = JSON.stringify({ success: true, deployments });
  await using server = await serve((_, response) => response.end(text));
  await using client = createClient({ baseUrl: server.url, apiKey: 'key' });
  return await ask('list', client, new AbortController().signal);
}

test('a list of 5,000 deployments with an environment of 2 kB each is read', async () => {
  const reply = await replyTo(5_000);
  expect(reply).toMatchObject({ kind: 'answered' });
  expect(reply.kind === 'answered' && reply.rows.length).toBe(5_000);
});

test('a list that is too large to read between two heartbeats is none, and the reason says what to do', async () => {
  expect(await replyTo(9_000)).toEqual({
    kind: 'unanswered',
    reason: 'the list is larger than 16 MiB; give the deployment by its id',
  });
});

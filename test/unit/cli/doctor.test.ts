/** What doctor asks, waits for and finds, without waiting. */
import { expect, test } from 'vitest';
import { examine } from '../../../src/cli/doctor.ts';
import { deploymentStatus } from '../../../src/daemon/status/deployment.ts';
import { startEmulator, type FaultInput } from '../../../src/emulator/index.ts';
import { emptyStats } from '../../../src/heartbeat/view/snapshot.ts';
import { EMPTY_STATUS } from '../../support/empty-status.ts';
import { prefixed, settingsOf } from '../../support/settings.ts';

type Options = Parameters<typeof examine>[0];

async function examined(env: Record<string, string>, over: Partial<Options> = {}, fault?: FaultInput) {
  await using emulator = await startEmulator({ dialect: 'public' });
  if (fault) await emulator.faults.add(fault);
  const service = { BASE_URL: emulator.url, API_KEY: emulator.apiKey, ACCOUNT_SCHEDULE: 'off' };
  const said: string[] = [];
  const waits: number[] = [];
  const { lines, exit, exchanges } = await examine({
    settings: settingsOf(prefixed({ ...service, ...env })),
    daemon: undefined,
    deployment: undefined,
    signal: new AbortController().signal,
    sleep: (ms) => Promise.resolve(waits.push(ms)),
    announce: (sentence) => said.push(sentence),
    ...over,
  });
  const asked = exchanges.map(({ operation }) => operation).join(' ');
  return { lines, exit, exchanges, asked, said: said.join('\n'), waits };
}

/** A running daemon that knows a trait, and leaves so much of the rate limit. */
function daemonThat(rate: Partial<typeof EMPTY_STATUS.rate_limit>): NonNullable<Options['daemon']> {
  const known = { trait: 'tail_unit', value: 'bytes', verdict: 'fine', says: '' } as const;
  const service = { ...EMPTY_STATUS.service, traits: [known] };
  return { ...EMPTY_STATUS, rate_limit: { ...EMPTY_STATUS.rate_limit, ...rate }, service };
}

test('all that is configured is asked, a log at two lengths, other lists, and one heartbeat if it may', async () => {
  const env = { WORKER_GROUPS: '7', ENDPOINTS: 'chat', DEPLOYMENTS: '42' };
  const { said, asked, waits, lines, exit } = await examined(env, { deployment: 42 });
  const lists = 'users.current workergroups.list endpointGroups.list instances.page deployments.list';
  const others = 'workergroups.logs instances.list serverless.endpointsSpend deployments.heartbeat';
  expect(asked).toBe(`${lists} workergroups.logs ${others}`);
  expect(said).toBe(
    `Asks at most 10 questions, all reads but one heartbeat, one every 2 s, about 18 s: ${`${lists} ${others}`.replaceAll(' ', ', ')}`,
  );
  expect([exit, waits]).toEqual([0, Array.from({ length: 9 }, () => 2_000)]);
  const says =
    '1 heartbeat of this key needs one request in 60 s; the service is said to allow one in 2 s (its specification; never measured).';
  expect(lines).toContainEqual({ about: 'heartbeat of 42', verdict: 'fine', says: 'accepted' });
  expect(lines).toContainEqual({ about: 'heartbeats', verdict: 'fine', says });
  const bytes = { about: 'tail_unit', verdict: 'differs', value: 'bytes', says: expect.any(String) };
  expect(lines).toContainEqual(bytes);
  expect(lines.filter(({ about }) => /\./.test(about))).toEqual([]);
});

test.each<[FaultInput, string, number]>([
  [{ kind: 'throttled' }, 'users.current', 1],
  [{ kind: 'throttled', operation: 'instances.page' }, 'users.current workergroups.list instances.page', 0],
])('after a 429 nothing more is asked: %j', async (fault, expected, exit) => {
  const ran = await examined({ WORKER_GROUPS: '7' }, {}, fault);
  expect([ran.asked, ran.exit]).toEqual([expected, exit]);
  expect(ran.said).toMatch(/\nThe service answered 429: nothing more is asked\.$/);
  expect(ran.exchanges.at(-1)).toMatchObject({ code: '429', refusal: 'throttled' });
  // A service that refused the first question has confirmed nothing.
  expect(ran.lines.some(({ about }) => about === 'spend')).toBe(exit === 0);
});

const NOTHING = 'It needs all requests that the rate limit allows, so nothing is asked.';
test.each([
  [{ allowed_requests_per_second: 1, wanted_requests_per_second: 0.75 }, 'one every 4 s, about 12 s: u', 3],
  [{ allowed_requests_per_second: 9, wanted_requests_per_second: 0.75 }, 'one every 2 s, about 6 s: u', 3],
  [{ allowed_requests_per_second: 1, wanted_requests_per_second: 1 }, NOTHING, 0],
  [{ paused_seconds: 1 }, NOTHING, 0],
])('doctor asks no faster than the running daemon leaves room for: %j', async (rate, said, count) => {
  const ran = await examined({ WORKER_GROUPS: '', INSTANCES_SCHEDULE: 'off' }, { daemon: daemonThat(rate) });
  expect(ran.said).toMatch(/^A daemon of this service runs here; doctor uses what it has learned\. /);
  expect(ran.said).toContain(said);
  expect([ran.exchanges.length, ran.exit]).toEqual([count, 0]);
  expect(ran.lines).toContainEqual(expect.objectContaining({ about: 'tail_unit', value: 'bytes' }));
});

test('a deployment that was replaced needs no heartbeats; two that live may need too many', async () => {
  const { failures, attempts, lapses, timeline } = emptyStats();
  const stats = { failures, attempts, lapses, timeline, nextBeatAt: 1 };
  const next = { ...stats, deploymentId: 43, state: 'healthy', intervalMs: 4_000 } as const;
  const { nextBeatAt: _, ...last } = { ...next, deploymentId: 42, state: 'replaced' } as const;
  const often = { ...next, deploymentId: 44, intervalMs: 2_000 };
  const allows = 'the service is said to allow one in 2 s (its specification; never measured).';
  for (const [all, verdict, says] of [
    [[last, next], 'fine', `1 heartbeat of this key needs one request in 4 s; ${allows}`],
    [
      [next, often],
      'broken',
      `2 heartbeats of this key need one request in 1.3 s; ${allows} Longer TTLs or a second key help.`,
    ],
  ] as const) {
    const daemon = { ...daemonThat({ paused_seconds: 1 }), deployments: all.map(deploymentStatus) };
    const { lines, exit } = await examined({}, { daemon });
    expect(lines).toContainEqual({ verdict, about: 'heartbeats', says });
    expect(exit).toBe(verdict === 'fine' ? 0 : 1);
  }
});

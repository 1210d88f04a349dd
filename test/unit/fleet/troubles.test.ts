/** Each trouble by name, and its ordinary twin: the watch on virtual time, and a service that answers as a test says. */
import { expect, test } from 'vitest';
import type { Worker } from '../../../src/contract/operations/serverless/workers.ts';
import type { ListedEndpoint } from '../../../src/fleet/discovery/endpoints.ts';
import type { TroubleName } from '../../../src/fleet/troubles/troubles.ts';
import { FleetWorld } from '../../support/fleet-world.ts';

/** What the service answers, minutes after the watch began. */
interface Scene {
  readonly minutes: number;
  readonly endpoint?: (minute: number) => Partial<ListedEndpoint>;
  /** Default: one idle worker. */
  readonly workers?: (minute: number) => readonly Worker[];
  readonly prices?: Readonly<Record<number, number>>;
  readonly ceiling?: number;
}

let world: FleetWorld;

async function play(scene: Scene) {
  const { minutes, endpoint = () => ({}), workers = () => [idle(1)], prices = {}, ceiling } = scene;
  world = new FleetWorld();
  const { clock, notices, events } = world;
  const begins = clock.now();
  const minute = (): number => (clock.now() - begins) / 60_000;
  world.endpoints = () => [
    { id: 1, endpoint_name: 'chat', max_workers: 4, cold_workers: 0, ...endpoint(minute()) },
  ];
  world.workers = () => workers(minute());
  for (const [id, running] of Object.entries(prices))
    world.prices.set(Number(id), { running, storage: undefined });
  if (ceiling !== undefined) world.ceilings = new Map([[1, ceiling]]);
  await world.start();
  await world.pass(minutes * 60);
  const troubles = world.watch.view().endpoints[0]?.troubles ?? {};
  return {
    troubles,
    lasting: Object.entries(troubles).flatMap(([name, has]) => (has ? [name] : [])),
    begun: notices.flatMap((notice) => (notice.kind === 'trouble begun' ? [notice.trouble] : [])),
    ended: notices.flatMap((notice) => (notice.kind === 'trouble ended' ? [notice.trouble] : [])),
    churned: events.filter(({ kind }) => kind === 'worker churned'),
  };
}

const idle = (id: number, more: Partial<Worker> = {}): Worker => ({
  id,
  status: 'idle',
  cur_load: 0,
  cur_perf: 0,
  perf: 100,
  measured_perf: 100,
  reqs_working: 0,
  ...more,
});
const loading = (id: number, status = 'model_loading'): Worker => idle(id, { status, loaded_at: 0 });
/** One place whose worker is another one every so many minutes. */
const replaced = (everyMinutes: number) => (minute: number) => [
  loading(100 + Math.floor(minute / everyMinutes)),
];
/** Workers that load from the second minute on, and are ready two minutes later. */
const made = (count: number) => (minute: number) =>
  Array.from({ length: minute < 2 ? 0 : count }, (_, id) => (minute < 4 ? loading(id) : idle(id)));
const stranded = () => [idle(1, { status: 'stopped', cur_load: 5 })];

const TROUBLED: readonly (readonly [TroubleName, Scene, says: string, facts?: object])[] = [
  ['not_recruiting', { minutes: 4, workers: stranded }, 'has load, no ready worker, and recruits none'],
  // A start that the service has given up is none.
  [
    'not_recruiting',
    {
      minutes: 9,
      workers: () => [loading(1, 'starting')],
      endpoint: () => ({ min_load: 5, endpoint_state: 'Active' }),
    },
    'has a min_load of 5',
    { min_load: 5, workers: [1] },
  ],
  [
    'churn',
    { minutes: 12, workers: replaced(2), prices: { 100: 6, 101: 6, 102: 6, 103: 6, 104: 6 } },
    'replaced 4 workers before they were ever ready, which cost $0.8',
    { churned_workers: 3, dollars: expect.closeTo(0.6, 1) as number },
  ],
  [
    'churn',
    { minutes: 20, workers: (minute) => [...made(3)(minute), ...(minute < 10 ? replaced(2)(minute) : [])] },
    'replaced 3 workers',
    { churned_workers: 3 },
  ],
  [
    'flapping',
    {
      minutes: 12,
      workers: (minute) => [idle(1), ...replaced(2)(minute)],
      endpoint: () => ({ max_workers: 1, cold_workers: 1 }),
    },
    'replaced 4 workers before they were ever ready: cold_workers is not below max_workers',
  ],
  ['slow_start', { minutes: 12.3, workers: () => [loading(1)] }, 'has been model loading for 12 min'],
  [
    'slow_start',
    { minutes: 4.8, workers: () => [loading(1, 'starting')] },
    'has been starting for 5 min: the service gives up after about 300 s',
    { workers: [1], seconds: 270 },
  ],
  [
    'stuck_requests',
    { minutes: 31, workers: () => [idle(1, { reqs_working: 1, cur_load: 100 })] },
    'served nothing for 31 min: its counter is stuck',
    { workers: [1], seconds: 1_800 },
  ],
  [
    'slow_machine',
    { minutes: 2, workers: () => [idle(1), idle(2), idle(3, { measured_perf: 40 })] },
    'worker 3) that takes 2.5 times as long',
    { worker: 3, slower: 2.5 },
  ],
  [
    'slow_machine',
    {
      minutes: 2,
      workers: () => [idle(1), idle(2), idle(3, { measured_perf: 80 })],
      prices: { 1: 0.2, 2: 0.2, 3: 0.4 },
    },
    'worker 3) that costs 2.5 times as much',
    { worker: 3, dearer: 2.5 },
  ],
  [
    'price_above_filter',
    { minutes: 2, workers: () => [idle(1), idle(2)], prices: { 2: 0.201 }, ceiling: 0.15 },
    '$0.201 an hour, and its worker groups search for at most $0.150',
    { worker: 2, price: 0.201, ceiling: 0.15 },
  ],
  [
    'deletes_soon',
    { minutes: 6, endpoint: (minute) => ({ auto_delete_in_seconds: 36_000 - minute * 60 }) },
    'deletes itself in 10 h',
  ],
];

test.for(TROUBLED)('%s is told, with its evidence', async ([name, scene, says, facts]) => {
  const { troubles, begun } = await play(scene);
  const told = world.notices.find((notice) => notice.kind === 'trouble begun' && notice.trouble === name);
  expect(told).toHaveProperty('evidence.facts', facts ?? expect.anything());
  expect(begun.filter((each) => each === name)).toEqual([name]);
  expect(troubles[name]?.says).toContain(says);
});

const ORDINARY: readonly (readonly [string, Scene])[] = [
  ['waits for a worker that loads', { minutes: 11, workers: () => [loading(2), ...stranded()] }],
  ['is stopped', { minutes: 5, workers: stranded, endpoint: () => ({ endpoint_state: 'stopped' }) }],
  ['sleeps', { minutes: 20, workers: () => [idle(1, { status: 'stopped' })] }],
  [
    'recruits after two minutes',
    { minutes: 6, workers: (minute) => (minute < 2 ? stranded() : [loading(2, 'starting'), ...stranded()]) },
  ],
  [
    'gives up starts that it needs no more',
    {
      minutes: 12,
      workers: (minute) =>
        [idle(1)].concat(minute < 2 ? [] : minute < 5 ? [2, 3, 4].map((id) => loading(id)) : idle(5)),
    },
  ],
  [
    'replaces three of many',
    {
      minutes: 20,
      workers: (minute) => [...made(4)(minute), ...(minute < 10 ? replaced(2)(minute) : [])],
    },
  ],
  ['replaces two', { minutes: 12, workers: replaced(4) }],
  [
    'makes new workers long after it gave up others',
    {
      minutes: 65,
      workers: (minute) => [idle(1), ...(minute % 15 < 2 ? [loading(100 + Math.floor(minute / 15))] : [])],
    },
  ],
  ...[{ status: 'stopped' }, { status: 'idle', measured_perf: null }, { ready_ever: true }].map(
    (said): [string, Scene] => [
      `replaces workers that were ready: ${JSON.stringify(said)}`,
      {
        minutes: 14,
        workers: (minute) => replaced(2)(minute).map((one) => Object.assign(one, minute % 2 < 1 ? {} : said)),
      },
    ],
  ),
  [
    'has a worker that serves while it stops',
    { minutes: 5, workers: () => [idle(1, { status: 'stopping', cur_load: 5, cur_perf: 50 })] },
  ],
  [
    'loads slowly, and then is ready',
    { minutes: 30, workers: (minute) => [minute < 11 ? loading(1) : idle(1)] },
  ],
  [
    'has a worker for each request that is long',
    { minutes: 60, workers: (minute) => [idle(1, { reqs_working: 1, cur_perf: minute % 28 < 1 ? 50 : 0 })] },
  ],
  [
    'serves between two looks',
    {
      minutes: 60,
      workers: (minute) => [idle(1, { reqs_working: 1, cur_load: 100 + Math.floor(minute / 9) })],
    },
  ],
  [
    'does not say what it serves',
    { minutes: 20, workers: () => [idle(1, { reqs_working: 1, cur_perf: null })] },
  ],
  [
    'has machines that differ a little',
    {
      minutes: 5,
      workers: () => [idle(1), idle(2, { measured_perf: 60 }), idle(3)],
      prices: { 1: 0.2, 2: 0.2, 3: 0.3 },
      ceiling: 0.29,
    },
  ],
  [
    'has two kinds of machines',
    {
      minutes: 5,
      workers: () =>
        [400, 400, 400, 100, 45].map((perf, id) =>
          idle(id, { gpu_name: id < 3 ? 'A' : 'B', measured_perf: perf }),
        ),
    },
  ],
  [
    'deletes itself in two days',
    { minutes: 6, endpoint: (minute) => ({ auto_delete_in_seconds: 172_800 - minute * 60 }) },
  ],
  ['is kept alive by heartbeats', { minutes: 30, endpoint: () => ({ auto_delete_in_seconds: 200 }) }],
];

test.each(ORDINARY)('an endpoint that %s has none', async (_, scene) => {
  expect((await play(scene)).begun).toEqual([]);
});

test('a request that took longer than any before moves the limit', async () => {
  const served = (minute: number) => (minute < 1 || (minute >= 26 && minute < 27) ? 1 : 0);
  const scene = { workers: (minute: number) => [idle(1, { reqs_working: 1, cur_perf: served(minute) })] };
  expect((await play({ minutes: 75, ...scene })).lasting).toEqual([]);
  expect((await play({ minutes: 79, ...scene })).lasting).toEqual(['stuck_requests']);
});

test('a counter that was stuck until a reboot does not', async () => {
  const status = (minute: number) => (minute >= 60 && minute < 62 ? 'rebooting' : 'idle');
  const workers = (minute: number) => [idle(1, { reqs_working: 1, status: status(minute) })];
  expect((await play({ minutes: 93, workers })).begun).toEqual(['stuck_requests', 'stuck_requests']);
});

test('a counter that was stuck until the next request does not move the limit either', async () => {
  const workers = (minute: number) => [idle(1, { reqs_working: minute < 120 ? 1 : 2 })];
  expect((await play({ minutes: 153, workers })).begun).toEqual(['stuck_requests', 'stuck_requests']);
});

test('what was seen once does not last while it cannot be judged', async () => {
  const untold = () => stranded().map(({ id, status }) => ({ id, status }));
  const isTold = (minute: number) => minute < 0.3 || minute > 59;
  const scene: Scene = { minutes: 60, workers: (minute) => (isTold(minute) ? stranded() : untold()) };
  expect(await play(scene)).toMatchObject({ begun: [], lasting: [] });
});

test('what churned workers cost is counted, and is not known without a price', async () => {
  const prices = { 101: 6, 103: 6 };
  const { churned } = await play({ minutes: 10, workers: replaced(2), prices });
  const dollars = churned.map((event) => (event.kind === 'worker churned' ? event.dollars : null));
  expect(dollars[0]).toBeCloseTo(0.2, 1);
  expect(dollars[1]).toBeUndefined();
});

test.each([
  ['a worker serves', [idle(2), ...stranded()]],
  ['nothing is asked', [idle(1, { status: 'stopped' })]],
])('a trouble is over when for a while %s, and is not told twice meanwhile', async (_, ordinary) => {
  const gone = (minute: number) => (minute > 6 && minute < 6.5) || minute > 10;
  const workers = (minute: number) => (gone(minute) ? ordinary : stranded());
  expect(await play({ minutes: 9, workers })).toMatchObject({ begun: ['not_recruiting'], ended: [] });
  expect(await play({ minutes: 12, workers })).toMatchObject({ ended: ['not_recruiting'], lasting: [] });
});

test('a trouble is left out if it is unknown, and null if there is none', async () => {
  const endpoint = () => ({ auto_delete_in_seconds: null });
  const none = await play({ minutes: 2, workers: () => [], ceiling: 0.15, endpoint });
  expect(none.troubles).toMatchObject({ not_recruiting: null, price_above_filter: null, deletes_soon: null });
  const workers = () => [idle(1, { reqs_working: 1, cur_perf: null })];
  const { troubles } = await play({ minutes: 2, workers, ceiling: 0.15 });
  expect(Object.keys(troubles).toSorted()).toEqual(['churn', 'flapping', 'not_recruiting', 'slow_start']);
});

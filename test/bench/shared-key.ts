/**
 * A key with one request in 2 s. One program follows 1, 10 or 50 groups; 5 or 20 programs have a deployment and a group each.
 * All run side by side, each with a service of its own. Run: node test/bench/shared-key.ts [seconds]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startEmulator } from '../../src/emulator/index.ts';
import { booksOf, type Books } from './books.ts';
import { ensure, quantile, report } from './figures.ts';
import { copyProgram, secondsArgument, startFollower } from './processes.ts';

const SECONDS = secondsArgument(900);
const TTL_S = 300;
const LINES_PER_SECOND = 1;
const LOOK_MS = 100;

interface Shared extends Books {
  readonly requests: number;
  readonly refused: number;
  /** Of each line, seconds. A missing line counts with its wait until the end. */
  readonly delays: readonly number[];
  /** Lines that came. */
  readonly came: number;
  /** Groups with a line. */
  readonly heard: number;
}

using node = copyProgram(process.execPath);
const [one, ten, fifty, five, twenty] = await Promise.all([
  share(1, 1),
  share(1, 10),
  share(1, 50),
  share(5, 1),
  share(20, 1),
]);
const all = [one, ten, fifty, five, twenty];
report(
  'shared-lapses',
  all.reduce((sum, { lapses }) => sum + lapses, 0),
  `${SECONDS} s, closest approach ${Math.min(...all.map(({ closestSeconds }) => closestSeconds)).toFixed(0)} s`,
);
for (const [groups, { delays, came }] of [[1, one] as const, [10, ten] as const, [50, fifty] as const]) {
  const note = `99 of 100 within ${quantile(delays, 0.99).toFixed(1)} s; ${came} of ${delays.length} lines came`;
  report(`shared-delay-${groups}`, quantile(delays, 0.5), note);
}
for (const [programs, { requests, refused, heard }] of [
  [1, one] as const,
  [5, five] as const,
  [20, twenty] as const,
]) {
  const note = `${refused} of ${requests}; ${heard} of ${programs} groups had lines`;
  report(`shared-refused-${programs}`, (100 * refused) / requests, note);
}

async function share(programs: number, groupsEach: number): Promise<Shared> {
  const deployments = Array.from({ length: programs }, (_, index) => index + 1);
  const groups = Array.from({ length: programs * groupsEach }, (_, index) => index + 1);
  const lines = Array.from({ length: LINES_PER_SECOND * (SECONDS + 120) }, (_, index) => `line ${index}`);
  await using emulator = await startEmulator({
    dialect: 'public',
    traits: { log_shape: 'text', rate_limit: { key: { size: 1, refill_per_second: 0.5 } } },
    seed: {
      deployments: deployments.map((id) => ({ id, ttl: TTL_S })),
      workergroups: groups.map((id) => ({ id, lines_per_second: LINES_PER_SECOND, replay: { lines } })),
    },
  });
  const [appeared, seen] = [new Map<string, number>(), new Map<number, number>()];
  const delays: number[] = [];
  const heard = new Set<number | undefined>();
  function look(): void {
    for (const group of groups) {
      const shown = emulator.workergroups.lines(group);
      for (const line of shown.slice(seen.get(group))) appeared.set(`${group} ${line}`, performance.now());
      seen.set(group, shown.length);
    }
  }
  const looking = setInterval(look, LOOK_MS);
  await using running = new AsyncDisposableStack();
  for (const deployment of deployments) {
    const first = (deployment - 1) * groupsEach;
    const settings = {
      API_KEY: emulator.apiKey,
      BASE_URL: emulator.url,
      DEPLOYMENT_TTL: `${TTL_S}s`,
      DEPLOYMENTS: String(deployment),
      LOG_START: 'all',
      WORKER_GROUPS: groups.slice(first, first + groupsEach).join(','),
    };
    const program = startFollower(node, settings, (line, group) => {
      const key = `${group} ${line}`;
      // It may have come before a look saw it.
      if (!appeared.has(key)) look();
      const at = appeared.get(key);
      if (at === undefined || !appeared.delete(key)) return;
      delays.push((performance.now() - at) / 1_000);
      heard.add(group);
    });
    running.use(program);
  }
  await delay(SECONDS * 1_000);
  clearInterval(looking);
  const came = delays.length;
  for (const at of appeared.values()) delays.push((performance.now() - at) / 1_000);
  const books = emulator.deployments.list();
  ensure(
    books.every(({ beats }) => beats > 0),
    'a heartbeat of each deployment',
  );
  // The delay of lines is measured with one program.
  const isHeard = programs > 1 || (heard.size > 0.9 * groups.length && came > 0.6 * delays.length);
  ensure(
    isHeard,
    `lines of ${groups.length} groups; ${heard.size} had some, ${came} of ${delays.length} came`,
  );
  return {
    ...booksOf(books),
    requests: emulator.journal.entries().length,
    refused: emulator.journal.entries({ status: 429 }).length,
    delays,
    came,
    heard: heard.size,
  };
}

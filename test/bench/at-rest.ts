/**
 * Memory and CPU of `run`, heart and daemon, at rest: 1 deployment, 1 quiet group, 1 endpoint, scraped; and of a Node
 * that does nothing. Run: node test/bench/at-rest.ts [seconds]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { accepted, deliveredLines, deploymentBooks, scrape } from './books.ts';
import { ensure, report } from './figures.ts';
import {
  copyProgram,
  cpuPercent,
  measured,
  secondsArgument,
  spawnBareNode,
  startEmulatorProcess,
  startProgram,
  type ProgramCopy,
} from './processes.ts';
import type { Memory } from './process-tree.ts';

const SECONDS = secondsArgument(300);
const SCRAPE_MS = 15_000;
const BARE_SETTLE_MS = 3_000;

using node = copyProgram(process.execPath);
const floor = await bareMemory(node);
const seed = {
  deployments: [{ id: 42, ttl: 60 }],
  endpoint_groups: [{ id: 31, endpoint_name: 'chat' }],
  workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 0.1 }],
};
await using emulator = await startEmulatorProcess(seed, 'public');
await using program = await startProgram(node, {
  ...emulator.settings,
  DEPLOYMENTS: '42@60s',
  WORKER_GROUPS: '7',
  ENDPOINTS: 'chat',
});
const settleMs = Math.min(10_000, SECONDS * 200);
await delay(settleMs);
const cpu = await cpuPercent(program, async () => {
  for (const from = performance.now(); performance.now() - from < SECONDS * 1_000 - settleMs;) {
    await scrape(program);
    await delay(Math.min(SCRAPE_MS, SECONDS * 100));
  }
});
const { mb, anonymousMb } = program.memory();
const heart = program.heartMemory();
const { lapses } = await deploymentBooks(emulator, { seconds: SECONDS, ttlSeconds: 60 });
const looks = accepted(await scrape(program), 'endpointGroups.workers');
ensure(lapses === 0, `no lapse; there were ${lapses}`);
ensure((await deliveredLines(program)) > 0, 'lines of the group on stdout');
ensure(looks > 0, "looks at the endpoint's workers");
report('memory', mb / floor.mb, `${mb.toFixed(0)} MB against ${floor.mb.toFixed(0)} MB, after ${SECONDS} s`);
report('anonymous', anonymousMb, `bare Node ${floor.anonymousMb.toFixed(0)} MB`);
report('heart-anonymous', heart.anonymousMb);
report('idle-cpu', cpu, 'scrapes included');

/** Alone on the copy, as the program after it. */
async function bareMemory(copy: ProgramCopy): Promise<Memory> {
  await using bare = measured(spawnBareNode(copy, 'setInterval(()=>{},1e9)'));
  await delay(BARE_SETTLE_MS);
  return bare.memory();
}

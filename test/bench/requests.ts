/** What the service is asked in an hour with default settings. Run: node test/bench/requests.ts [seconds] */
import { setTimeout as delay } from 'node:timers/promises';
import { deploymentBooks } from './books.ts';
import { ensure, report } from './figures.ts';
import { copyProgram, secondsArgument, startEmulatorProcess, startProgram } from './processes.ts';

const SECONDS = secondsArgument(600);
/** Until a group counts as quiet. */
const SETTLE_MS = 60_000;

interface Journal {
  readonly entries: readonly { readonly operation?: string; readonly status?: number }[];
}

using node = copyProgram(process.execPath);
const seed = {
  deployments: [{ id: 42, ttl: 300 }],
  endpoint_groups: [{ id: 31, endpoint_name: 'chat' }],
  workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 0, history_seconds: 0 }],
};
await using emulator = await startEmulatorProcess(seed, 'public');
await using _program = await startProgram(node, {
  ...emulator.settings,
  DEPLOYMENTS: '42',
  WORKER_GROUPS: '7',
  ENDPOINTS: 'chat',
});
await delay(Math.min(SETTLE_MS, SECONDS * 200));
await fetch(`${emulator.url}/_emulator/journal`, { method: 'DELETE' });
const from = performance.now();
await delay(SECONDS * 1_000 - Math.min(SETTLE_MS, SECONDS * 200));
const { entries } = (await (await fetch(`${emulator.url}/_emulator/journal`)).json()) as Journal;
const hours = (performance.now() - from) / 3_600_000;
const counts = Map.groupBy(entries, ({ operation = 'none' }) => operation);
ensure(
  entries.every(({ status }) => status === 200),
  'no answer but 200',
);
const { lapses } = await deploymentBooks(emulator, { seconds: SECONDS, ttlSeconds: 300 });
ensure(lapses === 0, `no lapse; there were ${lapses}`);
for (const operation of ['workergroups.logs', 'endpointGroups.workers'])
  ensure(counts.has(operation), `requests of ${operation}`);
const note = [...counts].map(([operation, { length }]) => `${operation} ${(length / hours).toFixed(0)}`);
report('requests', entries.length / hours, note.join(', '));

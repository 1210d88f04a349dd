/** Daemons that share one Redis: real processes, and what they printed. */
import { expect } from 'vitest';
import type { Status } from '../../src/daemon/status/schema.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import type { LogRecord } from '../../src/logs/record.ts';
import { startDaemonProcess, type DaemonProcess } from './daemon-process.ts';
import { serviceOf, statusAt, until } from './daemon.ts';

export { gapsOf, linesOf } from './log-polls.ts';

export const GROUP = 7;
/** A service with a log that grows, and the deployment that replicas keep alive. */
export const SEED = {
  workergroups: [{ id: GROUP, lines_per_second: 20 }],
  deployments: [{ id: 42, ttl: 60 }],
};

export interface Replica {
  readonly daemon: DaemonProcess;
  records(): LogRecord[];
  status(): Promise<Status | undefined>;
}

/** @param stateDir Its own; without it what it has taken ends with it. */
export async function startReplica(
  emulator: Emulator,
  redisUrl: string,
  stateDir?: string,
): Promise<Replica> {
  const daemon = await startDaemonProcess({
    ...serviceOf(emulator),
    DEPLOYMENTS: '42@60s',
    WORKER_GROUPS: String(GROUP),
    REDIS_URL: redisUrl,
    SHUTDOWN_TIMEOUT: '5s',
    ...(stateDir !== undefined && { STATE_DIR: stateDir }),
  });
  return {
    daemon,
    // What a kill cut in half does not count: the heart's daemon may be killed and started again too.
    records: () => daemon.stdout().split('\n').flatMap(wholeRecord),
    status: () => statusAt(daemon.url),
  };
}

function wholeRecord(line: string): LogRecord[] {
  try {
    return [JSON.parse(line) as LogRecord];
  } catch {
    return [];
  }
}

/** Two of them, which end together. */
export async function startReplicas(emulator: Emulator, redisUrl: string) {
  const all = [await startReplica(emulator, redisUrl), await startReplica(emulator, redisUrl)];
  return Object.assign(all, {
    async [Symbol.asyncDispose]() {
      for (const { daemon } of all) await daemon[Symbol.asyncDispose]();
    },
  });
}

/** The replica that follows the logs; waits until there is one. */
export async function holderOf(replicas: readonly Replica[]): Promise<Replica> {
  let holder: Replica | undefined;
  await until(async () => {
    for (const replica of replicas) if ((await replica.status())?.replica.role === 'holder') holder = replica;
    return holder !== undefined;
  });
  return holder as Replica;
}

/** All output by epoch and number. One record may have come more than once, but only as itself. */
export function merged(replicas: readonly Replica[]): { records: LogRecord[]; again: number } {
  const byNumber = new Map<string, LogRecord>();
  let again = 0;
  for (const record of replicas.flatMap((replica) => replica.records())) {
    const number = `${record.epoch} ${record.seq}`;
    const known = byNumber.get(number);
    if (known) {
      again += 1;
      expect(record).toEqual(known);
    }
    byNumber.set(number, record);
  }
  return { records: [...byNumber.values()].sort((a, b) => a.epoch - b.epoch || a.seq - b.seq), again };
}

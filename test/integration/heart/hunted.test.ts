/** What hunts found at the seam of heart and daemon, each as it was met. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { connectRedis } from '../../../src/daemon/replicas/redis.ts';
import { startDaemonProcess, daemonPid } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { listening } from '../../support/listening.ts';
import { startProgram } from '../../support/process.ts';
import { PROGRAM } from '../../support/program.ts';

const seed = { deployments: [{ id: 42, ttl: 60 }] };

test.concurrent('signals that are meant for other programs end nothing, and open no debugger', async () => {
  await using emulator = await startEmulator({ seed });
  await using program = await startDaemonProcess({ ...serviceOf(emulator), DEPLOYMENTS: '42@60s' });
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) program.signalBoth(signal);
  // Those before it have been delivered by then.
  program.child.kill('SIGHUP');
  await program.seen(/configuration reloaded/);
  expect(program.stderr()).not.toMatch(/Debugger listening|the daemon ended/);
});

test.concurrent('a Redis that takes connections and never answers is a failure, and tried again', async () => {
  let connections = 0;
  await using silent = await listening(
    createServer((socket) => {
      connections += 1;
      socket.on('error', () => {});
    }),
  );
  const failures: Error[] = [];
  const redis = await connectRedis(
    `redis://127.0.0.1:${silent.port}`,
    (error) => failures.push(error),
    () => {},
  );
  await until(() => failures.length > 0 && connections > 1);
  redis.close();
});

test.skipIf(spawnSync('script', ['--version']).status !== 0)(
  'a terminal that is stopped stops neither heart nor daemon',
  { concurrent: true },
  async () => {
    await using emulator = await startEmulator({
      seed: { ...seed, workergroups: [{ id: 7, lines_per_second: 200 }] },
    });
    // script gives the program a terminal, which nobody reads once its own output is full. It ends its own child when
    // the terminal closes: a shell is between them, and says how the program ended.
    await using program = startProgram(
      'script',
      ['-qfc', `"${process.execPath}" "${PROGRAM}" run; echo "ended with $?"`, '/dev/null'],
      {
        PILOTLIGHT_API_KEY: emulator.apiKey,
        PILOTLIGHT_BASE_URL: emulator.url,
        PILOTLIGHT_DEPLOYMENTS: '42@20s',
        PILOTLIGHT_WORKER_GROUPS: '7',
        PILOTLIGHT_LISTEN: '127.0.0.1:0',
        PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
      },
    );
    // As text, for a person.
    await program.seen(/\[.*INFO.*: .*pilotlight started/);
    const heart = childOf(childOf(program.child.pid));
    try {
      program.child.stdout?.pause();
      const before = emulator.deployments.get(42).beats;
      // Longer than a daemon that does not answer is left alone.
      await delay(14_000);
      expect(emulator.deployments.get(42).beats).toBeGreaterThanOrEqual(before + 2);
      program.child.stdout?.resume();
      await delay(500);
      expect(program.stdout()).not.toContain('the daemon ended');
    } finally {
      // It would outlive the terminal, whose end is a SIGHUP: that reloads it.
      process.kill(heart, 'SIGTERM');
    }
    expect(await program.seen(/ended with (\d+)/)).toMatchObject({ 1: '0' });
  },
);

test.concurrent('signals that reach the daemon while it is being loaded are not its own', async () => {
  await using emulator = await startEmulator({ seed });
  await using program = await startDaemonProcess({ ...serviceOf(emulator), DEPLOYMENTS: '42@60s' });
  process.kill(daemonPid(program), 'SIGKILL');
  await program.seen(/the daemon ended and is restarted/);
  const born = await untilBorn(() => daemonPid(program));
  // Before that it is Node that begins, and no program can have a say.
  await until(() => catchesHangup(born));
  for (let count = 0; count < 20; count += 1) {
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.kill(born, signal);
    await delay(10);
  }
  await program.seen(/pilotlight started[\s\S]*pilotlight started/);
  expect(daemonPid(program)).toBe(born);
});

/** Whether the process has a handler of its own for SIGHUP, the first bit of the mask (man 5 proc). */
function catchesHangup(pid: number): boolean {
  const caught = /^SigCgt:\s*[\da-f]*([\da-f])$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number.parseInt(caught ?? '0', 16) & 1) === 1;
}

async function untilBorn(pid: () => number): Promise<number> {
  for (;;) {
    try {
      return pid();
    } catch {
      await delay(5);
    }
  }
}

function childOf(pid: number | undefined): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
}

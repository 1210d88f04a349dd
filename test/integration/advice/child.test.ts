/** Advice in its child process: real processes. */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { AdviceLost, computeInChild } from '../../../src/daemon/advice/compute.ts';
import { until } from '../../support/daemon.ts';
import { packedRecorded, recordedEndpoint } from '../../support/recorded-endpoint.ts';

const WISHES = { nowMs: 0, requestSize: 100 };

/** Aborted with the test, so that none of its children outlives it, and is taken for one of the next test's. */
function untilTestEnds(): AbortSignal {
  const ending = new AbortController();
  onTestFinished(async () => {
    ending.abort(new Error('the test is over'));
    await until(() => children().length === 0);
  });
  return ending.signal;
}

/** Those that this process has started and that compute advice. */
function children(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && commandOf(pid).includes('advice/child.ts') && parentOf(pid) === process.pid);
}

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

async function childBegun(): Promise<number> {
  await until(() => children().length > 0);
  return children()[0] ?? 0;
}

test('computes what this process would, in less than 128 MiB of its own', async () => {
  const ofThisProcess = Buffer.alloc(200 * 2 ** 20, 1);
  const bounds = { cold_workers: [0, 0], cold_mult: [1, 1], min_cold_load: [0, 0] } as const;
  const { report, mebibytes } = await computeInChild(
    { recorded: packedRecorded(recordedEndpoint(3)), wishes: WISHES, bounds },
    untilTestEnds(),
  );
  expect(report).toMatchObject({ endpoint: 'chat', verdict: 'change', backtest: { held: true } });
  expect(report.sentence).toMatch(
    /min_load 150 → [\d.]+.* cheaper .*as modelled.*limit 10 s; the backtest was off by \d/,
  );
  expect(mebibytes).toBeGreaterThan(20);
  expect(mebibytes).toBeLessThan(128);
  expect(ofThisProcess.length).toBeGreaterThan(mebibytes * 2 ** 20);
  // At the lowest priority it waits for everything else that runs here.
});

test('runs at the lowest priority, without the environment, and is killed when nobody wants it any more', async () => {
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, untilTestEnds()]);
  const computing = computeInChild(
    { recorded: packedRecorded(recordedEndpoint(24 * 7)), wishes: WISHES },
    signal,
  );
  const failed = expect(computing).rejects.toThrow('stopping');
  const pid = await childBegun();
  await until(() => getPriority(pid) === 19);
  expect(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim()).toBe('1000');
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('PATH=');
  stopping.abort(new Error('stopping'));
  await failed;
  await until(() => commandOf(pid) === '');
});

test('killed by anybody else, it is lost, and says how', async () => {
  const computing = computeInChild(
    { recorded: packedRecorded(recordedEndpoint(24 * 7)), wishes: WISHES },
    untilTestEnds(),
  );
  const failed = computing.catch((error: unknown) => error);
  process.kill(await childBegun(), 'SIGKILL');
  const error = await failed;
  expect(error).toBeInstanceOf(AdviceLost);
  expect(error).toMatchObject({ message: 'it ended without an answer: SIGKILL' });
});

test('one that hangs is killed when its time is up', async () => {
  const computing = computeInChild(
    { recorded: packedRecorded(recordedEndpoint(24 * 7)), wishes: WISHES },
    untilTestEnds(),
    2_000,
  );
  const failed = computing.catch((error: unknown) => error);
  const pid = await childBegun();
  process.kill(pid, 'SIGSTOP');
  expect(await failed).toMatchObject({
    code: 'advice_lost',
    message: expect.stringMatching(/no answer/) as string,
  });
  await until(() => commandOf(pid) === '');
});

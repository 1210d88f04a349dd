/** How much made-up input a test tries, from which seed, and what counts as a hang. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { isLong } from '../long.ts';

/** PROPERTY_SEED in the environment repeats a run. */
const seed = Number(process.env['PROPERTY_SEED'] ?? Date.now() % 2 ** 31);

/** Time for a test of so many cases, ms: some are of a real process. */
export const PATIENCE = isLong ? 1_800_000 : 180_000;

/** For fast-check: `few` in the gate, `many` in `npm run test:long`. */
export function casesOf(
  few: number,
  many = 10_000,
): { readonly numRuns: number; readonly seed: number; readonly endOnFailure: boolean } {
  const numRuns = isLong ? many : few;
  console.log(`bad input: ${numRuns} cases; PROPERTY_SEED=${seed} makes up the same`);
  // Shrinking asks a process that may hang again and again.
  return { numRuns, seed, endOnFailure: true };
}

/** Longest time that one input may take a processor, ms. A machine that is slow, or busy with others, does not count. */
const HANG_MS = 1_000;

/** Fails if the run takes too much processor time for so many inputs. */
export async function withoutHang<Result>(run: () => Result | Promise<Result>, inputs = 1): Promise<Result> {
  const before = process.cpuUsage();
  const result = await run();
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000, 'ms of processor time').toBeLessThan(HANG_MS * inputs);
  return result;
}

/** The same for another process, for each of `inputs`. */
export async function withoutHangOf<Result>(
  pid: number,
  run: () => Promise<Result>,
  inputs: () => number = () => 1,
): Promise<Result> {
  const [before, inputsBefore] = [processorMs(pid), inputs()];
  const result = await run();
  const most = HANG_MS * Math.max(1, inputs() - inputsBefore);
  expect(processorMs(pid) - before, 'ms of processor time until it answered').toBeLessThan(most);
  return result;
}

/** Linux counts in hundredths of a second: user and system time of proc_pid_stat(5). */
function processorMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

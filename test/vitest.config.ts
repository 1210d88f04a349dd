import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Hundreds of tests start the program from its sources: compiled once, each start takes half the processor time.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'pilotlight-test-compile-cache');

const CORES = availableParallelism();
/**
 * What computes, then what mostly waits, on sockets and other processes, and then what needs the machine for itself: in
 * real time a test is slow to no purpose beside one that takes a whole core, and may fail by it.
 */
const COMPUTES = { sequence: { groupOrder: 0 }, maxWorkers: CORES };
const WAITS = { sequence: { groupOrder: 1 }, maxWorkers: Math.min(8, Math.ceil(2.5 * CORES)) };
const ALONE = { sequence: { groupOrder: 2 }, maxWorkers: 1 };

/**
 * One project per kind of test, so that `npm test -- --project unit` runs one. What its hooks set up and take
 * down (programs, engines, whole clones) can take as long as its tests.
 */
function project(name: string, timeout: number, order: typeof COMPUTES) {
  const include = [`test/${name}/**/*.test.ts`];
  const timeouts = { testTimeout: timeout, hookTimeout: timeout };
  return { extends: true as const, test: { name, include, ...timeouts, ...order } };
}

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    reporters: ['default'],
    maxConcurrency: 16,
    projects: [
      project('unit', 60_000, COMPUTES),
      project('simulation', 120_000, COMPUTES),
      project('integration', 60_000, WAITS),
      project('browser', 60_000, WAITS),
      project('container', 300_000, WAITS),
      project('e2e', 120_000, WAITS),
      project('alone', 180_000, ALONE),
    ],
  },
});

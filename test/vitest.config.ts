import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * One project per kind of test, so that `npm test -- --project unit` runs one. What its hooks set up and take
 * down (programs, engines, whole clones) can take as long as its tests. They end what hangs, and leave a slow
 * or busy machine several times of what each needs by itself.
 */
function project(name: string, timeout: number, order = {}) {
  const include = [`test/${name}/**/*.test.ts`];
  const timeouts = { testTimeout: timeout, hookTimeout: timeout };
  return { extends: true as const, test: { name, include, ...timeouts, ...order } };
}

/** They wait in real time for longest, so they begin first and the others run beside them. Vitest knows sizes alone. */
const LONGEST = [
  'alone/outages',
  'file-limit',
  'one-key-processes',
  'daemon-trouble',
  'sockets/storm',
  'sockets/addresses',
  'fleet-troubles',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(`${name}.test.ts`));
      return index === -1 ? LONGEST.length : index;
    };
    // Sorting is stable: all others stay in the usual order.
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}

/** For suites that start the program. */
const started = { globalSetup: ['test/support/built-program.ts'] };

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    reporters: ['default'],
    // Node loads sources and tests itself, as it does in the program: nothing here needs what Vite's loader is for.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Much of the time goes in waiting on sockets, so more run at once than two cores. With eight, two slow cores were
    // busy all the time, and tests in real time waited for one another.
    maxWorkers: 6,
    maxConcurrency: 16,
    sequence: { sequencer: LongestFirst },
    // It ends as soon as it holds; only a slow machine needs all of it.
    expect: { poll: { timeout: 120_000 } },
    projects: [
      // A process for each file would cost a fifth more, and these leave nothing behind that others could notice.
      project('unit', 180_000, { isolate: false }),
      project('simulation', 360_000, { isolate: false }),
      // They too; what counts files, children or memory has processes of its own.
      project('integration', 300_000, { ...started, isolate: false }),
      project('browser', 180_000, started),
      project('container', 600_000),
      project('e2e', 600_000, started),
      // In real time, and with the machine to themselves: when all others have ended. Together they take less than a core.
      project('alone', 180_000, { ...started, sequence: { groupOrder: 1 }, maxWorkers: 4 }),
    ],
  },
});

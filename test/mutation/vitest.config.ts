import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** What mutants meet: tests that run the code in their own process. run.ts names the folders. */
const { MUTATION_TESTS = 'test/unit', MUTATION_TEXTS = '', MUTATION_TOGETHER, MUTATION_LOOK } = process.env;
const root = fileURLToPath(new URL('../..', import.meta.url));
const texts = JSON.parse(readFileSync(MUTATION_TEXTS, 'utf8')) as Record<string, string>;

export default defineConfig({
  root,
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      load: (id) => texts[relative(root, id.split('?')[0] ?? id)],
    },
  ],
  test: {
    include: MUTATION_TESTS.split(',').map((folder) =>
      folder.endsWith('.ts') ? folder : `${folder}/**/*.test.ts`,
    ),
    runner: fileURLToPath(new URL('runner.ts', import.meta.url)),
    // Another run has other mutants in the same files.
    fsModuleCache: false,
    pool: 'forks',
    isolate: MUTATION_TOGETHER !== 'true',
    maxWorkers: 1,
    maxConcurrency: 1,
    // With a count of all that it reaches, and on a busy machine, a test may take long. A mutant is to end soon.
    testTimeout: MUTATION_LOOK === 'true' ? 120_000 : 10_000,
    hookTimeout: 120_000,
    // Long enough for a busy machine, and short for what never comes because of a mutant.
    expect: { poll: { timeout: 3_000 } },
    reporters: ['dot'],
    silent: true,
  },
});

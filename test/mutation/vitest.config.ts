import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** What mutants meet: tests that run the code in their own process. run.ts names the folders. */
const { MUTATION_TESTS = 'test/unit' } = process.env;

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: MUTATION_TESTS.split(',').map((folder) => `${folder}/**/*.test.ts`),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

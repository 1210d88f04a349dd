/**
 * Lint rules, and the import layers of the house: each folder of src/ names the folders and packages it
 * may import, and everything else is refused. test/unit/layers.test.ts seeds a violation to prove that
 * this still bites.
 */
import { defineConfig, type OxlintOverride } from 'oxlint';

/** Folder of src/ → the folders of src/ it may import; a folder in it may have a row of its own. `daemon` and `cli` sit on top. */
const LAYERS: Record<string, readonly string[]> = {
  contract: [],
  wire: ['contract'],
  client: ['contract', 'wire'],
  openapi: ['contract', 'wire'],
  emulator: ['contract', 'wire', 'scaling', 'openapi'],
  scaling: ['contract'],
  heartbeat: ['contract', 'client'],
  // The heart as a process is configured; what it is made of is not.
  'heartbeat/process': ['contract', 'client', 'config', 'heartbeat'],
  logs: ['contract', 'wire', 'client'],
  watch: ['contract', 'client'],
  config: ['contract', 'client', 'scaling', 'heartbeat', 'watch'],
  daemon: ['contract', 'wire', 'client', 'config', 'scaling', 'heartbeat', 'logs', 'watch'],
};

/** Folders that do no input or output: not even Node's own modules. */
const PURE = new Set(['contract', 'wire', 'scaling', 'openapi']);
const PACKAGES = [
  'undici',
  'fastify',
  'pino',
  'prom-client',
  'node-cron',
  'commander',
  'otpauth',
  '@redis/client',
  '@opentelemetry/**',
];

/** Packages that a folder may import besides Node's own modules. */
const ALLOWED_PACKAGES: Record<string, readonly string[]> = {
  client: ['undici', 'otpauth'],
  emulator: ['fastify', 'otpauth'],
  heartbeat: [],
  logs: ['undici', '@opentelemetry/**'], // the OTLP sink, which is loaded when it is configured
  watch: ['node-cron'],
  daemon: ['pino', 'prom-client', '@redis/client'],
};

const folders = [...Object.keys(LAYERS).filter((folder) => !folder.includes('/')), 'cli'];

function layerOverride(folder: string): OxlintOverride {
  const allowed = LAYERS[folder] ?? [];
  const forbiddenFolders = folders.filter((other) => other !== folder && !allowed.includes(other));
  const forbiddenPackages = PACKAGES.filter((name) => !ALLOWED_PACKAGES[folder]?.includes(name));
  return {
    files: [`**/src/${folder}/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: forbiddenFolders.flatMap((name) => [
                `../${name}/**`,
                `../../${name}/**`,
                `../../../${name}/**`,
                `../../../../${name}/**`,
              ]),
              message: `src/${folder} may import only: ${allowed.join(', ') || 'nothing beside itself'}. See .config/oxlint.config.ts.`,
            },
            {
              group: [...forbiddenPackages, ...(PURE.has(folder) ? ['node:*'] : [])],
              message: `src/${folder} may not import this package. See .config/oxlint.config.ts.`,
            },
          ],
        },
      ],
    },
  };
}

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'promise', 'node'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  env: { node: true, es2024: true },
  rules: {
    'no-console': 'error',
    eqeqeq: 'error',
    'no-param-reassign': 'off',
    'no-await-in-loop': 'off', // retry, drain and simulation loops are sequential on purpose
    'typescript/consistent-return': 'off', // the compiler's noImplicitReturns knows exhaustive switches, this does not
    'consistent-return': 'off',
    'no-underscore-dangle': 'off', // the emulator's admin path is /_emulator
    'no-shadow': 'error',
    'import/no-unassigned-import': 'off',
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/consistent-type-imports': 'error',
    'typescript/no-unsafe-type-assertion': 'off', // every `as` is reviewed; a guard at each would hide the code
    'typescript/prefer-readonly': 'error',
    'unicorn/consistent-function-scoping': 'off', // a closure next to what it serves reads better
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/require-post-message-target-origin': 'off', // threads have none, and nothing here talks to a window
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'unicorn/prefer-node-protocol': 'error',
  },
  overrides: [
    ...Object.keys(LAYERS).map(layerOverride),
    { files: ['**/src/cli/**/*.ts', '*.ts', '**/test/**'], rules: { 'no-console': 'off' } },
    {
      files: ['**/status/page/*.js', '**/cli/logs/format.ts'],
      rules: { 'no-control-regex': 'off' }, // they take control characters out of log lines
    },
    { files: ['*.config.ts', '**/vitest.config.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
});

/** For the table of src/README.md. */
export { ALLOWED_PACKAGES, LAYERS, PURE };

/**
 * Lint rules, and the import layers of the house: each folder of src/, and each room in one, names what it may
 * import, and everything else is refused, type imports included. test/unit/layers.test.ts seeds violations to
 * prove that this still bites.
 */
import { defineConfig, type OxlintOverride } from 'oxlint';

/**
 * A folder of src/, or a room in one → what it may import beside itself and the files that lie directly in its own
 * folder. A folder stands for all of it, `heartbeat/*` for the files directly in it, `.` for those directly in src/.
 * The command line is not listed: it may import anything, and nothing imports it.
 */
const LAYERS: Record<string, readonly string[]> = {
  '.': ['client', 'contract', 'scaling'],
  contract: ['contract/operations', 'contract/text'],
  'contract/operations': ['contract/text'],
  'contract/text': [],
  wire: ['contract'],
  client: ['contract', 'wire'],
  openapi: ['contract', 'wire'],
  scaling: ['contract', 'scaling'],
  'scaling/rules': ['contract'],
  'scaling/planner': ['contract', 'scaling/rules'],
  // Threads, which are no arithmetic: the one room of it that is not pure.
  'scaling/parallel': ['scaling/planner'],

  emulator: ['contract', 'wire', 'openapi', 'emulator', 'scaling/planner'],
  'emulator/state': ['contract'],
  'emulator/tfa': ['contract', 'emulator/state'],
  // One model, used twice: what the planner runs through in no time, the emulator runs on its clock.
  'emulator/fleet': ['contract', 'scaling', 'scaling/planner', 'emulator/state'],
  'emulator/handlers': ['contract', 'scaling', 'emulator/fleet', 'emulator/state', 'emulator/tfa'],
  'emulator/seed': [
    'contract',
    'wire',
    'emulator/fleet',
    'emulator/handlers',
    'emulator/state',
    'emulator/tfa',
  ],
  'emulator/admin': [
    'contract',
    'wire',
    'emulator/fleet',
    'emulator/handlers',
    'emulator/seed',
    'emulator/state',
    'emulator/tfa',
  ],

  // The heart as a process is configured; what it is made of is not.
  heartbeat: [
    'contract',
    'client',
    'heartbeat/discovery',
    'heartbeat/driver',
    'heartbeat/engine',
    'heartbeat/view',
  ],
  'heartbeat/engine': [],
  'heartbeat/view': ['heartbeat/engine'],
  'heartbeat/driver': ['contract', 'client', 'heartbeat/engine', 'heartbeat/view'],
  'heartbeat/discovery': ['contract', 'client', 'heartbeat/driver', 'heartbeat/engine', 'heartbeat/view'],
  'heartbeat/process': ['contract', 'client', 'config', 'time', 'heartbeat'],

  time: ['contract'],
  storage: ['contract', 'time'],

  logs: ['contract'],
  'logs/lookup': ['contract', 'time'],
  'logs/follower': ['contract', 'time'],
  'logs/spool': ['contract', 'storage', 'time', 'logs/follower'],
  'logs/sinks': ['contract', 'wire', 'client', 'storage', 'time', 'logs/spool'],
  'logs/follow': ['contract', 'client', 'time', 'logs/sinks', 'logs/spool', 'logs/follower'],

  spend: ['contract', 'time', 'spend'],
  fleet: ['contract', 'scaling/rules', 'spend', 'storage', 'time', 'fleet'],
  'fleet/workers': ['contract', 'fleet/*'],
  'fleet/discovery': ['contract', 'scaling/rules', 'fleet/*'],
  'fleet/history': ['contract', 'spend', 'storage', 'time', 'fleet/*', 'fleet/discovery', 'fleet/workers'],

  watch: ['contract', 'client'],
  doctor: ['contract', 'client', 'logs/*', 'logs/follower'],
  config: ['contract', 'client', 'scaling/rules', 'heartbeat/discovery', 'heartbeat/engine', 'watch'],
  // What the heart is made of is the heart's own: the daemon knows what it reports.
  daemon: [
    'contract',
    'wire',
    'client',
    'config',
    'doctor',
    'scaling/rules',
    'heartbeat/*',
    'heartbeat/process',
    'heartbeat/view',
    'fleet',
    'logs',
    'spend',
    'storage',
    'time',
    'watch',
  ],
};

/** Folders and rooms that do no input or output: not even Node's own modules. */
const PURE = new Set([
  'contract',
  'contract/operations',
  'contract/text',
  'wire',
  'openapi',
  'scaling',
  'scaling/rules',
  'scaling/planner',
  'emulator/state',
  'emulator/tfa',
  'heartbeat/engine',
  'heartbeat/view',
  'heartbeat/driver',
  'heartbeat/discovery',
  'logs/lookup',
  'logs/follower',
  'spend',
  'fleet/workers',
  'fleet/discovery',
  'doctor',
]);
/** What a pure one may use all the same: hashing is arithmetic, and the words for an error are a table. */
const PURE_MODULES: Record<string, readonly string[]> = {
  'emulator/state': ['node:crypto'],
  'heartbeat/driver': ['node:util'],
};

const PACKAGES = [
  'undici',
  'fastify',
  '@fastify/**',
  'pino',
  'prom-client',
  'node-cron',
  'commander',
  'otpauth',
  '@redis/client',
  '@opentelemetry/**',
];

/** Packages that a folder or room may import besides Node's own modules. */
const ALLOWED_PACKAGES: Record<string, readonly string[]> = {
  client: ['undici', 'otpauth'],
  emulator: ['fastify', '@fastify/**'],
  'emulator/tfa': ['otpauth'],
  'logs/sinks': ['undici', '@opentelemetry/**'], // the OTLP sink, which is loaded when it is configured
  watch: ['node-cron'],
  daemon: ['pino', 'prom-client', '@redis/client'],
};

const folders = [...new Set([...Object.keys(LAYERS).map(topOf), 'cli'])].filter((folder) => folder !== '.');

function topOf(layer: string): string {
  return layer.split('/')[0] ?? layer;
}

function roomsOf(folder: string): string[] {
  return Object.keys(LAYERS).filter((layer) => layer.startsWith(`${folder}/`));
}

/** What of a folder a layer may not import, as globs that begin where the folder stands, or at the rooms of its own. */
function closedTo(layer: string, folder: string): string[] {
  const allowed = new Set(LAYERS[layer]);
  if (allowed.has(folder)) return [];
  const rooms = roomsOf(folder).filter((room) => room !== layer && !allowed.has(room));
  if (folder === topOf(layer)) return rooms.map((room) => `${room.slice(folder.length + 1)}/**`);
  const isOpen = [...allowed].some((place) => topOf(place) === folder);
  if (!isOpen) return [`${folder}/**`];
  const closed = rooms.map((room) => `${room}/**`);
  return allowed.has(`${folder}/*`) ? closed : closed.concat(`${folder}/*.ts`);
}

/**
 * Specifiers of the imports that a layer refuses, from whatever depth of it they start. A room may have the name of a
 * folder of src/ (emulator/fleet, fleet): that folder is at least as many steps up as the layer is deep.
 */
function forbiddenImports(layer: string): string[] {
  const heights = ['./', '../', '../../', '../../../', '../../../../'];
  const depth = layer === '.' ? 0 : layer.split('/').length;
  return folders.flatMap((folder) => {
    const from = folder === topOf(layer) ? heights : heights.slice(depth);
    return closedTo(layer, folder).flatMap((place) => from.map((up) => up + place));
  });
}

/** What the heart's process runs after its first heartbeat. */
const HEARTS = /^(?:heartbeat|client)(?:\/|$)/;
/** A file system that hangs would hold up all heartbeats. */
const NO_SYNC = {
  name: 'node:fs',
  importNames: ['accessSync', 'existsSync', 'lstatSync', 'openSync', 'readFileSync', 'readSync', 'statSync'],
  message: 'The heart must not wait for a file: see client/slow-file.ts.',
};

function layerOverride(layer: string): OxlintOverride {
  const places = LAYERS[layer]?.join(', ') || 'nothing beside itself';
  const packages = PACKAGES.filter((name) => !ALLOWED_PACKAGES[layer]?.includes(name));
  const modules = PURE_MODULES[layer]?.map((name) => `!${name}`) ?? [];
  return {
    files: [layer === '.' ? '**/src/*.ts' : `**/src/${layer}/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          ...(HEARTS.test(layer) && { paths: [NO_SYNC] }),
          patterns: [
            {
              group: forbiddenImports(layer),
              message: `src/${layer} may import only: ${places}. See .config/oxlint.config.ts.`,
            },
            {
              group: [...packages, ...(PURE.has(layer) ? ['node:*', ...modules] : [])],
              message: `src/${layer} may not import this package. See .config/oxlint.config.ts.`,
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
    complexity: ['error', { max: 20 }],
    'max-params': ['error', { max: 4 }],
    'max-depth': ['error', { max: 4 }],
    eqeqeq: 'error',
    'no-param-reassign': 'off',
    'no-await-in-loop': 'off', // retry, drain and simulation loops are sequential on purpose
    'typescript/consistent-return': 'off', // the compiler's noImplicitReturns knows exhaustive switches, this does not
    'consistent-return': 'off',
    'no-underscore-dangle': 'off', // the emulator's admin path is /_emulator
    'no-shadow': 'error',
    'import/no-unassigned-import': 'off',
    'import/no-cycle': ['error', { ignoreTypes: false }], // two types that need each other are one idea
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
    { files: ['**/test/**'], rules: { complexity: 'off', 'max-params': 'off', 'max-depth': 'off' } },
    { files: ['**/src/cli/**/*.ts', '*.ts', '**/test/**'], rules: { 'no-console': 'off' } },
    {
      files: ['**/status/page/*.js', '**/cli/text.ts'],
      rules: { 'no-control-regex': 'off' }, // they take control characters out of what is shown
    },
    {
      files: ['*.config.ts', '**/vitest.config.ts', '**/mutation/runner.ts'], // what vitest loads by its path
      rules: { 'import/no-default-export': 'off' },
    },
  ],
});

/** For the table of src/README.md. */
export { ALLOWED_PACKAGES, LAYERS, PURE };

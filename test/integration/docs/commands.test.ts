/** Every command in a block of a document is run here, but those that ELSEWHERE says are not for this machine or minute. */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { commandsOf, DOCUMENTS, sessionsOf, textOf } from '../../docs/documents.ts';
import { describeWith, hasCommand, root } from '../../support/optional.ts';
import { programFolder } from '../../support/program-folder.ts';

/** Beginnings of commands that are not run here, and why. */
const ELSEWHERE: readonly (readonly [begins: string, why: string])[] = [
  ['npm run demo', 'test/e2e/fresh-clone.test.ts'],
  ['npm test', 'it is this'],
  ['npx vitest', 'it is this'],
  ['npm run test:', 'takes minutes, and the machine to itself'],
  ['npm run bench', 'takes minutes, and the machine to itself'],
  ['npm run check', '.ci/run'],
  ['npm start', 'runs until it is stopped: test/integration/daemon/process.test.ts'],
  ['export ', 'for npm start'],
  ['pilotlight emulator', 'runs until it is stopped: test/integration/cli/process.test.ts'],
  ['docker build', 'test/container/image.test.ts'],
  ['docker run', 'test/container/image.test.ts'],
  ['docker exec', 'test/container/image.test.ts'],
  ['cd deploy/compose && docker compose up', 'test/container/compose.test.ts'],
  ['kubectl create', 'needs a cluster'],
  ['helm install', 'needs a cluster; helm template makes the same: test/unit/deploy/helm.test.ts'],
  ['gh attestation', 'needs a release'],
  ['docker buildx imagetools', 'needs a release'],
  ['npm audit signatures', 'needs a release'],
  ['pilotlight doctor', 'needs a service: test/integration/doctor/doctor.test.ts'],
  ['pilotlight api-key create', 'test/integration/cli/every-operation.test.ts'],
  ['pilotlight offer search', 'needs a service: test/integration/cli/operations.test.ts'],
  ['pilotlight endpoint-group list', 'needs a service: test/integration/cli/process.test.ts'],
];

function run(command: string, env: Record<string, string>, cwd?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], {
      ...(cwd !== undefined && { cwd }),
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.once('error', reject);
    child.once('close', () => resolve(output.trimEnd()));
  });
}

/** Where the documents have the emulator. */
const ADDRESS = 'http://127.0.0.1:8080';

/** The answer as a pattern: `…` stands for anything. */
function pattern(answer: string): RegExp {
  return new RegExp(
    `^${answer
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
    's',
  );
}

const WITH_SESSIONS = DOCUMENTS.filter((document) => sessionsOf(textOf(document)).length > 0);

describeWith(
  'curl',
  hasCommand('curl', '--version'),
  'apt-get install curl',
)('sessions with the emulator', () => {
  test.each(WITH_SESSIONS)('those of %s run as printed, by curl and by pilotlight', async (document) => {
    await using emulator = await startEmulator();
    using folder = programFolder();
    const env = {
      PATH: `${folder.path}:${process.env['PATH']}`,
      PILOTLIGHT_BASE_URL: emulator.url,
      PILOTLIGHT_API_KEY: emulator.apiKey,
    };
    for (const { command, answer } of sessionsOf(textOf(document))) {
      const output = await run(command.replaceAll(ADDRESS, emulator.url), env);
      expect(output.replaceAll(emulator.url, ADDRESS), command).toMatch(pattern(answer));
    }
  });

  test('are those of the emulator and of the command line', () => {
    expect(WITH_SESSIONS).toEqual(['src/cli/README.md', 'src/emulator/README.md']);
  });
});

test('each command that is not run here is in some document', () => {
  const all = DOCUMENTS.flatMap((document) => commandsOf(textOf(document)));
  expect(ELSEWHERE.filter(([begins]) => !all.some((command) => command.startsWith(begins)))).toEqual([]);
});

const HERE = DOCUMENTS.flatMap((document) =>
  commandsOf(textOf(document))
    .filter((command) => !ELSEWHERE.some(([begins]) => command.startsWith(begins)))
    .map((command) => ({ document, command })),
);

test.each(HERE)('$document: $command', async ({ command }) => {
  using folder = programFolder();
  const files = {
    'groups.json': JSON.stringify([{ endpoint_name: 'chat', target_util: 0.8, min_load: 100 }]),
    'today.json': JSON.stringify({ target_util: 0.9 }),
    'tomorrow.json': JSON.stringify({ target_util: 0.8 }),
    'requests.csv': traceOf(500),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  const env = { PATH: `${folder.path}:${process.env['PATH']}` };
  const cwd = command.startsWith('pilotlight ') ? folder.path : root;
  expect(await run(`${command}; echo "exit $?"`, env, cwd)).toMatch(/exit 0$/);
  if (command.includes('plan.html')) expect(existsSync(join(folder.path, 'plan.html'))).toBe(true);
});

test('the documents have commands to run here', () => {
  expect(HERE.length).toBeGreaterThan(5);
});

/** A trace with the columns of the one that the documents plan for, ten requests a second. */
function traceOf(requests: number): string {
  const rows = Array.from({ length: requests }, (_, index) => {
    const at = new Date(Date.UTC(2023, 10, 16) + index * 100)
      .toISOString()
      .replace('T', ' ')
      .replace('Z', '');
    return `${at},${100 + (index % 700)},${20 + (index % 90)}`;
  });
  return `TIMESTAMP,ContextTokens,GeneratedTokens\n${rows.join('\n')}\n`;
}

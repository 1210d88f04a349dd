/** Readers that leave before a command has said all, as `head` does: real pipes, real processes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processConsole } from '../../../src/cli/console.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { serviceOf } from '../../support/daemon.ts';
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { isLong } from '../../support/long.ts';
import { startPilotlight, startProgram } from '../../support/process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { PROGRAM } from '../../support/program.ts';

let emulator: Emulator;
/** For the commands that ask one, in `npm run test:long`. */
let daemon: DaemonProcess | undefined;
let folder: ReturnType<typeof temporaryFolder>;
/** What each command gets in its environment: the service, and the words that differ from run to run. */
let environment: Record<string, string>;

beforeAll(async () => {
  emulator = await startEmulator({
    seed: { workergroups: [{ id: 7, lines_per_second: 0, retained_lines: 10_000 }] },
  });
  // Far more than a pipe holds.
  const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index} ${'x'.repeat(40)}`);
  emulator.workergroups.append(7, lines);
  const service = { PILOTLIGHT_API_KEY: emulator.apiKey, PILOTLIGHT_BASE_URL: emulator.url };
  if (isLong) daemon = await startDaemonProcess({ ...serviceOf(emulator), DEPLOYMENTS: '42@20s' });
  folder = temporaryFolder();
  const groups = join(folder.path, 'groups.json');
  const many = Array.from({ length: 2_000 }, (_, n) => ({ endpoint_name: `group-${n}`, target_util: 90 }));
  writeFileSync(groups, JSON.stringify(many));
  environment = { ...service, DAEMON: daemon?.url ?? '', EMULATOR: emulator.url, GROUPS_FILE: groups };
});
afterAll(async () => {
  folder[Symbol.dispose]();
  await daemon?.[Symbol.asyncDispose]();
  await emulator.close();
});

interface Piped {
  readonly code: number;
  readonly said: string;
}

/** Exit code of the program in `script`, where it is `$PILOTLIGHT`, and what was printed outside of the pipe. */
async function runScript(script: string): Promise<Piped> {
  const pilotlight = `'${process.execPath}' '${PROGRAM}'`;
  const words = ['-c', script.replaceAll('pilotlight', () => pilotlight)];
  await using program = startProgram('sh', words, environment, folder.path);
  return { code: await program.exit, said: program.stdout() + program.stderr() };
}

/** The reader takes a line and leaves. */
function intoHead(words: string): Promise<Piped> {
  return runScript(
    `code=$( { { pilotlight ${words}; echo $? >&4; } | head -n 1 >/dev/null; } 4>&1 ); exit "$code"`,
  );
}

/** The reader has left before the first word: it opens a pipe, and is waited for. */
function intoNothing(words: string, streams: string): Promise<Piped> {
  const pipe = `pipe-${crypto.randomUUID()}`;
  return runScript(`mkfifo ${pipe}; : <${pipe} & exec 3>${pipe}; wait; pilotlight ${words} ${streams}`);
}

const PLAN = 'plan --load poisson --rate 50 --duration 1m --performance 10';

/** Commands that print results and end, with their exit codes. */
const RESULTS: readonly (readonly [words: string, code: number])[] = [
  ['logs 7', 0],
  ['logs 7 --json', 0],
  ['logs 7 -f', 0],
  [PLAN, 0],
  [`${PLAN} --json`, 0],
  [`${PLAN} --param max_workers=1 --search --p99 1s`, 1],
  ['ops', 0],
  ['openapi', 0],
  ['check "$GROUPS_FILE" --json', 2],
  ['status --url "$DAEMON"', 0],
  ['fleet --url "$DAEMON" --once', 0],
  ['fleet --url "$DAEMON" --once --json', 0],
  ['completion bash', 0],
  ["__complete -- template ''", 0],
  ['template search', 0],
  ['call templates.search', 0],
  ['template create --name n --image i --dry-run', 0],
  ['--help', 0],
];

/** Those of them that print more than a pipe holds, or go on printing: what else there is fits before a reader leaves. */
const LONG = new Set(['logs 7', 'logs 7 -f', 'openapi', 'check "$GROUPS_FILE" --json']);

/** In `npm test` every seventh of those that all print through the same few lines of code. */
function some(commands: readonly (readonly [words: string, code: number])[]) {
  return commands.filter(([words], index) => isLong || LONG.has(words) || index % 7 === 0);
}

describe('a reader of the results that leaves', () => {
  test.each(some(RESULTS))('pilotlight %s: early or late, no stack, exit code %i', async (words, code) => {
    // In `npm test` early or late: those that print little have left by then.
    const isLate = LONG.has(words);
    const runs = await Promise.all([
      ...(isLate ? [intoHead(words)] : []),
      ...(isLong || !isLate ? [intoNothing(words, '>&3')] : []),
    ]);
    for (const run of runs) expect(run.said).not.toMatch(/\bat .*:\d+|EPIPE/);
    expect(runs.map((run) => run.code)).toEqual(runs.map(() => code));
  });

  test('the demo ends in order, and its daemon with it', async () => {
    expect(await intoHead('demo')).toEqual({ code: 0, said: '' });
  });

  test('the emulator serves on, for it has said where it is, and ends as it is told to', async () => {
    await using serving = startPilotlight(['emulator']);
    const [, url = ''] = await serving.seen(/listening on (\S+)/);
    serving.child.stdout?.destroy();
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    serving.child.kill('SIGTERM');
    expect([await serving.exit, serving.stderr()]).toEqual([0, '']);
  });

  test('the emulator that cannot say where it is ends', async () => {
    expect(await intoNothing('emulator', '>&3')).toEqual({ code: 0, said: '' });
  });
});

/** Commands with something to complain about: each way of doing so, and each command that prints no results above. */
const MESSAGES: readonly (readonly [words: string, code: number])[] = [
  ['logs 99 -f', 1],
  ['plan', 2],
  [`${PLAN} --search`, 0],
  ['check "$GROUPS_FILE"', 2],
  ['status --url http://127.0.0.1:1', 3],
  ['fleet --url http://127.0.0.1:1', 3],
  ['healthcheck --url "$EMULATOR"', 3],
  ['admin log-level loud', 2],
  ['user current --timeout 1ms --wrong', 2],
  ['emulator --seed /no/such/file', 2],
  ['demo --for never', 2],
  ['login --wrong', 2],
  ['bill nope', 1],
  ['logout --wrong', 2],
  ['doctor --wrong', 2],
  ['no-such-command', 2],
];

describe('a reader of the messages that leaves', () => {
  test.each(some(MESSAGES))('pilotlight %s: the exit code is %i all the same', async (words, code) => {
    expect(await intoNothing(words, '>&3 2>&3')).toEqual({ code, said: '' });
  });

  test('a daemon whose configuration is wrong ends with 2', async () => {
    const script = 'unset PILOTLIGHT_API_KEY; mkfifo p; : <p & exec 3>p; wait; pilotlight run >&3 2>&3';
    expect(await runScript(script)).toEqual({ code: 2, said: '' });
  });
});

test('every command is among them', async () => {
  const { commands } = await createProgram(processConsole(), ['run']);
  const names = commands.map((command) => command.name());
  const tried = new Set([...RESULTS, ...MESSAGES].map(([words]) => words.split(' ')[0]));
  expect(names.filter((name) => !tried.has(name))).toEqual(['run']);
});

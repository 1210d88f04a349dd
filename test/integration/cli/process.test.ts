/** The program as a process: what only a real terminal, signal or pipe shows. */
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { totpCode } from '../../../src/client/flows/tfa.ts';
import { DEFAULT_TOTP_SECRET, startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { describeWith, hasCommand } from '../../support/optional.ts';
import { startPilotlight, startProgram } from '../../support/process.ts';
import { PROGRAM } from '../../support/program.ts';

function connectionOf(emulator: Emulator): Record<string, string> {
  return { PILOTLIGHT_API_KEY: emulator.apiKey, PILOTLIGHT_BASE_URL: emulator.url };
}

test('Ctrl-C ends a request that hangs, with 130', async () => {
  await using emulator = await startEmulator();
  await emulator.faults.add({ kind: 'hang' });
  await using program = startPilotlight(['user', 'current'], connectionOf(emulator));
  await emulator.journal.waitFor({ operation: 'users.current' }, { arrived: true });
  program.child.kill('SIGINT');
  expect([await program.exit, program.stdout()]).toEqual([130, '']);
});

test('an answer goes to stdout alone, and a complaint to stderr alone', async () => {
  await using emulator = await startEmulator();
  await using good = startPilotlight(['template', 'search', '--json'], connectionOf(emulator));
  expect([await good.exit, good.stderr()]).toEqual([0, '']);
  expect(JSON.parse(good.stdout())).toHaveProperty('templates');
  await using bad = startPilotlight(['template', 'search', '--wrong'], connectionOf(emulator));
  expect([await bad.exit, bad.stdout()]).toEqual([2, '']);
});

test('a list of the service goes into the check, however long it takes to come', async () => {
  await using emulator = await startEmulator({ dialect: 'public' });
  const pilotlight = `'${process.execPath}' '${PROGRAM}'`;
  const command = `{ ${pilotlight} endpoint-group list --json; sleep 0.2; } | ${pilotlight} check - --strict`;
  await using program = startProgram('sh', ['-c', command], connectionOf(emulator));
  expect([await program.exit, program.stdout()]).toEqual([0, 'configuration valid, 0 warnings\n']);
});

describeWith(
  'script',
  hasCommand('script', '--version'),
  'apt-get install bsdutils',
)('at a terminal', () => {
  /** Types `answer` at the question for a code. The exit code, and all that the terminal showed. */
  async function answered(words: string, emulator: Emulator, answer: string) {
    const child = spawn('script', ['-qec', `'${process.execPath}' '${PROGRAM}' ${words}`, '/dev/null'], {
      env: { ...process.env, ...connectionOf(emulator) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let screen = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const isAsked = !screen.includes('6-digit code') && (screen + chunk).includes('6-digit code');
      screen += chunk;
      if (isAsked) child.stdin.write(answer);
    });
    return [await new Promise((resolve) => child.once('close', resolve)), screen];
  }

  test('a code is asked for and not shown', async () => {
    await using emulator = await startEmulator();
    const code = totpCode(DEFAULT_TOTP_SECRET, emulator.clock.now());
    const [exit, screen] = await answered('tfa regenerate-backup-codes', emulator, `${code}\r`);
    expect([exit, screen]).toEqual([0, expect.stringContaining('from your authenticator')]);
    expect(screen).not.toContain(code);
    expect(screen).toMatch(/backup_codes:\s+([0-9A-Za-z]{4}-){2}/);
  });

  test('Ctrl-C at the question ends with 130', async () => {
    await using emulator = await startEmulator();
    const [exit] = await answered('tfa login', emulator, '\u0003');
    expect([exit, emulator.journal.count({ operation: 'tfa.login' })]).toEqual([130, 0]);
  });
});

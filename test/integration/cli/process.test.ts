/** The program as a process: what only a real terminal, signal or pipe shows. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { totpCode } from '../../../src/client/flows/tfa.ts';
import { DEFAULT_TOTP_SECRET, startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { until } from '../../support/daemon.ts';
import { isLong } from '../../support/long.ts';
import { describeWith, hasCommand } from '../../support/optional.ts';
import { startPilotlight, startProgram } from '../../support/process.ts';
import { PROGRAM } from '../../support/program.ts';
import { describeOnSmallDisk, smallDisk } from '../../support/small-disk.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

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

test("Node's report of a command has no key in it", async () => {
  using folder = temporaryFolder();
  await using emulator = await startEmulator();
  const env = { ...connectionOf(emulator), NODE_OPTIONS: '--report-on-signal --report-signal=SIGUSR2' };
  const words = [PROGRAM, 'logs', '7', '-f'];
  await using program = startProgram(process.execPath, words, env, folder.path);
  await until(() => program.stdout() !== '');
  program.child.kill('SIGUSR2');
  const report = (): string =>
    readdirSync(folder.path)
      .map((name) => readFileSync(join(folder.path, name), 'utf8'))
      .join('');
  await until(() => report().trimEnd().endsWith('\n}'));
  expect(report()).toContain('"commandLine"');
  expect(report()).not.toContain(emulator.apiKey);
});

describeOnSmallDisk('results', () => {
  // Written in one piece, of which a part fits.
  test.each(isLong ? ['logs 7 -f', 'logs 7 -f --json', 'openapi'] : ['logs 7 -f', 'openapi'])(
    'of pilotlight %s that a full disk takes a part of: it says so and fails',
    async (words) => {
      await using emulator = await startEmulator({
        seed: { workergroups: [{ id: 7, lines_per_second: 0, retained_lines: 10_000 }] },
      });
      const lines = Array.from({ length: 900 }, (_, index) => `line ${index} ${'.'.repeat(60)}`);
      emulator.workergroups.append(7, lines);
      using disk = smallDisk(32);
      const script = `exec "$0" "$1" ${words} >"$OUTPUT"`;
      const environment = { OUTPUT: join(disk.path, 'out'), ...connectionOf(emulator) };
      await using program = startProgram('sh', ['-c', script, process.execPath, PROGRAM], environment);
      expect([await program.exit, program.stderr()]).toEqual([
        1,
        expect.stringMatching(/^error: the results cannot be written: ENOSPC.*\n$/),
      ]);
    },
  );
});

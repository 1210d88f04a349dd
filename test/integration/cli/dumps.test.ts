import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { until } from '../../support/daemon.ts';
import { startProgram } from '../../support/process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { PROGRAM } from '../../support/program.ts';

test("Node's report of a command has no key in it", async () => {
  using folder = temporaryFolder();
  await using emulator = await startEmulator();
  const env = {
    PILOTLIGHT_API_KEY: emulator.apiKey,
    PILOTLIGHT_BASE_URL: emulator.url,
    NODE_OPTIONS: '--report-on-signal --report-signal=SIGUSR2',
  };
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

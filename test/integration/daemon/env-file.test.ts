import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import type { Status } from '../../../src/daemon/status/schema.ts';
import { until } from '../../support/daemon.ts';
import { startPilotlight } from '../../support/process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('the file of a service: waited for, read at the start and at each reload, refused when it is bad', async () => {
  const seed = { deployments: [42, 43].map((id) => ({ id, ttl: 60 })) };
  await using emulator = await startEmulator({ seed });
  using folder = temporaryFolder();
  const file = join(folder.path, 'environment');
  const keyFile = join(folder.path, 'key');
  writeFileSync(keyFile, emulator.apiKey);
  const write = (lines: readonly string[]): void => {
    const text = [
      `PILOTLIGHT_BASE_URL=${emulator.url}`,
      "PILOTLIGHT_LISTEN='127.0.0.1:0' # any",
      'export PILOTLIGHT_ADMIN_LISTEN=127.0.0.1:0',
      'PILOTLIGHT_LOG_LEVEL="info"',
      ...lines,
    ].join('\n');
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  await using program = startPilotlight(['run'], {
    PILOTLIGHT_ENV_FILE: file,
    PILOTLIGHT_API_KEY_FILE: keyFile,
    PILOTLIGHT_LOG_LEVEL: 'warn',
  });
  await program.seen(/PILOTLIGHT_ENV_FILE: got \S+; allowed: a file of NAME=value lines; ENOENT/);
  await program.seen(/waiting for these files; nothing is kept alive until they can be read/);

  write(['PILOTLIGHT_DEPLOYMENTS=42']);
  const [, started = ''] = await program.seen(/^(\{.*"pilotlight started"\})$/m);
  const { url } = JSON.parse(started) as { url: string };
  const deployments = async () => {
    const status = (await (await fetch(`${url}/api/status`)).json()) as Status;
    return status.deployments.map(({ deployment_id: id }) => id);
  };
  await until(async () => (await deployments()).includes(42));
  await program.seen(/"PILOTLIGHT_LOG_LEVEL"\],"msg":"variables of PILOTLIGHT_ENV_FILE override/);

  write(['PILOTLIGHT_DEPLOYMENTS=42,43', `PILOTLIGHT_API_KEY=${emulator.apiKey}`]);
  chmodSync(file, 0o644);
  program.child.kill('SIGHUP');
  await program.seen(/configuration reloaded/);
  expect(await deployments()).toEqual([42, 43]);

  rmSync(file);
  program.child.kill('SIGHUP');
  await program.seen(/reload refused/);
  expect(program.stderr()).toContain('ENOENT');
  expect(await deployments()).toEqual([42, 43]);

  write(['PILOTLIGHT_DEPLOYMENTS=43 ', 'half a li']);
  program.child.kill('SIGHUP');
  await program.seen(/got line 6 of \S+environment; allowed: NAME=value/);
  expect(await deployments()).toEqual([42, 43]);

  // A name that nothing reads is a warning, and everything else is taken.
  write(['PILOTLIGHT_DEPLOYMENTS=43', 'PILOTLIGHT_LOG_LEVLE=debug']);
  program.child.kill('SIGHUP');
  await program.seen(/"level":"warn".*PILOTLIGHT_LOG_LEVLE.*did you mean PILOTLIGHT_LOG_LEVEL\?.*line 6/);
  await until(async () => (await deployments()).join() === '43');

  // DEPLOYMENTS would be gone: the old configuration stays.
  write(['PILOTLIGHT_DEPLOYMENT=42']);
  program.child.kill('SIGHUP');
  await program.seen(/nothing is kept alive without it.*reload refused/);
  expect(await deployments()).toEqual([43]);
  expect(program.stdout() + program.stderr()).not.toContain(emulator.apiKey);
});

/** A name that nothing reads, such as a leftover of an earlier version, ends no reload. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const seed = { deployments: [42, 43].map((id) => ({ id, ttl: 60 })) };

test('one that comes with a reload is a warning, and everything else is taken', async () => {
  await using emulator = await startEmulator({ seed });
  using folder = temporaryFolder();
  const file = join(folder.path, 'environment');
  writeFileSync(file, 'PILOTLIGHT_DEPLOYMENTS=42\n');
  await using program = await startDaemonProcess({
    ...serviceOf(emulator),
    HEARTBEAT_INTERVAL: '1s',
    ENV_FILE: file,
  });
  writeFileSync(file, 'PILOTLIGHT_DEPLOYMENTS=42,43\nPILOTLIGHT_LOG_LEVLE=debug\n');
  program.child.kill('SIGHUP');
  await program.seen(/"level":"warn".*PILOTLIGHT_LOG_LEVLE.*did you mean PILOTLIGHT_LOG_LEVEL\?.*line 2/);
  await program.seen(/configuration reloaded/);
  await until(() => emulator.deployments.get(43).beats >= 1);

  // DEPLOYMENTS would be gone: the old configuration stays.
  writeFileSync(file, 'PILOTLIGHT_DEPLOYMENT=42\n');
  program.child.kill('SIGHUP');
  await program.seen(
    /PILOTLIGHT_DEPLOYMENTS is not set, and nothing is kept alive without it.*reload refused/,
  );
  const beats = emulator.deployments.get(43).beats;
  await until(() => emulator.deployments.get(43).beats > beats);
});

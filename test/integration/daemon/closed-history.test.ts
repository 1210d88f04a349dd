/** A STATE_DIR that nobody may read: what is said of it, and what goes on. Real permissions of a real file system. */
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { pilotlight } from '../../support/console.ts';
import { serviceOf, startTestDaemon, until } from '../../support/daemon.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const SEED = {
  instances: [{ id: 501, machine_id: 11, dph_total: 0.4 }],
  workergroups: [{ id: 7, lines_per_second: 0, endpoint_id: 31, workers: [501] }],
};
/** Nobody to whom anything belongs. */
const OTHER_USER = 65_532;
const isRoot = process.getuid?.() === 0;

/** The superuser may read whatever is there: until it goes, this process is not that. */
function anotherUser(): Disposable {
  if (isRoot) process.seteuid?.(OTHER_USER);
  return { [Symbol.dispose]: () => void (isRoot && process.seteuid?.(0)) };
}

test('a folder that may not be read is named, and endpoints are watched all the same', async () => {
  using folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  const closed = join(folder.path, 'state');
  mkdirSync(closed, { mode: 0 });
  await using emulator = await startEmulator({ dialect: 'public', seed: SEED });
  using user = anotherUser();
  await using daemon = await startTestDaemon({
    ...serviceOf(emulator),
    ENDPOINTS: 'all',
    FLEET_INTERVAL: '5s',
    STATE_DIR: closed,
  });
  await until(() => daemon.daemon.fleet.view().endpoints[0]?.sample !== undefined);
  const trouble = () => daemon.daemon.fleet.view().historyTrouble;
  await until(() => trouble() !== undefined);
  expect(trouble()).toContain(closed);
  expect(await daemon.metrics()).toMatch(/^pilotlight_endpoint_workers\{.* 1$/m);
  const { stdout } = await pilotlight(['status', '--url', daemon.url]);
  expect(stdout).toContain(`What the endpoints do is not being recorded: ${trouble()}\n`);
  user[Symbol.dispose]();
  if (isRoot) chownSync(closed, OTHER_USER, OTHER_USER);
  chmodSync(closed, 0o700);
  using _ = anotherUser();
  // What was held meanwhile is stored then.
  await until(() => trouble() === undefined);
});

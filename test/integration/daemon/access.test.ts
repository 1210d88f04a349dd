/** Who gets what from a running daemon: over the socket of the admin routes, with the token, and without. */
import { chmodSync, existsSync, lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import type { Status } from '../../../src/daemon/status/schema.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { pilotlight } from '../../support/console.ts';
import { serviceOf, startTestDaemon, until } from '../../support/daemon.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let emulator: Emulator;
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  emulator = await startEmulator();
  folder = temporaryFolder();
});
afterEach(async () => {
  await emulator.close();
  folder[Symbol.dispose]();
});

describe('the admin routes on a socket file', () => {
  test('take what `pilotlight admin` says, and go with the daemon', async () => {
    const path = join(folder.path, 'admin.sock');
    const env = { ...serviceOf(emulator), ADMIN_LISTEN: `unix:${path}` };
    await using daemon = await startDaemonProcess(env);
    expect(daemon.adminUrl).toBe(`unix:${path}`);
    expect((lstatSync(path).mode & 0o777).toString(8)).toBe('600');

    const { ADMIN_LISTEN } = env;
    const level = await pilotlight(['admin', 'log-level', 'debug'], { env: { ADMIN_LISTEN } });
    expect(level).toEqual({ code: 0, stdout: '{"level":"debug"}\n', stderr: '' });
    const reload = await pilotlight(['admin', 'reload'], { env: { ADMIN_LISTEN } });
    expect(reload).toEqual({ code: 0, stdout: '{"reloaded":true,"problems":[]}\n', stderr: '' });
    const config = await pilotlight(['admin', 'config'], { env: { ADMIN_LISTEN } });
    expect(JSON.parse(config.stdout)).toMatchObject({
      PILOTLIGHT_API_KEY: '(set)',
      PILOTLIGHT_ADMIN_LISTEN: { path },
    });
    // What goes by the other listener is as it was.
    const LISTEN = new URL(daemon.url).host;
    expect(await pilotlight(['healthcheck'], { env: { LISTEN, ADMIN_LISTEN } })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect((await pilotlight(['status'], { env: { LISTEN, ADMIN_LISTEN } })).code).toBe(0);

    const quit = await pilotlight(['admin', 'quit'], { env: { ADMIN_LISTEN } });
    expect(quit).toEqual({ code: 0, stdout: '{"quitting":true}\n', stderr: '' });
    expect(await daemon.exit).toBe(0);
    expect(existsSync(path)).toBe(false);
    expect((await pilotlight(['admin', 'reload'], { env: { ADMIN_LISTEN } })).code).toBe(3);
  });
});

describe('without a token', () => {
  test.each([
    ['nobody sees log lines', {}, false],
    ['everybody sees log lines where PUBLIC_STATUS says so', { PUBLIC_STATUS: 'true' }, true],
  ] as const)('%s', async (_, env, shown) => {
    await using daemon = await startTestDaemon({ ...serviceOf(emulator), WORKER_GROUPS: '7', ...env });
    await until(() => daemon.lines(7).length > 0);
    const status = (await (await fetch(`${daemon.url}/api/status`)).json()) as Status;
    const lines = status.worker_groups[0]?.last_lines ?? [];
    expect([status.log_lines_shown, lines.length > 0]).toEqual([shown, shown]);
  });
});

describe('with a token', () => {
  const TOKEN = 'status-token-12345';

  test('log lines are for those who have it, and commands take it from the environment or a file', async () => {
    await using daemon = await startTestDaemon({
      ...serviceOf(emulator),
      WORKER_GROUPS: '7',
      METRICS_TOKEN: TOKEN,
    });
    await until(() => daemon.lines(7).length > 0);
    expect((await fetch(`${daemon.url}/api/status`)).status).toBe(401);
    const LISTEN = new URL(daemon.url).host;
    const closed = await pilotlight(['status', '--json'], { env: { LISTEN } });
    expect(closed).toEqual({
      code: 4,
      stdout: '',
      stderr: `error: ${daemon.url}: the daemon wants a token: PILOTLIGHT_METRICS_TOKEN, or PILOTLIGHT_METRICS_TOKEN_FILE\n`,
    });
    const wrong = await pilotlight(['fleet', '--once'], { env: { LISTEN, METRICS_TOKEN: 'another-one' } });
    expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringContaining('wants another token')]);
    const open = await pilotlight(['status', '--json'], { env: { LISTEN, METRICS_TOKEN: TOKEN } });
    const status = JSON.parse(open.stdout) as Status;
    expect([status.log_lines_shown, (status.worker_groups[0]?.last_lines ?? []).length > 0]).toEqual([
      true,
      true,
    ]);
    const file = join(folder.path, 'token');
    writeFileSync(file, `${TOKEN}\n`);
    chmodSync(file, 0o600);
    expect((await pilotlight(['fleet', '--once'], { env: { LISTEN, METRICS_TOKEN_FILE: file } })).code).toBe(
      0,
    );
    // It needs no token: container engines have none.
    expect((await pilotlight(['healthcheck'], { env: { LISTEN } })).code).toBe(0);
  });
});

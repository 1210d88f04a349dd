/** Who gets what from a running daemon: over the socket of the admin routes, with the token, and without. */
import { chmodSync, existsSync, lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import type { Status } from '../../../src/daemon/status/schema.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, startTestDaemon, until } from '../../support/daemon.ts';
import { startPilotlight } from '../../support/process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { prefixed } from '../../support/settings.ts';

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

async function command(
  words: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number; out: string; err: string }> {
  await using program = startPilotlight(words, prefixed(env));
  return { code: await program.exit, out: program.stdout(), err: program.stderr() };
}

describe('the admin routes on a socket file', () => {
  test('take what `pilotlight admin` says, and go with the daemon', async () => {
    const path = join(folder.path, 'admin.sock');
    const env = { ...serviceOf(emulator), ADMIN_LISTEN: `unix:${path}` };
    await using daemon = await startDaemonProcess(env);
    expect(daemon.adminUrl).toBe(`unix:${path}`);
    expect((lstatSync(path).mode & 0o777).toString(8)).toBe('600');

    const { ADMIN_LISTEN } = env;
    const level = await command(['admin', 'log-level', 'debug'], { ADMIN_LISTEN });
    expect(level).toEqual({ code: 0, out: '{"level":"debug"}\n', err: '' });
    const reload = await command(['admin', 'reload'], { ADMIN_LISTEN });
    expect(reload).toEqual({ code: 0, out: '{"reloaded":true,"problems":[]}\n', err: '' });
    const config = await command(['admin', 'config'], { ADMIN_LISTEN });
    expect(JSON.parse(config.out)).toMatchObject({
      PILOTLIGHT_API_KEY: '(set)',
      PILOTLIGHT_ADMIN_LISTEN: { path },
    });
    // What goes by the other listener is as it was.
    const LISTEN = new URL(daemon.url).host;
    expect(await command(['healthcheck'], { LISTEN, ADMIN_LISTEN })).toEqual({ code: 0, out: '', err: '' });
    expect((await command(['status'], { LISTEN, ADMIN_LISTEN })).code).toBe(0);

    const quit = await command(['admin', 'quit'], { ADMIN_LISTEN });
    expect(quit).toEqual({ code: 0, out: '{"quitting":true}\n', err: '' });
    expect(await daemon.exit).toBe(0);
    expect(existsSync(path)).toBe(false);
    expect((await command(['admin', 'reload'], { ADMIN_LISTEN })).code).toBe(3);
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
    const closed = await command(['status', '--json'], { LISTEN });
    expect(closed).toEqual({
      code: 4,
      out: '',
      err: `error: ${daemon.url}: the daemon wants a token: PILOTLIGHT_METRICS_TOKEN, or PILOTLIGHT_METRICS_TOKEN_FILE\n`,
    });
    const wrong = await command(['fleet', '--once'], { LISTEN, METRICS_TOKEN: 'another-one' });
    expect([wrong.code, wrong.err]).toEqual([4, expect.stringContaining('wants another token')]);
    const open = await command(['status', '--json'], { LISTEN, METRICS_TOKEN: TOKEN });
    const status = JSON.parse(open.out) as Status;
    expect([status.log_lines_shown, (status.worker_groups[0]?.last_lines ?? []).length > 0]).toEqual([
      true,
      true,
    ]);
    const file = join(folder.path, 'token');
    writeFileSync(file, `${TOKEN}\n`);
    chmodSync(file, 0o600);
    expect((await command(['fleet', '--once'], { LISTEN, METRICS_TOKEN_FILE: file })).code).toBe(0);
    // It needs no token: container engines have none.
    expect((await command(['healthcheck'], { LISTEN })).code).toBe(0);
  });
});

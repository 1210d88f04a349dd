/** The program as a user starts it, beside what repeats its secrets: all that it writes is read. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { isLong } from '../../support/long.ts';
import { startProgram } from '../../support/process.ts';
import { prefixed } from '../../support/settings.ts';
import { leaked, WRITINGS } from '../../support/secret-writings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { PROGRAM } from '../../support/program.ts';

const TOKEN = 'metrics token+77aa&b=c';
const OTLP = 'otlp"token/55cc';
const PASSWORD = 'redis@pass:word/99';
const SECRETS = [TOKEN, OTLP, PASSWORD, `Bearer ${OTLP}`];
const WATCHED = {
  METRICS_TOKEN: TOKEN,
  DEPLOYMENTS: '42@300s,4711',
  WORKER_GROUPS: '7',
  LOG_LEVEL: 'trace',
};

/** What each file below a folder holds. A running daemon renames some: then all are listed again. */
function contents(folder: string): Record<string, string> {
  for (;;) {
    try {
      return Object.fromEntries(filesIn(folder).map((path) => [path, readFileSync(path, 'latin1')]));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** Everything below a folder that is a file. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

/** What the listeners answer, by address. */
async function answers({ url, adminUrl }: DaemonProcess): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const paths = ['', 'metrics', 'api/status', 'api/fleet', 'api/fleet?format=csv', 'livez', 'readyz', 'no'];
  const addresses = [...paths.map((path) => `${url}/${path}`), `${adminUrl}/-/config`];
  const texts = addresses.map(async (address) => [address, await (await fetch(address, { headers })).text()]);
  return Object.fromEntries((await Promise.all(texts)) as [string, string][]);
}

async function expectNoSecret(daemon: DaemonProcess, folder: string): Promise<void> {
  const seen: Record<string, string> = {
    ...(await answers(daemon)),
    stdout: daemon.stdout(),
    stderr: daemon.stderr(),
    ...contents(folder),
  };
  for (const [place, text] of Object.entries(seen)) expect(leaked(text, SECRETS), place).toEqual([]);
  expect(JSON.parse(seen[`${daemon.url}/api/status`] ?? '')).toHaveProperty('deployments');
  expect(daemon.stderr().trim().split('\n').length).toBeGreaterThan(2);
}

test.concurrent('no secret is written, whatever the receiver of the lines says', async () => {
  using folder = temporaryFolder();
  await using receiver = await startOtlpReceiver();
  receiver.decide = ({ authorization = '' }) => {
    const write = WRITINGS[receiver.requests.length % WRITINGS.length] ?? String;
    return { status: 401, body: `no: ${write(authorization)}` };
  };
  await using emulator = await startEmulator();
  await using daemon = await startDaemonProcess({
    ...serviceOf(emulator),
    ...WATCHED,
    STATE_DIR: folder.path,
    LOG_FORMAT: 'text',
    LOG_SINKS: 'otlp',
    OTLP_ENDPOINT: receiver.url,
    OTLP_HEADERS: `authorization=Bearer%20${encodeURIComponent(OTLP)}`,
  });
  await until(() => receiver.requests.length > 2);
  await expectNoSecret(daemon, folder.path);
});

test.concurrent('no secret is written, whatever Redis does', async () => {
  using folder = temporaryFolder();
  await using emulator = await startEmulator();
  await using daemon = await startDaemonProcess({
    ...serviceOf(emulator),
    ...WATCHED,
    STATE_DIR: folder.path,
    REDIS_URL: `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:1/0`,
  });
  await daemon.seen(/Redis is away/);
  await expectNoSecret(daemon, folder.path);
  for (const line of daemon.stderr().trim().split('\n')) expect(() => void JSON.parse(line)).not.toThrow();
});

test.concurrent.each(isLong ? ['0000', '0022', '0077'] : ['0000'])(
  'files are for this user alone, with umask %s, also those that were open before',
  async (umask) => {
    using folder = temporaryFolder();
    const state = join(folder.path, 'state');
    const old = join(folder.path, 'old');
    const log = join(folder.path, 'logs', 'worker.log');
    await using emulator = await startEmulator();
    const env = prefixed({
      ...serviceOf(emulator),
      WORKER_GROUPS: '7',
      ENDPOINTS: 'all',
      LISTEN: '127.0.0.1:0',
      ADMIN_LISTEN: `unix:${folder.path}/admin.sock`,
      LOG_SINKS: 'file',
      LOG_FILE: log,
      LOG_FILE_MAX_BYTES: '2KB',
    });
    const script = `umask ${umask}; exec '${process.execPath}' '${PROGRAM}' run`;
    const modes = async (directory: string): Promise<string[]> => {
      await using program = startProgram('sh', ['-c', script], { ...env, PILOTLIGHT_STATE_DIR: directory });
      emulator.workergroups.append(
        7,
        Array.from({ length: 50 }, (_, index) => `line ${index} ${'x'.repeat(50)}`),
      );
      await program.seen(/pilotlight started/);
      await until(() => filesIn(join(folder.path, 'logs')).some((file) => file.endsWith('.gz')));
      await until(() => readdirSync(directory).length > 1);
      expect((statSync(join(folder.path, 'admin.sock')).mode & 0o777).toString(8)).toBe('600');
      program.child.kill('SIGTERM');
      await program.exit;
      return [...filesIn(directory), ...filesIn(join(folder.path, 'logs'))].map((file) =>
        (statSync(file).mode & 0o777).toString(8),
      );
    };
    mkdirSync(join(folder.path, 'logs'), { mode: 0o700 });
    expect(new Set(await modes(state))).toEqual(new Set(['600']));
    expect((statSync(state).mode & 0o777).toString(8)).toBe('700');
    // Those of an earlier version, which the umask had left open.
    mkdirSync(old);
    for (const name of readdirSync(state))
      writeFileSync(join(old, name), readFileSync(join(state, name)), { mode: 0o644 });
    expect(new Set(await modes(old))).toEqual(new Set(['600']));
  },
);

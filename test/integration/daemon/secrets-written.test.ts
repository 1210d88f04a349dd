/** The program as a user starts it, against a service that repeats each secret: all that it writes is read. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { startEchoingService } from '../../support/echoing-service.ts';
import { isLong } from '../../support/long.ts';
import { hasCommand } from '../../support/optional.ts';
import { startProgram } from '../../support/process.ts';
import { leaks } from '../../support/secret-writings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { PROGRAM } from '../../support/program.ts';

const KEY = 'sk-"quoted"\\and%20more/5f1c9a';
const TOKEN = 'metrics token+77aa&b=c';
const OTLP = 'otlp"token/55cc';
const PASSWORD = 'redis@pass:word/99';
const SECRETS = [KEY, TOKEN, OTLP, PASSWORD, `Bearer ${OTLP}`];

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
  const addresses = [
    ...[
      '/',
      '/metrics',
      '/api/status',
      '/api/fleet',
      '/api/fleet?format=csv',
      '/livez',
      '/readyz',
      '/no',
    ].map((path) => url + path),
    `${adminUrl}/-/config`,
  ];
  const texts = addresses.map(async (address) => [address, await (await fetch(address, { headers })).text()]);
  return Object.fromEntries((await Promise.all(texts)) as [string, string][]);
}

async function expectNoSecret(daemon: DaemonProcess, folder: string, format: 'json' | 'text'): Promise<void> {
  const seen: Record<string, string> = {
    ...(await answers(daemon)),
    stdout: daemon.stdout(),
    stderr: daemon.stderr(),
    ...contents(folder),
  };
  for (const [place, text] of Object.entries(seen))
    for (const secret of SECRETS) expect(leaks(text, secret), `${secret} in ${place}`).toBe(false);
  expect(JSON.parse(seen[`${daemon.url}/api/status`] ?? '')).toHaveProperty('deployments');
  const lines = daemon.stderr().trim().split('\n');
  expect(lines.length).toBeGreaterThan(2);
  if (format === 'json') for (const line of lines) expect(() => void JSON.parse(line), line).not.toThrow();
}

describe.concurrent.each(['json', 'text'] as const)('with LOG_FORMAT=%s', (format) => {
  test('no secret is written, whatever the service says', async () => {
    using folder = temporaryFolder();
    await using service = await startEchoingService();
    await using daemon = await startDaemonProcess({
      API_KEY: KEY,
      BASE_URL: service.url,
      METRICS_TOKEN: TOKEN,
      // The daemon's part slows down with each 429, so many heartbeats make up the number.
      DEPLOYMENTS: '42@10s,43@10s,44@10s,45@10s,46,name:square',
      WORKER_GROUPS: '7,8,all',
      ENDPOINTS: 'all,chat',
      FLEET_INTERVAL: '5s',
      MACHINES: '11',
      INSTANCES_SCHEDULE: '* * * * * *',
      MAINTENANCE_SCHEDULE: '* * * * * *',
      ACCOUNT_SCHEDULE: '* * * * * *',
      STATE_DIR: folder.path,
      LOG_LEVEL: 'trace',
      LOG_FORMAT: format,
    });
    await until(() => service.count() > 60);
    await expectNoSecret(daemon, folder.path, format);
    daemon.child.kill('SIGTERM');
    await daemon.exit;
    for (const secret of SECRETS) expect(leaks(daemon.stderr(), secret)).toBe(false);
  });

  test('no secret is written, whatever the receiver of the lines says, or Redis does', async () => {
    using folder = temporaryFolder();
    await using service = await startEchoingService();
    await using emulator = await startEmulator();
    const env = { ...serviceOf(emulator), METRICS_TOKEN: TOKEN, LOG_FORMAT: format };
    const watched = {
      DEPLOYMENTS: '42@300s,4711',
      WORKER_GROUPS: '7',
      LOG_LEVEL: 'trace',
      STATE_DIR: folder.path,
    };
    const otlp = {
      LOG_SINKS: 'otlp',
      OTLP_ENDPOINT: service.url,
      OTLP_HEADERS: `authorization=Bearer%20${encodeURIComponent(OTLP)}`,
    };
    await using daemon = await startDaemonProcess({ ...env, ...watched, ...otlp });
    await until(() => service.count() > 2);
    await expectNoSecret(daemon, folder.path, format);
    const redis = `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:1/0`;
    await using replica = await startDaemonProcess({ ...env, ...watched, REDIS_URL: redis });
    await replica.seen(/Redis is away/);
    await expectNoSecret(replica, folder.path, format);
  });
});

describe.concurrent('files', () => {
  const FOLDER = 'state';

  test.each(isLong ? ['0000', '0022', '0077'] : ['0000'])(
    'are for this user alone, with umask %s and where they were open before',
    async (umask) => {
      using folder = temporaryFolder();
      const state = join(folder.path, FOLDER);
      const old = join(folder.path, 'old');
      const log = join(folder.path, 'logs', 'worker.log');
      await using emulator = await startEmulator();
      const env = {
        PILOTLIGHT_API_KEY: emulator.apiKey,
        PILOTLIGHT_BASE_URL: emulator.url,
        PILOTLIGHT_WORKER_GROUPS: '7',
        PILOTLIGHT_ENDPOINTS: 'all',
        PILOTLIGHT_LISTEN: '127.0.0.1:0',
        PILOTLIGHT_ADMIN_LISTEN: `unix:${folder.path}/admin.sock`,
        PILOTLIGHT_LOG_SINKS: 'file',
        PILOTLIGHT_LOG_FILE: log,
        PILOTLIGHT_LOG_FILE_MAX_BYTES: '2KB',
      };
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
});

describe.skipIf(!hasCommand('sh', '-c', 'test "$(cat /proc/sys/kernel/core_pattern)" = core'))(
  'a core dump',
  { concurrent: true },
  () => {
    test.each(isLong ? (['SIGSEGV', 'SIGABRT', 'SIGQUIT'] as const) : (['SIGABRT'] as const))(
      'of heart and daemon after %s has no secret in it',
      async (signal) => {
        using folder = temporaryFolder();
        await using emulator = await startEmulator();
        // Longer than all registers of the processor together (2 KiB of AVX-512): what was copied last is in them, side by
        // side, and every core dump has them.
        const secret = 'sk-core-dumped-0123456789'.repeat(120);
        const file = join(folder.path, 'key');
        writeFileSync(file, secret, { mode: 0o600 });
        const env = {
          PILOTLIGHT_API_KEY: secret,
          PILOTLIGHT_BASE_URL: emulator.url,
          PILOTLIGHT_DEPLOYMENTS: '42@300s',
          PILOTLIGHT_LISTEN: '127.0.0.1:0',
          PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
          NODE_OPTIONS: '--report-on-signal --report-signal=SIGUSR2 --report-uncaught-exception',
        };
        const script = `ulimit -c unlimited; exec '${process.execPath}' '${PROGRAM}' run`;
        const dumps = join(folder.path, 'dumps');
        mkdirSync(dumps);
        await using program = startProgram('sh', ['-c', script], env, dumps);
        await program.seen(/pilotlight started/);
        program.child.kill('SIGUSR2');
        await until(() => Object.values(contents(dumps)).some((text) => text.trimEnd().endsWith('\n}')));
        const children = readFileSync(
          `/proc/${program.child.pid}/task/${program.child.pid}/children`,
          'utf8',
        );
        for (const pid of children
          .trim()
          .split(' ')
          .filter((id) => id !== ''))
          process.kill(Number(pid), signal);
        program.child.kill(signal);
        await program.exit;
        const written = Object.entries(contents(dumps));
        expect(written.some(([name]) => name.includes('core'))).toBe(true);
        for (const [name, text] of written) expect(text.includes(secret), name).toBe(false);
      },
    );
  },
);

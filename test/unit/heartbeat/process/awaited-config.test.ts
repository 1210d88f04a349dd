import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadHeartConfig } from '../../../../src/config/load-heart.ts';
import { keepEarlySignals } from '../../../../src/heartbeat/process/early-signals.ts';
import { awaitConfig, runHeart } from '../../../../src/heartbeat/process/main.ts';
import { serve } from '../../../support/local-server.ts';
import { prefixed } from '../../../support/settings.ts';

const ENVIRONMENT = {
  PILOTLIGHT_API_KEY: 'a-key',
  PILOTLIGHT_BASE_URL: 'https://service.example',
  PILOTLIGHT_ENV_FILE: '/etc/pilotlight/environment',
};
const WAITS = 'pilotlight: waiting for these files; nothing is kept alive until they can be read\n';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** `text` is that of the file; undefined while it is not there. */
function waiting(text: string | undefined) {
  const lines: string[] = [];
  const file = { text, looks: 0 };
  const end = awaitConfig({
    load: () => {
      file.looks += 1;
      return loadHeartConfig(ENVIRONMENT, (path) => {
        if (path !== ENVIRONMENT.PILOTLIGHT_ENV_FILE || file.text === undefined)
          throw Object.assign(new Error('not there'), { code: 'ENOENT' });
        return file.text;
      });
    },
    allProblems: () => Promise.resolve([]),
    stderr: { write: (line) => void lines.push(line) },
    told: new Promise(() => {}),
  });
  return { end, file, lines };
}

test('a file that is not there is looked for every second, and named once a minute', async () => {
  const { end, file, lines } = waiting(undefined);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(file.looks).toBe(60);
  expect(lines).toEqual([expect.stringMatching(/^error: PILOTLIGHT_ENV_FILE: .*\n$/), WAITS]);
  await vi.advanceTimersByTimeAsync(1);
  expect(lines).toHaveLength(4);
  file.text = 'PILOTLIGHT_DEPLOYMENTS=42\n';
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await end).toMatchObject({ settings: { deployments: [{ id: 42 }] } });
  expect(lines).toHaveLength(4);
});

test('a configuration that is wrong is not waited for', async () => {
  const { end, lines } = waiting('PILOTLIGHT_DEPLOYMENTS=none\n');
  expect(await end).toBe('refused');
  expect(lines).toEqual([expect.stringContaining('not started')]);
});

describe('the program', () => {
  const end = (signal: NodeJS.Signals) => process.emit(signal, signal);
  beforeEach(() => {
    vi.useRealTimers();
    vi.spyOn(process, 'execve').mockReturnValue(undefined as never);
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Error(`exit ${code}`);
    });
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.removeAllListeners(signal);
  });

  function run(env: Readonly<Record<string, string>>): Promise<void> {
    const all = prefixed({ API_KEY: 'a-key', LOG_LEVEL: 'fatal', FINAL_HEARTBEAT: 'false', ...env });
    for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
    return runHeart(() => Promise.resolve([]));
  }

  test('beats as its signals say, and ends', async () => {
    const answer = vi.fn((_: unknown, response: ServerResponse) => response.end('{"deployment_id":42}'));
    await using server = await serve(answer);
    vi.stubEnv('UV_THREADPOOL_SIZE', undefined);
    const ended = run({ BASE_URL: server.url, DEPLOYMENTS: '' });
    expect([end('SIGUSR1'), end('SIGUSR2')]).toEqual([true, true]);
    vi.stubEnv('PILOTLIGHT_DEPLOYMENTS', '42@20s');
    await expect.poll(() => end('SIGHUP') && answer.mock.calls.length, { interval: 250 }).toBeGreaterThan(0);
    end('SIGINT');
    expect(() => end('SIGTERM')).toThrow('exit 143');
    await expect(ended).rejects.toThrow('exit 0');
    expect(process.report.excludeEnv).toBe(true);
    expect(process.env['UV_THREADPOOL_SIZE']).toBeUndefined();
    if (process.platform === 'linux')
      expect(readFileSync('/proc/self/coredump_filter', 'utf8')).toBe('00000000\n');
  });

  test('does not start with a configuration that is wrong', async () => {
    vi.stubEnv('UV_THREADPOOL_SIZE', '5');
    await run({ BASE_URL: 'https://service.example', DEPLOYMENTS: 'none' });
    expect([process.exitCode, process.env['UV_THREADPOOL_SIZE']]).toEqual([2, '5']);
    process.exitCode = undefined;
  });

  test('ends by a signal that came before it listened', async () => {
    keepEarlySignals();
    end('SIGTERM');
    await expect(run({ ENV_FILE: '/not/there' })).rejects.toThrow('exit 0');
  });
});

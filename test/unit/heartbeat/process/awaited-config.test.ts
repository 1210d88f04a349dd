import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadHeartConfig } from '../../../../src/config/load-heart.ts';
import { awaitConfig } from '../../../../src/heartbeat/process/main.ts';

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
  const { promise: told, resolve: tell } = Promise.withResolvers<void>();
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
    told,
  });
  return { end, file, lines, tell };
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

test('whoever is told to end while it waits does', async () => {
  const { end, file, tell } = waiting(undefined);
  await vi.advanceTimersByTimeAsync(1_500);
  tell();
  expect(await end).toBe('told');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(file.looks).toBe(3);
});

/**
 * Counts the files that run for one heartbeat, from the alarm to the moment at which the engine has accepted it: V8's call
 * counts of a heart with one deployment, at an emulator in another process. What link, log and metrics do with it is not
 * in: the heart has no listener that does anything. Run: node test/docs/heartbeat-path.ts
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Session } from 'node:inspector/promises';
import { createInterface } from 'node:readline';
import { createApiKey } from '../../src/client/api-key.ts';
import { deploymentList } from '../../src/config/types/wanted.ts';
import { Heart } from '../../src/heartbeat/heart.ts';

const root = new URL('../../', import.meta.url);
const source = new URL('src/', root).href;

/** The files under src with a function that ran between two accepted heartbeats, with the functions. */
export async function filesOfOneHeartbeat(): Promise<ReadonlyMap<string, readonly string[]>> {
  const emulator = spawn(process.execPath, ['src/cli/main.ts', 'emulator'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(emulator.stdout), 'line')) as [string];
  const url = /http:\S+/.exec(line)?.[0] ?? '';
  let accepted = (): void => {};
  const heart = new Heart({
    baseUrl: url,
    apiKey: createApiKey('emulator-key', undefined),
    deployments: deploymentList.parse('42@60s').value ?? [],
    settings: { deploymentTtl: undefined, heartbeatInterval: 3_000 },
    listener: {
      notice: (_, { type }) => void (type === 'accepted' && accepted()),
      exchange() {},
      removed() {},
      replaced() {},
      discovery() {},
      keyUnreadable() {},
      app() {},
    },
  });
  const nextAccepted = (): Promise<void> => new Promise((resolve) => (accepted = resolve));
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  // The connection and the first answer of the list are there by then.
  await nextAccepted();
  await nextAccepted();
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await nextAccepted();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  await heart.stop();
  emulator.kill();
  const files = new Map<string, string[]>();
  for (const { url: file, functions } of result) {
    if (!file.startsWith(source)) continue;
    const ran = functions.filter(({ ranges: [range] }) => (range?.count ?? 0) > 0);
    const names = ran.map(({ functionName }) => functionName).filter((name) => name !== '');
    if (ran.length > 0) files.set(file.slice(source.length), names);
  }
  return files;
}

if (import.meta.main) {
  const files = await filesOfOneHeartbeat();
  for (const [file, names] of files) console.log(`${file}: ${names.join(', ')}`);
  console.log(`${files.size} files`);
}

/** `pilotlight run` as a child process of the demo, with its output read. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { environmentOfOthers } from '../../config/other-variables.ts';
import type { Status } from '../../daemon/status/schema.ts';
import type { LogRecord } from '../../logs/record.ts';
import { fetchJson } from '../fleet/daemon.ts';
import { parseObject } from '../json-input.ts';

/** Beside this file's folder as source; one flat folder in the bundle. */
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? '../main.ts' : './pilotlight.js', import.meta.url);

export type DemoDaemon = NonNullable<Awaited<ReturnType<typeof startDemoDaemon>>>;

/** Resolves once it has started; undefined: it ended before, by itself or because `signal` fired. */
export async function startDemoDaemon(
  environment: Readonly<Record<string, string>>,
  onRecord: (record: LogRecord) => void,
  signal: AbortSignal,
) {
  const child = spawn(process.execPath, [fileURLToPath(ENTRY), 'run'], {
    // A terminal's Ctrl-C does not reach its process group: the demo ends it after the last lines.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...environmentOfOthers(), ...environment },
  });
  // A second Ctrl-C ends the demo at once, and it takes its daemon with it.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  const ended = new Promise<void>((resolve) =>
    child.once('exit', () => {
      process.off('exit', kill);
      resolve();
    }),
  );
  createInterface({ input: child.stdout }).on('line', (line) => onRecord(JSON.parse(line) as LogRecord));
  if (signal.aborted) stop();
  const url = await startedUrl(child.stderr, ended);
  signal.removeEventListener('abort', stop);
  if (url === undefined) return undefined;
  return {
    url,
    status: () =>
      fetchJson({ url, token: undefined }, '/api/status').then(
        (status) => status as Status,
        () => undefined,
      ),
    stop(): Promise<void> {
      stop();
      return ended;
    },
  };
}

function startedUrl(stderr: Readable, ended: Promise<void>): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  createInterface({ input: stderr }).on('line', (line) => {
    const { msg, url } = parseObject(line) ?? {};
    if (msg === 'pilotlight started' && typeof url === 'string') resolve(url);
  });
  void ended.then(() => resolve(undefined));
  return promise;
}

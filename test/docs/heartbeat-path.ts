/**
 * Counts the files that run for one heartbeat, from the alarm to the moment at which the engine has accepted it: V8's call
 * counts of a heart with one deployment, at an emulator in another process. What link, log and metrics do with it is not
 * in: the heart has no listener that does anything. Run: node test/docs/heartbeat-path.ts
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createApiKey } from '../../src/client/api-key.ts';
import { deploymentList } from '../../src/config/value-types.ts';
import { Heart } from '../../src/heartbeat/heart.ts';
import { CallCounts } from './call-counts.ts';

const root = new URL('../../', import.meta.url);

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
// The connection and the first answer of the list are there by then.
await nextAccepted();
await nextAccepted();
const counts = new CallCounts();
await counts.start();
await nextAccepted();
await counts.print();
await heart.stop();
emulator.kill();

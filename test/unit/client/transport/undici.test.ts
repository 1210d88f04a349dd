/** undici.ts takes undici's parts from its inside: what an update of undici could change there, is found here. */
import { spawnSync } from 'node:child_process';
import { Agent, Client, Dispatcher, EnvHttpProxyAgent } from 'undici';
import { describe, expect, test } from 'vitest';
import {
  createAgent,
  createDirectAgent,
  createSocketClient,
} from '../../../../src/client/transport/undici.ts';
import { root } from '../../../support/optional.ts';

/** What an import changes of the process' own fetch: the function, and the dispatcher that it finds under a symbol. */
function changedBy(specifier: string): string {
  const script = `
    const look = () => ['fetch', ...Object.getOwnPropertySymbols(globalThis)].map((key) => [key, globalThis[key]]);
    const before = new Map(look());
    await import(${JSON.stringify(specifier)});
    const changed = look().filter(([key, value]) => before.get(key) !== value);
    process.stdout.write(changed.map(([key]) => String(key)).join());`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
  });
  return stderr + stdout;
}

describe("undici's parts", () => {
  test('leave the fetch of the process alone, which its entry does not', () => {
    expect(changedBy(`${root}src/client/transport/undici.ts`)).toBe('');
    expect(changedBy('undici')).toContain('undici.globalDispatcher');
  });

  test('are those that its entry exports', () => {
    const direct = createDirectAgent({});
    const agent = createAgent({});
    const client = createSocketClient('http://127.0.0.1:1', {});
    expect(direct).toBeInstanceOf(Agent);
    expect(agent).toBeInstanceOf(EnvHttpProxyAgent);
    expect(client).toBeInstanceOf(Client);
    // The entry gives all dispatchers this method, which the parts have not.
    const own = Object.getOwnPropertyDescriptor(client, 'connect');
    expect(own?.value).toBe(Reflect.get(Dispatcher.prototype, 'connect'));
  });
});

/** A real Redis of the test's own. */
import { connectRedis, type Redis } from '../../src/daemon/replicas/redis.ts';
import { describeWith, hasCommand } from './optional.ts';
import { freePort } from './ports.ts';
import { startProgram, type Program } from './process.ts';
import { temporaryFolder } from './temporary-folder.ts';

export const hasRedis = hasCommand('redis-server', '--version');

export function describeWithRedis(name: string, body: () => void): void {
  describeWith('redis-server', hasRedis, 'apt-get install redis-server')(name, body);
}

export interface RedisServer extends AsyncDisposable {
  url(database?: number): string;
  readonly program: Program;
  cli(...args: readonly string[]): Promise<string>;
  snapshot(): Promise<void>;
}

/** On disk nothing is kept, as in most caches, but the snapshot that a test asks for: it is what the next begins with. */
export async function startRedis(port?: number, directory?: string): Promise<RedisServer> {
  const folder = temporaryFolder();
  const own = port ?? (await freePort());
  const path = directory ?? folder.path;
  const options = ['--port', String(own), '--bind', '127.0.0.1', '--save', '', '--dir', path];
  const program = startProgram('redis-server', options);
  async function cli(...args: readonly string[]): Promise<string> {
    await using asked = startProgram('redis-cli', ['-p', String(own), ...args]);
    if ((await asked.exit) !== 0) throw new Error(asked.stdout() + asked.stderr());
    return asked.stdout();
  }
  await program.seen(/Ready to accept connections/);
  return {
    url: (database = 0) => `redis://127.0.0.1:${own}/${database}`,
    program,
    cli,
    async snapshot() {
      await cli('SAVE');
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** A connection to it that is there. */
export async function connectedTo(server: RedisServer): Promise<Redis> {
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const redis = await connectRedis(server.url(), () => {}, resolve);
  await ready;
  return redis;
}

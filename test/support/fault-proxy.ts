/**
 * A TCP proxy in front of a port of this machine, whose connections fail as networks do, in a way that can be
 * changed while they are open: `await proxy.switchTo({ kind: 'refuse' })`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { FaultLink, type FaultMode } from './fault-link.ts';

export type { FaultMode } from './fault-link.ts';

export interface FaultProxy extends AsyncDisposable {
  readonly url: string;
  /** Silent ones included. */
  readonly connections: number;
  readonly taken: number;
  switchTo(mode: FaultMode): Promise<void>;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * A proxy that refuses does not listen, and nobody else may take its port meanwhile. On Linux, where all of
 * 127.0.0.0/8 is this machine, each gets an address of its own and a port below those that the system hands
 * out (ip_local_port_range begins at 32768); elsewhere any free port of 127.0.0.1 has to do.
 */
function ownAddress(): Address {
  if (process.platform !== 'linux') return { host: '127.0.0.1', port: 0 };
  return { host: randomHost(), port: 20_000 };
}

export function randomHost(): string {
  return `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
}

/** `port` of 127.0.0.1 is where the connections lead. `wanted`: where to listen. */
export async function startFaultProxy(port: number, wanted = ownAddress()): Promise<FaultProxy> {
  const links = new Set<FaultLink>();
  let mode: FaultMode = { kind: 'pass' };
  let taken = 0;
  let listener: Server | undefined = await open(wanted);
  const own: Address = { host: wanted.host, port: (listener.address() as AddressInfo).port };
  let blocked: AsyncDisposable | undefined;

  async function open(on: Address): Promise<Server> {
    const server = createServer((client) => {
      taken += 1;
      const link = new FaultLink(
        client,
        port,
        () => mode,
        () => links.delete(link),
      );
      links.add(link);
    });
    server.listen({ host: on.host, port: on.port });
    await once(server, 'listening');
    return server;
  }

  /** Node closes the socket at once and then waits for connections that may never end. */
  function stopListening(): void {
    listener?.close();
    listener = undefined;
  }

  async function switchTo(next: FaultMode): Promise<void> {
    mode = next;
    if (next.kind === 'refuse' || next.kind === 'reset') for (const link of links) link.reset();
    if (next.kind === 'half-open' || next.kind === 'hang-at-connect')
      for (const link of links) link.silence();
    await blocked?.[Symbol.asyncDispose]();
    blocked = undefined;
    if (next.kind === 'refuse') stopListening();
    else if (next.kind === 'hang-at-connect') {
      stopListening();
      blocked = await blockPort(own);
    } else listener ??= await open(own);
  }

  return {
    url: `http://${own.host}:${own.port}`,
    get connections() {
      return links.size;
    },
    get taken() {
      return taken;
    },
    switchTo,
    async [Symbol.asyncDispose]() {
      stopListening();
      for (const link of links) link.close();
      await blocked?.[Symbol.asyncDispose]();
    },
  };
}

/**
 * A listening socket that nobody accepts from, its queue full: the kernel drops every further SYN, and
 * connections hang as behind a firewall that drops. (To accept and stay silent would be another fault: the
 * client's connect would succeed.) Node accepts whatever it listens on, so a sleeping child holds the socket.
 */
async function blockPort(own: Address): Promise<AsyncDisposable> {
  const server = createServer();
  server.listen({ host: own.host, port: own.port, backlog: 1 });
  await once(server, 'listening');
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
  const holder = spawn('sleep', ['600'], { stdio: [fd, 'ignore', 'ignore'] });
  await once(holder, 'spawn');
  server.close();
  // Linux lets one more wait than the backlog says.
  const waiting = await Promise.all([waitInQueue(own), waitInQueue(own)]);
  return { [Symbol.asyncDispose]: () => unblock(holder, waiting) };
}

async function waitInQueue(own: Address): Promise<Socket> {
  const socket = connect({ host: own.host, port: own.port }).on('error', () => {});
  // Where others stand in the queue already, it is full without this one.
  const other = new AbortController();
  const { signal } = other;
  await Promise.race([once(socket, 'connect', { signal }), delay(1_000, undefined, { signal })]);
  other.abort();
  return socket;
}

async function unblock(holder: ChildProcess, waiting: readonly Socket[]): Promise<void> {
  for (const socket of waiting) socket.destroy();
  const exited = once(holder, 'exit');
  holder.kill('SIGKILL');
  await exited;
}

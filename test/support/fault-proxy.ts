/**
 * A TCP proxy in front of a port of this machine, whose connections fail as networks do, in a way that can be
 * changed while they are open: `await proxy.switchTo({ kind: 'refuse' })`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { FaultLink, type FaultMode } from './fault-link.ts';

export type { FaultMode } from './fault-link.ts';

export interface FaultProxy extends AsyncDisposable {
  readonly url: string;
  /** Open connections, silent ones included. */
  readonly connections: number;
  switchTo(mode: FaultMode): Promise<void>;
}

/**
 * Not 127.0.0.1 where the system has other loopback addresses: connections that this machine opens leave from
 * 127.0.0.1, so none of them can take the port while the proxy does not listen.
 */
const HOST = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1';

/** `port` of 127.0.0.1 is where the connections lead. */
export async function startFaultProxy(port: number): Promise<FaultProxy> {
  const links = new Set<FaultLink>();
  let mode: FaultMode = { kind: 'pass' };
  let listener: Server | undefined = await open();
  const ownPort = (listener.address() as AddressInfo).port;
  let blocked: AsyncDisposable | undefined;

  async function open(on = 0): Promise<Server> {
    const server = createServer((client) => {
      const link = new FaultLink(
        client,
        port,
        () => mode,
        () => links.delete(link),
      );
      links.add(link);
    });
    server.listen({ host: HOST, port: on });
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
      blocked = await blockPort(ownPort);
    } else listener ??= await open(ownPort);
  }

  return {
    url: `http://${HOST}:${ownPort}`,
    get connections() {
      return links.size;
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
async function blockPort(port: number): Promise<AsyncDisposable> {
  const server = createServer();
  server.listen({ host: HOST, port, backlog: 1 });
  await once(server, 'listening');
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
  const holder = spawn('sleep', ['60'], { stdio: [fd, 'ignore', 'ignore'] });
  await once(holder, 'spawn');
  server.close();
  // Linux lets one more wait than the backlog says.
  const waiting = await Promise.all([waitInQueue(port), waitInQueue(port)]);
  return { [Symbol.asyncDispose]: () => unblock(holder, waiting) };
}

async function waitInQueue(port: number): Promise<Socket> {
  const socket = connect({ host: HOST, port });
  await once(socket, 'connect');
  socket.on('error', () => {});
  return socket;
}

async function unblock(holder: ChildProcess, waiting: readonly Socket[]): Promise<void> {
  for (const socket of waiting) socket.destroy();
  const exited = once(holder, 'exit');
  holder.kill('SIGKILL');
  await exited;
}

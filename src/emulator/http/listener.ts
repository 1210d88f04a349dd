import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Another program may take the port meanwhile: the service stays down until it is free. */
const REOPEN_PAUSE_MS = 50;

export async function openListener(server: Server, host: string, port: number) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await bind(server, host, port);
  const bound = (server.address() as AddressInfo).port;
  let last: Promise<void> = Promise.resolve();
  let closed = false;

  async function setOpen(open: boolean): Promise<void> {
    if (closed || open === server.listening) return;
    // A service that goes down resets its connections.
    if (!open) return stop((socket) => socket.resetAndDestroy());
    for (;;) {
      if (closed) return;
      try {
        return await bind(server, host, bound);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
        await delay(REOPEN_PAUSE_MS);
      }
    }
  }

  function stop(end: (socket: Socket) => void): Promise<void> {
    return new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) end(socket);
    });
  }

  return {
    port: bound,
    listen(open: boolean): Promise<void> {
      const done = last.then(() => setOpen(open));
      last = done.catch(() => {});
      return done;
    },
    async close(): Promise<void> {
      closed = true;
      await last;
      if (server.listening) await stop((socket) => socket.destroy());
    },
  };
}

async function bind(server: Server, host: string, port: number): Promise<void> {
  server.listen({ host, port });
  await once(server, 'listening');
}

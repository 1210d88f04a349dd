/** Binds a server: to a TCP port, or to a socket file for this user only. */
import { chmodSync, lstatSync, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { connect, type AddressInfo, type Server } from 'node:net';
import { dirname } from 'node:path';
import type { AdminAddress } from '../../config/addresses.ts';
import { PilotlightError } from '../../contract/pilotlight-error.ts';

const SOCKET_MODE = 0o600;
/** Private from the moment the file exists. */
const PRIVATE_UMASK = 0o077;

/** A person must make room at this path. */
export class SocketFileError extends PilotlightError {
  readonly code = 'socket_file';
  readonly actor = 'user';
}

/** Returns the URL: `http://host:port`, or `unix:/path`. @throws SocketFileError */
export async function bind(server: Server, address: AdminAddress): Promise<string> {
  if ('path' in address) {
    await listenOnSocketFile(server, address.path);
    return `unix:${address.path}`;
  }
  const { host } = address;
  server.listen({ host, port: address.port });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** It replaces a socket on which no process listens. The server removes the socket when it closes. */
async function listenOnSocketFile(server: Server, path: string): Promise<void> {
  requireFolder(path);
  await removeStale(path);
  const umask = process.umask(PRIVATE_UMASK);
  try {
    // This creates the file before it returns.
    server.listen({ path });
  } finally {
    process.umask(umask);
  }
  try {
    await once(server, 'listening');
    chmodSync(path, SOCKET_MODE);
  } catch (error) {
    throw new SocketFileError(`${path}: ${inWords(error, path)}`, { cause: error });
  }
}

/** Node reports a missing folder as one without write access. */
function requireFolder(path: string): void {
  const folder = dirname(path);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) throw new SocketFileError(`${path}: the folder ${folder} is not there`);
  if (!found.isDirectory()) throw new SocketFileError(`${path}: ${folder} is no folder`);
}

/** A killed process leaves its socket behind. */
async function removeStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new SocketFileError(`${path}: a file that is no socket is there, and stays`);
  if (found.uid !== process.getuid?.())
    throw new SocketFileError(`${path}: a socket of another user (uid ${found.uid}) is there, and stays`);
  if (await answers(path)) throw new SocketFileError(`${path}: another process listens there`);
  rmSync(path, { force: true });
}

/** Only a refusal means that no process listens: a busy one has no room for a connection. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'));
  });
}

function inWords(error: unknown, path: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const folder = dirname(path);
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `this user may not write in the folder ${folder}`;
    case 'EROFS':
      return `the folder ${folder} is read-only; in a container it needs a volume or tmpfs of its own`;
    case 'EADDRINUSE':
      return 'another process listens there';
    default:
      return message;
  }
}

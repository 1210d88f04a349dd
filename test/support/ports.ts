import { createServer } from 'node:net';

/**
 * Below those that a system gives to whoever asks for any (49152 and above by RFC 6335, 32768 and above on Linux): what
 * was free stays free until a program that cannot say which one it picked has it, and while it is restarted.
 */
const [FIRST, COUNT] = [20_000, 12_000];

/** A port that is free now, and that no socket of another test gets by chance. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await listenOn(FIRST + Math.floor(COUNT * Math.random()));
    if (port !== undefined) return port;
  }
}

function listenOn(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => {
      server.close(() => resolve(port));
    });
  });
}

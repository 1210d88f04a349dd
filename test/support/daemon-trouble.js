// Preloaded with NODE_OPTIONS=--import: the trouble that TROUBLE names happens to the daemon process as soon as
// TROUBLE_FILE is there, which is removed, so that it happens once. The heart loads this too and is left alone.
import { existsSync, rmSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const LOOK_MS = 50;
const { TROUBLE, TROUBLE_FILE = '' } = process.env;
// What a thread of it takes may be gone with the thread.
const isDaemon = isMainThread && process.argv[1]?.includes('daemon');

const TROUBLES = {
  spin() {
    for (;;);
  },
  /** Buffers lie outside V8's heap, so that V8's own limit does not see them. */
  'resident memory'() {
    globalThis.hoard = Array.from({ length: 700 }, () => Buffer.alloc(2 ** 20, 1));
  },
  'heap memory'() {
    globalThis.hoard = [];
    for (;;) globalThis.hoard.push(Array.from({ length: 1_000 }, Math.random));
  },
  throw() {
    throw Object.assign(new Error('a fault that ends nothing'), { cause: () => 'that no clone can hold' });
  },
};

if (isDaemon && TROUBLE) {
  const looking = setInterval(() => {
    if (!existsSync(TROUBLE_FILE)) return;
    clearInterval(looking);
    rmSync(TROUBLE_FILE);
    TROUBLES[TROUBLE]();
  }, LOOK_MS).unref();
}

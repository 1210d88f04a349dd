// Preloaded with NODE_OPTIONS=--import: the trouble that TROUBLE names happens to the daemon process as soon as
// TROUBLE_FILE is there, which is removed, so that it happens once. The heart loads this too and is left alone.
import { existsSync, rmSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const LOOK_MS = 50;
const { SIMULATION_RUNS, TROUBLE, TROUBLE_FILE = '' } = process.env;
// What a thread of it takes may be gone with the thread.
const isDaemon = isMainThread && process.argv[1]?.includes('daemon');

const TROUBLES = {
  /** Its event loop never turns again. In `npm test` it leaves most of a processor to the other tests. */
  spin() {
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    const restMs = SIMULATION_RUNS === undefined ? 9 : 0;
    for (;;) {
      const end = performance.now() + 1;
      while (performance.now() < end);
      Atomics.wait(nothing, 0, 0, restMs);
    }
  },
  /** Buffers lie outside V8's heap, so that V8's own limit does not see them. */
  'resident memory'() {
    globalThis.hoard = Array.from({ length: 540 }, () => Buffer.alloc(2 ** 20, 1));
  },
  'heap memory'() {
    globalThis.hoard = [];
    for (;;) globalThis.hoard.push(Array.from({ length: 100_000 }, () => 0.5));
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

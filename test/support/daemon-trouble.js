// Preloaded with NODE_OPTIONS=--import: what TROUBLE names happens to the daemon process, some time after its start,
// once; the heart loads it too and is left alone. TROUBLE_FILE remembers that it has happened.
import { existsSync, writeFileSync } from 'node:fs';

const AFTER_MS = 1_500;
const { TROUBLE, TROUBLE_FILE = '' } = process.env;
const isDaemon = process.argv[1]?.includes('daemon') ?? false;

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
  exit() {
    process.exit(7);
  },
  throw() {
    throw Object.assign(new Error('a fault that ends nothing'), { cause: () => 'that no clone can hold' });
  },
};

if (isDaemon && TROUBLE && !existsSync(TROUBLE_FILE)) {
  setTimeout(() => {
    writeFileSync(TROUBLE_FILE, TROUBLE);
    TROUBLES[TROUBLE]();
  }, AFTER_MS);
}

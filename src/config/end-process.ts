import { isFileUnderWay } from '../client/slow-file.ts';

/**
 * Ends this process at once. While a file hangs, Node's own exit would wait for it, as libuv joins its threads. So
 * another program takes the place of this one, whose threads the kernel ends, and exits with the code.
 */
export function endProcess(code: number): never {
  if (isFileUnderWay())
    process.execve?.(process.execPath, [process.execPath, '--eval', `process.exit(${code})`], {});
  process.exit(code);
}

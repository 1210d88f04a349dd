/**
 * Standard error for a process that nothing may hold up: one write is under way at a time, in libuv's thread pool, and
 * what waits for it is bounded. With a pipe that nobody reads, a full disk or a stopped terminal, messages are dropped
 * and counted, and nothing else happens.
 */
// oxlint-disable-next-line no-restricted-imports -- of this process' own descriptors, before the first heartbeat
import { constants, openSync, write } from 'node:fs';
import { isatty } from 'node:tty';

export interface Stderr {
  readonly isTerminal: boolean;
  /** Takes a line with its newline, or counts it as dropped. */
  write(line: string): void;
  /** Resolves when everything is written, or after `limitMs`. */
  flush(limitMs: number): Promise<void>;
}

const STDERR = 2;
/** Most characters that wait. */
const CAPACITY = 256 * 1024;
const LINE_END = 0x0a;
/** A full pipe is tried again after this, ms. */
const AGAIN_MS = 50;

/** `fd`: a descriptor whose writes do not block. */
export function openStderr(fd: number = nonBlocking(STDERR)): Stderr {
  let waiting = '';
  let underWay: Buffer | undefined;
  /** Messages that are lost with what waits, and with what is under way: where it tells of lost ones, these too. */
  let waitingCount = 0;
  let underWayCount = 0;
  let dropped = 0;
  /** What was written last is the beginning of a line, whose rest was dropped. */
  let isTorn = false;
  let idle: (() => void)[] = [];

  function pump(): void {
    if (underWay) return;
    if (waiting === '') {
      for (const tell of idle.splice(0)) tell();
      return;
    }
    underWay = Buffer.from(isTorn ? `\n${waiting}` : waiting);
    underWayCount = waitingCount;
    waiting = '';
    waitingCount = 0;
    send(underWay);
  }

  function send(bytes: Buffer): void {
    write(fd, bytes, (error, written) => {
      if (!error && written > 0) isTorn = bytes[written - 1] !== LINE_END;
      if (error?.code === 'EAGAIN') {
        setTimeout(() => send(bytes), AGAIN_MS).unref();
      } else if (!error && written < bytes.length) {
        send(bytes.subarray(written));
      } else {
        if (error) dropped += underWayCount;
        underWay = undefined;
        pump();
      }
    });
  }

  return {
    isTerminal: isatty(fd),
    write(line) {
      if (waiting.length + line.length > CAPACITY) {
        dropped += 1;
        return;
      }
      if (dropped > 0) {
        waiting += `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), dropped, msg: 'standard error did not take all messages' })}\n`;
        waitingCount += dropped;
        dropped = 0;
      }
      waiting += line;
      waitingCount += 1;
      pump();
    },
    async flush(limitMs) {
      if (!underWay && waiting === '') return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        idle.push(resolve);
        timer = setTimeout(resolve, limitMs);
      });
      clearTimeout(timer);
    },
  };
}

/**
 * A descriptor whose writes never block, not even a thread of the pool: Node waits for those threads when it exits. A
 * terminal is opened again for that; pipes and sockets become non-blocking when Node first touches them.
 */
export function nonBlocking(fd: 1 | 2): number {
  void [process.stdout, process.stderr];
  if (!isatty(fd)) return fd;
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
}

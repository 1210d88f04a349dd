/** What the main thread, which beats, and the daemon's thread say to each other of the daemon itself. */
import type { HeartLink } from '../heartbeat/isolation/protocol.ts';

/** What the daemon's thread is born with. */
export interface Inheritance {
  readonly heart: HeartLink;
}

/** Something that should not happen, and that the log shall have. */
export interface Fault {
  readonly what: string;
  readonly error: Error;
}

/** To the daemon's thread. */
export type Command =
  /** Drain, flush, and end. Answered with `stopping` at once, and with the end of the thread. */
  { readonly type: 'stop' } | { readonly type: 'reload' } | { readonly type: 'fault'; readonly fault: Fault };

/** From it. */
export type Event =
  | { readonly type: 'started' }
  /** It could not start, and ends. */
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'stopping' }
  /** It was asked for the end of the process. */
  | { readonly type: 'quit' };

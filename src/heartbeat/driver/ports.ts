/** All that the driver uses of the world, so that it runs as well on a virtual clock and network. */

import type { Notice } from '../engine/state.ts';
import type { Outcome } from '../engine/outcome.ts';

export type CancelTimer = () => void;

export interface Clock {
  /** Monotonic ms (`performance.now()`). */
  mono(): number;
  /** Unix ms (`Date.now()`). */
  wall(): number;
}

export interface BeatRequest {
  readonly deploymentId: number;
  readonly key: string;
  readonly keyGeneration: number;
  /** 2A + B: `signal` aborts by then. The transport must have no shorter limit of its own. ms */
  readonly timeoutMs: number;
  /** Make a new connection instead of reusing one: the last one may be half open (undici #3492). */
  readonly fresh: boolean;
  /** Called when there is a connection and the request is on its way; until then the attempt counts as connecting. */
  readonly connected: () => void;
  /** Must end the request and its socket, also while the body is being read (node #56917). */
  readonly signal: AbortSignal;
}

export interface Ports {
  readonly clock: Clock;
  /** [0, 1) */
  readonly random: () => number;
  /** Calls `fn` once, after `ms` or a little later. The driver never asks for more than 10 s. */
  readonly setTimer: (ms: number, fn: () => void) => CancelTimer;
  /** Makes one attempt. May reject or throw: that is a failure with the reason `unknown`. */
  readonly beat: (request: BeatRequest) => Promise<Outcome>;
  readonly readKey: (signal: AbortSignal) => Promise<string>;
  /** Is called after the requests of the same moment have left. What it throws is ignored. */
  readonly listener: (deploymentId: number, notice: Notice) => void;
}

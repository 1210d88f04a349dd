/** All that the driver uses of the world, so that it also runs in virtual time. */

import type { Notice, AttemptOutcome } from '../engine/state.ts';

export type CancelTimer = () => void;

export interface Clocks {
  /** ms */
  mono(): number;
  /** Unix ms */
  wall(): number;
}

export interface BeatRequest {
  readonly deploymentId: number;
  readonly key: string;
  readonly keyGeneration: number;
  /** 2A + B: `signal` aborts by then, ms. The transport must have no shorter limit. */
  readonly timeoutMs: number;
  /** Do not reuse a connection: the last one may be half open (undici #3492). */
  readonly fresh: boolean;
  readonly connected: () => void;
  /** Must end the request and its socket, also while the body is read (node #56917). */
  readonly signal: AbortSignal;
}

export interface Ports {
  readonly clock: Clocks;
  /** [0, 1) */
  readonly random: () => number;
  /** Calls `fn` once. The driver never asks for more than 10 s. */
  readonly setTimer: (ms: number, fn: () => void) => CancelTimer;
  readonly beat: (request: BeatRequest) => Promise<AttemptOutcome>;
  readonly readKey: (signal: AbortSignal) => Promise<string>;
  /** Called after the requests of the same moment have left. What it throws is ignored. */
  readonly listener: (deploymentId: number, notice: Notice) => void;
}

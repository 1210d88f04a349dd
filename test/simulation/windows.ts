/**
 * Property 1. The service is out of order all the time, except for windows: one for every basis b, of exactly X
 * (or a part of it), anywhere inside [b + I′, b + T − ε], and preferably opening just after an attempt has left
 * that will hang. Right behind a 429 that names no time it is longer by the limiter's wait. Every window must save the deployment.
 */

import type { Timing } from '../../src/heartbeat/engine/formulas.ts';
import type { VirtualTime } from '../support/virtual-time.ts';
import { fateOf, faultsBut, type Fault } from './faults.ts';
import type { Sky, Weather } from './network.ts';
import {
  finish,
  ROUNDING,
  stage,
  WorstPause,
  type Ground,
  type RunOptions,
  type RunResult,
} from './scenario.ts';
import type { Random } from './random.ts';

const ID = 1;
/** Faults after which the next attempt may be as late as the formulas allow. */
const BETWEEN_WINDOWS = faultsBut('lost-answer', 'not-found', 'throttled-threshold', 'throttled-retry-after');

/** The limiter's longest wait after a 429 that names no time, with jitter, ms. */
const LONGEST_GUESS_MS = 4_200;

class Windows implements Weather {
  changes = 0;
  left: number;
  #open = true;
  #openedAt = 0;
  #acknowledgedAt = 0;
  #latency = 20;
  /** An attempt that leaves from this time on opens the window behind it. */
  #baitFrom = Infinity;
  #opening: (() => void) | undefined;
  #notFoundAllowed = true;
  #lastFault: Fault | undefined;
  /** How often a beat was accepted while no window was open. Without a limit that could go on for ever. */
  #savedBySlowness = 0;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #timing: Timing;
  readonly #length: number;
  readonly #hangs: number;
  basis = 0;
  /** I′: after a 429 it is longer than I. */
  interval: () => number;
  done = false;
  onChange: (open: boolean) => void = () => {};

  constructor({ time, random, timing }: Ground, factor: number) {
    this.#time = time;
    this.#random = random;
    this.#timing = timing;
    this.#length = timing.rescue * factor + ROUNDING;
    this.#hangs = random.pick([1, 0.6, 0.2]);
    this.interval = () => timing.interval;
    this.left = 3;
    time.at(random.between(timing.interval, 3 * timing.interval) + timing.attemptTimeout, () =>
      this.#close(),
    );
  }

  meet(): Sky {
    const random = this.#random;
    if (this.#open) return { latency: this.#latency };
    let fault: Fault = random.chance(this.#hangs) ? 'hang' : random.pick(BETWEEN_WINDOWS);
    if (this.#notFoundAllowed && random.chance(0.02)) {
      this.#notFoundAllowed = false; // a second one would make it gone, which has a bound of its own (outages.ts)
      fault = 'not-found';
    }
    if (fault === 'slow' && this.#savedBySlowness > 3) fault = 'hang';
    if (this.#time.now >= this.#baitFrom) {
      this.#baitFrom = Infinity;
      if (random.chance(0.8)) fault = 'hang';
      this.#opening?.();
      this.#opening = this.#time.at(this.#time.now + 0.001, () => this.#openUp());
    }
    this.#lastFault = fault;
    return { fate: fateOf(fault, this.#timing, 0, random) };
  }

  acknowledged(sentAt: number): void {
    this.basis = Math.max(this.basis, sentAt);
    this.#acknowledgedAt = this.#time.now;
    if (this.#open) return;
    this.#savedBySlowness += 1;
    this.#plan();
  }

  #plan(): void {
    const { life } = this.#timing;
    this.#opening?.();
    this.#baitFrom = Infinity;
    const latest = this.basis + life - this.#length;
    const earliest = Math.max(this.basis + this.interval(), this.#time.now);
    if (this.left === 0 || earliest > latest) return;
    const start = this.#random.pick([earliest, latest, this.#random.between(earliest, latest)]);
    const baited = this.#random.chance(0.7);
    if (baited) this.#baitFrom = Math.max(earliest, Math.min(start, latest - this.#timing.rescue));
    this.#opening = this.#time.at(baited ? latest : start, () => this.#openUp());
  }

  #openUp(): void {
    this.#open = true;
    this.#openedAt = this.#time.now;
    this.#baitFrom = Infinity;
    this.#notFoundAllowed = true;
    this.changes += 1;
    this.left -= 1;
    const longest = this.#timing.attemptTimeout * 0.999;
    this.#latency = this.#random.chance(0.5) ? longest : this.#random.between(1, longest);
    const waited = this.#lastFault === 'throttled' ? LONGEST_GUESS_MS : 0;
    this.#time.at(this.#time.now + this.#length + waited, () => this.#close());
    this.onChange(true);
  }

  #close(): void {
    this.done = this.left === 0 && this.#acknowledgedAt >= this.#openedAt;
    const latest = this.basis + this.#timing.life - this.#length;
    const enough = this.basis + this.interval() + this.#length;
    if (!this.done && this.#time.now > latest && this.#time.now < enough) {
      // Too late for a window of its own for the present basis: this one stays open until it has had one.
      this.left = Math.max(0, this.left - 1);
      this.#time.at(enough, () => this.#close());
      return;
    }
    this.#open = false;
    this.changes += 1;
    this.onChange(false);
    this.#plan();
  }
}

export async function windows(options: RunOptions): Promise<RunResult> {
  const { factor = 1 } = options;
  const { ttl, interval, random, timing, weather, world } = stage(
    options,
    (ground) => new Windows(ground, factor),
  );
  weather.interval = () => world.intervals.of(ID, timing.interval);
  const pause = new WorstPause(world, random, timing.pause);
  world.note(() => `   TTL ${ttl / 1000} s, X ${timing.rescue} ms, windows of ${factor} X`);
  weather.onChange = (open) => {
    world.note(() => `== a window ${open ? 'opens' : 'closes'}`);
    if (open) pause.arm();
  };
  world.onNotice = (_id, notice) => {
    if (notice.type === 'accepted')
      weather.acknowledged(world.network.flights[notice.attempt - 1]?.sentAt ?? 0);
  };
  world.add(ID, ttl, interval);
  await world.run(20 * ttl, () => weather.done || world.lost.length > 0);
  const undecided = !weather.done && world.lost.length + world.promises.broken.length === 0;
  if (factor >= 1 && undecided) world.promises.broken.push('the run did not come to its end');
  return finish(world);
}

/**
 * The service is out of order all the time, except for windows: one for every basis b, of exactly X
 * (or a part of it), anywhere inside [b + I′, b + T − ε], and preferably opening just after an attempt has left
 * that will hang. Right behind a 429 that names no time it is longer by the limiter's wait. Every window must save the deployment.
 */

import { fateOf, faultsBut, type Fault } from './faults.ts';
import type { Sky } from './network.ts';
import {
  finish,
  ROUNDING,
  stage,
  worstPause,
  type Ground,
  type RunOptions,
  type RunResult,
} from './scenario.ts';

const ID = 1;
/** Faults after which the next attempt may be as late as the formulas allow. */
const BETWEEN_WINDOWS = faultsBut('lost-answer', 'not-found', 'throttled-threshold', 'throttled-retry-after');

/** The limiter's longest wait after a 429 that names no time, with jitter, ms. */
const LONGEST_GUESS_MS = 4_200;

function windowed({ time, random, timing }: Ground, factor: number) {
  const length = timing.rescue * factor + ROUNDING;
  const hangs = random.pick([1, 0.6, 0.2]);
  let isOpen = true;
  let [left, basis, openedAt, acknowledgedAt] = [3, 0, 0, 0];
  let latency = 20;
  /** An attempt that leaves from this time on opens the window behind it. */
  let baitFrom = Infinity;
  let opening: (() => void) | undefined;
  let isNotFoundAllowed = true;
  let lastFault: Fault | undefined;
  /** How often a beat was accepted while no window was open. Without a limit that could go on for ever. */
  let savedBySlowness = 0;
  const weather = {
    changes: 0,
    done: false,
    /** I′: after a 429 it is longer than I. */
    interval: () => timing.interval,
    onChange: (_isOpen: boolean): void => {},
    meet(): Sky {
      if (isOpen) return { latency };
      let fault: Fault = random.chance(hangs) ? 'hang' : random.pick(BETWEEN_WINDOWS);
      if (isNotFoundAllowed && random.chance(0.02)) {
        isNotFoundAllowed = false; // a second one would make it gone, which has its own bound (outages.ts)
        fault = 'not-found';
      }
      if (fault === 'slow' && savedBySlowness > 3) fault = 'hang';
      if (time.now >= baitFrom) {
        baitFrom = Infinity;
        if (random.chance(0.8)) fault = 'hang';
        opening?.();
        opening = time.at(time.now + 0.001, openUp);
      }
      lastFault = fault;
      return { fate: fateOf(fault, timing, 0, random) };
    },
    acknowledged(sentAt: number): void {
      basis = Math.max(basis, sentAt);
      acknowledgedAt = time.now;
      if (isOpen) return;
      savedBySlowness += 1;
      plan();
    },
  };
  time.at(random.between(timing.interval, 3 * timing.interval) + timing.attemptTimeout, close);
  return weather;

  function plan(): void {
    opening?.();
    baitFrom = Infinity;
    const latest = basis + timing.life - length;
    const earliest = Math.max(basis + weather.interval(), time.now);
    if (left === 0 || earliest > latest) return;
    const start = random.pick([earliest, latest, random.between(earliest, latest)]);
    const isBaited = random.chance(0.7);
    if (isBaited) baitFrom = Math.max(earliest, Math.min(start, latest - timing.rescue));
    opening = time.at(isBaited ? latest : start, openUp);
  }

  function openUp(): void {
    isOpen = true;
    openedAt = time.now;
    baitFrom = Infinity;
    isNotFoundAllowed = true;
    weather.changes += 1;
    left -= 1;
    const longest = timing.attemptTimeout * 0.999;
    latency = random.chance(0.5) ? longest : random.between(1, longest);
    const waited = lastFault === 'throttled' ? LONGEST_GUESS_MS : 0;
    time.at(time.now + length + waited, close);
    weather.onChange(true);
  }

  function close(): void {
    weather.done = left === 0 && acknowledgedAt >= openedAt;
    const latest = basis + timing.life - length;
    const enough = basis + weather.interval() + length;
    if (!weather.done && time.now > latest && time.now < enough) {
      // Too late for a window of its own for the present basis: this one stays open until it has had one.
      left = Math.max(0, left - 1);
      time.at(enough, close);
      return;
    }
    isOpen = false;
    weather.changes += 1;
    weather.onChange(false);
    plan();
  }
}

export async function windows(options: RunOptions): Promise<RunResult> {
  const { factor = 1 } = options;
  const { ttl, interval, random, timing, weather, world } = stage(options, (ground) =>
    windowed(ground, factor),
  );
  weather.interval = () => world.intervals.of(ID, timing.interval);
  const pause = worstPause(world, random, timing.pause);
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
